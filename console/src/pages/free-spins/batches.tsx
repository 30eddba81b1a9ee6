import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { addressOf } from '../../parts/links/addresses.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { gameLink, operatorLink } from '../../parts/links/record-links.tsx';
import { STAKE_COLUMN } from '../../parts/lists/amount-columns.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { type Filter, Filters } from '../../parts/lists/filters.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Time } from '../../parts/values/time.tsx';
import { freeSpins as words } from '../../strings.ts';
import { GrantForm } from './form.tsx';
import { Heading } from './heading.tsx';
import { Progress } from './progress.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'operatorId', label: words.operator, type: 'text' },
  { name: 'gameId', label: words.game, type: 'text' },
  { name: 'from', label: words.from, type: 'instant' },
  { name: 'to', label: words.to, type: 'instant' },
];

const COLUMNS: readonly Column<Schema<'BatchItem'>>[] = [
  {
    title: words.batch,
    cell: ({ batchId, batchRef }) => <IdLink id={batchRef ?? batchId} href={addressOf.batch(batchId)} />,
  },
  { title: words.progress, cell: (batch) => <Progress counts={batch} /> },
  { title: words.spins, numeric: true, cell: ({ spins }) => spins },
  STAKE_COLUMN,
  { title: words.operator, cell: operatorLink },
  { title: words.game, cell: gameLink },
  { title: words.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export default function Batches() {
  return usePage().query['new'] === 'batch' ? <GrantForm kind="batch" /> : <List />;
}

function List() {
  useTitle(words.batches);
  const { url, query } = usePage();
  const list = useResource(
    url,
    (signal) => answer(api.GET('/v1/admin/free-spins/batches', { params: { query }, signal })),
    { on: { batch: () => true } },
  );
  return (
    <>
      <Heading />
      <Filters fields={FILTERS} reload={list.reload} />
      <DataTable caption={words.batches} columns={COLUMNS} list={list} keyOf={({ batchId }) => batchId} />
      <div class="toolbar mt-2">
        <CsvButton path="/v1/admin/free-spins/batches" />
      </div>
    </>
  );
}
