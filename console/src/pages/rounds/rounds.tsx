import { answer, api } from '../../api/client.ts';
import { usePage } from '../../parts/links/page.ts';
import { FilteredList } from '../../parts/lists/filtered-list.tsx';
import type { Filter } from '../../parts/lists/filters.tsx';
import { ROUND_COLUMNS, roundKey } from '../../parts/lists/round-columns.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { rounds as words } from '../../strings.ts';

const PATH = '/v1/admin/rounds';

const FIELDS: readonly Filter[] = [
  { name: 'operatorId', label: words.operator, type: 'text' },
  { name: 'playerRef', label: words.player, type: 'text' },
  { name: 'providerId', label: words.provider, type: 'text' },
  { name: 'gameId', label: words.game, type: 'text' },
  { name: 'from', label: words.from, type: 'instant' },
  { name: 'to', label: words.to, type: 'instant' },
  { name: 'open', label: words.state, type: 'choice', names: { true: words.onlyOpen } },
  { name: 'olderThanMinutes', label: words.olderThanMinutes, type: 'number', min: 0 },
];

export default function Rounds() {
  const { url, query } = usePage();
  const list = useResource(url, (signal) => answer(api.GET(PATH, { params: { query }, signal })));
  return (
    <FilteredList
      words={words}
      fields={FIELDS}
      path={PATH}
      list={list}
      columns={ROUND_COLUMNS}
      keyOf={roundKey}
    />
  );
}
