import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { addressOf } from '../../parts/links/addresses.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { operatorLink } from '../../parts/links/record-links.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { type Filter, Filters } from '../../parts/lists/filters.tsx';
import { type View, Views } from '../../parts/lists/views.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Person } from '../../parts/values/person.tsx';
import { Ago, Left } from '../../parts/values/time.tsx';
import { approvals as words, freeSpins } from '../../strings.ts';
import { ApprovalState } from './approval-state.tsx';
import { amountText } from './kinds.ts';

type Approval = Schema<'ApprovalItem'>;

const VIEWS: readonly View[] = [
  { title: words.all },
  ...Object.entries(words.stateOf).map(([state, title]) => ({ title, query: { state } })),
];

const FILTERS: readonly Filter[] = [
  { name: 'state', label: words.state, type: 'choice', names: words.stateOf },
  { name: 'operatorId', label: words.operator, type: 'text' },
  { name: 'from', label: words.from, type: 'instant' },
  { name: 'to', label: words.to, type: 'instant' },
];

const COLUMNS: readonly Column<Approval>[] = [
  {
    title: words.what,
    wide: true,
    cell: ({ approvalId, summary }) => <a href={addressOf.approval(approvalId)}>{summary}</a>,
  },
  { title: words.kind, cell: ({ kind }) => words.kindOf[kind] },
  {
    title: words.amount,
    numeric: true,
    cell: (approval) => <span class="money">{amountText(approval, freeSpins.unknownAmount)}</span>,
  },
  { title: words.operator, cell: operatorLink },
  {
    title: words.requestedBy,
    cell: ({ askedBy, askedByName }) => <Person name={askedByName} id={askedBy} />,
  },
  { title: words.requested, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { title: words.state, cell: (approval) => <ApprovalState approval={approval} /> },
  {
    title: words.decided,
    cell: ({ state, expiresAt, decidedByName, decidedBy }) =>
      state === 'WAITING' ? <Left until={expiresAt} /> : <Person name={decidedByName} id={decidedBy} />,
  },
];

export default function Approvals() {
  useTitle(words.title);
  const { url, query } = usePage();
  const list = useResource(
    url,
    (signal) => answer(api.GET('/v1/admin/approvals', { params: { query }, signal })),
    { on: { approval: () => true } },
  );
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <Views views={VIEWS} />
      <Filters fields={FILTERS} reload={list.reload} />
      <DataTable
        caption={words.title}
        columns={COLUMNS}
        list={list}
        keyOf={({ approvalId }) => approvalId}
        empty={words.none}
      />
      <div class="toolbar mt-2">
        <CsvButton path="/v1/admin/approvals" />
      </div>
    </>
  );
}
