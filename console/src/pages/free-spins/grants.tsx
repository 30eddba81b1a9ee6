import { answer, api } from '../../api/client.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { type Filter, Filters } from '../../parts/lists/filters.tsx';
import { RefreshButton } from '../../parts/reading/refresh-button.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { freeSpins as words } from '../../strings.ts';
import { GrantForm } from './form.tsx';
import { GRANT_COLUMNS } from './grant-table.tsx';
import { Heading } from './heading.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'state', label: words.state, type: 'choice', names: words.stateOf },
  { name: 'operatorId', label: words.operator, type: 'text' },
  { name: 'providerId', label: words.provider, type: 'text' },
  { name: 'gameId', label: words.game, type: 'text' },
  { name: 'playerRef', label: words.player, type: 'text' },
  { name: 'batchId', label: words.batch, type: 'text' },
  { name: 'from', label: words.from, type: 'instant' },
  { name: 'to', label: words.to, type: 'instant' },
];

export default function FreeSpins() {
  return usePage().query['new'] === 'grant' ? <GrantForm kind="grant" /> : <Grants />;
}

function Grants() {
  useTitle(words.title);
  const { url, query } = usePage();
  const list = useResource(
    url,
    (signal) => answer(api.GET('/v1/admin/free-spins', { params: { query }, signal })),
    { on: { batch: ({ batchId }) => (query['batchId'] ?? batchId) === batchId } },
  );
  return (
    <>
      <Heading />
      <Filters fields={FILTERS} reload={list.reload} />
      <DataTable
        caption={words.grants}
        columns={GRANT_COLUMNS}
        list={list}
        keyOf={({ requestRef }) => requestRef}
      />
      <div class="toolbar mt-2">
        <RefreshButton reload={list.reload} />
        <CsvButton path="/v1/admin/free-spins" />
      </div>
    </>
  );
}
