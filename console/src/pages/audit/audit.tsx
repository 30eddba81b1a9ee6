import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { usePage } from '../../parts/links/page.ts';
import type { Column } from '../../parts/lists/data-table.tsx';
import { FilteredList } from '../../parts/lists/filtered-list.tsx';
import type { Filter } from '../../parts/lists/filters.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { Time } from '../../parts/values/time.tsx';
import { audit as words } from '../../strings.ts';
import { gapIn } from './changes.ts';
import { Changes } from './changes.tsx';
import { targetPage } from './target.ts';

type Entry = Schema<'AuditEntryResponse'>;
const PATH = '/v1/admin/audit';

/** @param actions every action; those with a common beginning are also selected together, such as `limit.*` */
function fieldsOf(actions: readonly string[]): readonly Filter[] {
  const kinds = new Set(
    actions.filter((name) => name.includes('.')).map((name) => `${name.split('.')[0]}.*`),
  );
  return [
    { name: 'action', label: words.action, type: 'choice', options: [...kinds, ...actions].sort() },
    { name: 'actor', label: words.actor, type: 'text' },
    { name: 'target', label: words.target, type: 'text' },
    { name: 'outcome', label: words.outcome, type: 'text' },
    { name: 'from', label: words.from, type: 'instant' },
    { name: 'to', label: words.to, type: 'instant' },
    { name: 'requestId', label: words.requestId, type: 'text' },
  ];
}

export default function Audit() {
  const { url, query } = usePage();
  const list = useResource(url, (signal) => answer(api.GET(PATH, { params: { query }, signal })));
  const actions = useResource('actions', (signal) => answer(api.GET('/v1/admin/audit/actions', { signal })));
  const { cursor: _cursor, limit: _limit, ...filter } = query;
  const filtered = Object.keys(filter).length > 0;
  return (
    <FilteredList
      words={words}
      fields={fieldsOf(actions.data.value?.items ?? [])}
      path={PATH}
      list={list}
      columns={COLUMNS}
      keyOf={placeOf}
    >
      <ChainState entries={list.data.value?.items ?? []} filtered={filtered} />
    </FilteredList>
  );
}

interface ChainStateProps {
  readonly entries: readonly Entry[];
  readonly filtered: boolean;
}

/** What the page can tell about the chain. Only the command verifies the hashes and seals. */
function ChainState({ entries, filtered }: ChainStateProps) {
  const [newest] = entries;
  if (newest === undefined) return null;
  const gap = filtered ? undefined : gapIn(entries);
  return (
    <p role="note">
      {gap ? (
        <strong class="alarm">{words.gap(placeOf(gap))}</strong>
      ) : filtered ? (
        words.filtered
      ) : (
        words.noGap(entries.length)
      )}{' '}
      {words.newest} {placeOf(newest)} <span class="id">{newest.hash}</span>. {words.verify}
    </p>
  );
}

const placeOf = ({ day, position }: Pick<Entry, 'day' | 'position'>) => `${day}/${position}`;

const COLUMNS: readonly Column<Entry>[] = [
  { title: words.at, cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    title: words.actor,
    cell: ({ actor, actorName, role }) => (
      <>
        {actorName ?? actor} ({role}) {actorName !== undefined && <span class="id">{actor}</span>}
      </>
    ),
  },
  { title: words.action, cell: ({ action }) => <span class="text-nowrap">{action}</span> },
  { title: words.target, cell: ({ target }) => <IdLink id={target} href={targetPage(target)} /> },
  {
    title: words.outcome,
    cell: ({ outcome }) => (outcome === 'done' ? outcome : <strong class="alarm">{outcome}</strong>),
  },
  { title: words.changes, cell: (entry) => <Changes of={entry} /> },
  {
    title: words.place,
    cell: (entry) => (
      <details>
        <summary class="text-nowrap">{placeOf(entry)}</summary>
        <Details
          items={[
            [words.requestId, entry.requestId && <IdLink id={entry.requestId} />],
            [words.address, entry.address],
            [words.hash, <IdLink id={entry.hash} />],
          ]}
        />
      </details>
    ),
  },
];
