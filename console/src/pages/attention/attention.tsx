import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { me } from '../../api/session.ts';
import { addressOf } from '../../parts/links/addresses.ts';
import { IdLink } from '../../parts/links/id-link.tsx';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { operatorLink } from '../../parts/links/record-links.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { type Filter, Filters } from '../../parts/lists/filters.tsx';
import { type View, Views } from '../../parts/lists/views.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Ago } from '../../parts/values/time.tsx';
import { attention as words, LOCALE } from '../../strings.ts';
import { causePage } from './causes.ts';
import { ItemState } from './item-state.tsx';
import { Several } from './several.tsx';

type Item = Schema<'AttentionItem'>;

const FILTERS: readonly Filter[] = [
  { name: 'kind', label: words.kind, type: 'choice', names: words.kindOf },
  { name: 'state', label: words.state, type: 'choice', names: words.stateOf },
  { name: 'operatorId', label: words.operator, type: 'text' },
  { name: 'providerId', label: words.provider, type: 'text' },
  { name: 'assignee', label: words.assignee, type: 'text' },
  { name: 'from', label: words.from, type: 'instant' },
  { name: 'to', label: words.to, type: 'instant' },
];

const COLUMNS: readonly Column<Item>[] = [
  {
    title: words.what,
    wide: true,
    cell: ({ id, summary }) => <a href={addressOf.attentionItem(id)}>{summary}</a>,
  },
  { title: words.age, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { title: words.kind, cell: ({ kind }) => words.kindOf[kind] },
  { title: words.count, numeric: true, cell: ({ count }) => count?.toLocaleString(LOCALE) },
  { title: words.state, cell: (item) => <ItemState item={item} /> },
  { title: words.assignee, cell: ({ assignee }) => assignee },
  { title: words.operator, cell: operatorLink },
  { title: words.cause, cell: (item) => <IdLink id={item.subject} href={causePage(item)} /> },
];

function viewsOf(name: string): View[] {
  return [
    { title: words.views.all },
    { title: words.views.open, query: { state: 'OPEN' } },
    { title: words.views.mine, query: { state: 'OPEN', assignee: name } },
    { title: words.views.snoozed, query: { state: 'SNOOZED' } },
    { title: words.views.closed, query: { state: 'CLOSED' } },
  ];
}

export default function Attention() {
  useTitle(words.title);
  const { url, query } = usePage();
  const list = useResource(
    url,
    (signal) => answer(api.GET('/v1/admin/attention', { params: { query }, signal })),
    { on: { attention: () => true } },
  );
  const keys = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => void (keys.value = new Set()), [url]);
  const chosen = (list.data.value?.items ?? []).filter(({ id }) => keys.value.has(id));
  const listsAllOpen = ['', 'state=OPEN'].includes(new URLSearchParams(query).toString());
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <Views views={viewsOf(me.value?.name ?? '')} />
      <Filters fields={FILTERS} reload={list.reload} />
      <Several
        chosen={chosen}
        onDone={(outcome) => {
          // Otherwise the dialog was left, and others may have been chosen since.
          if (outcome) keys.value = new Set();
          list.reload();
        }}
      />
      <DataTable
        caption={words.title}
        columns={COLUMNS}
        list={list}
        keyOf={({ id }) => id}
        {...(listsAllOpen && { empty: words.none })}
        selection={{
          chosen: keys.value,
          onChange: (changed) => (keys.value = changed),
          label: ({ summary }) => words.selectOne(summary),
        }}
      />
      <div class="toolbar mt-2">
        <CsvButton path="/v1/admin/attention" />
      </div>
    </>
  );
}
