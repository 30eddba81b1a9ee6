import { answer, api } from '../../api/client.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { operatorLink } from '../../parts/links/record-links.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Filters } from '../../parts/lists/filters.tsx';
import { RefreshButton } from '../../parts/reading/refresh-button.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Person } from '../../parts/values/person.tsx';
import { Time } from '../../parts/values/time.tsx';
import { reconciliation as words } from '../../strings.ts';
import { ComparisonForm } from './comparison-form.tsx';

export default function Reconciliations() {
  const { url, query } = usePage();
  useTitle(words.title);
  const list = useResource(url, (signal) =>
    answer(api.GET('/v1/admin/reconciliations', { params: { query }, signal })),
  );
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <p class="text-body-secondary">{words.lead}</p>
      <ComparisonForm />
      <Filters
        fields={[
          { name: 'operatorId', label: words.operator, type: 'text' },
          { name: 'from', label: words.from, type: 'instant' },
          { name: 'to', label: words.to, type: 'instant' },
        ]}
        reload={list.reload}
      />
      <div class="actions">
        <RefreshButton reload={list.reload} />
        <CsvButton path="/v1/admin/reconciliations" />
      </div>
      <DataTable
        caption={words.earlier}
        list={list}
        keyOf={({ reconciliationId }) => reconciliationId}
        columns={[
          {
            title: words.created,
            cell: ({ reconciliationId, createdAt }) => (
              <a href={`/console/reconciliation/${reconciliationId}`}>
                <Time at={createdAt} />
              </a>
            ),
          },
          {
            title: words.operator,
            cell: operatorLink,
          },
          {
            title: words.range,
            cell: ({ from, to }) => (
              <>
                <Time at={from} /> – <Time at={to} />
              </>
            ),
          },
          { title: words.lines, numeric: true, cell: ({ lines }) => lines },
          {
            title: words.findings,
            numeric: true,
            cell: ({ findingsTotal }) =>
              findingsTotal === 0 ? 0 : <strong class="alarm">{findingsTotal}</strong>,
          },
          { title: words.by, cell: ({ by, byName }) => <Person name={byName} id={by} /> },
        ]}
      />
    </>
  );
}
