import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { operatorLink, transactionLink } from '../../parts/links/record-links.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { type Column, DataTable, Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { useResource } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { Money } from '../../parts/values/money.tsx';
import { Person } from '../../parts/values/person.tsx';
import { Time } from '../../parts/values/time.tsx';
import { reconciliation as words } from '../../strings.ts';

export default function Reconciliation() {
  const { id = '' } = useRoute().params;
  const { url, query } = usePage();
  useTitle(words.one);
  const report = useResource(`reconciliation ${id}`, (signal) =>
    answer(api.GET('/v1/admin/reconciliations/{id}', { params: { path: { id } }, signal })),
  );
  const findings = useResource(url, (signal) =>
    answer(api.GET('/v1/admin/reconciliations/{id}/findings', { params: { path: { id }, query }, signal })),
  );
  if (isMissing(report)) return <Missing kind="reconciliation" />;
  return (
    <>
      <h1 class="h4">{words.one}</h1>
      <Loaded of={report}>
        {(data) => (
          <>
            <Summary report={data} />
            <Sums sums={data.sums} />
            <div class="actions">
              <CsvButton
                path={`/v1/admin/reconciliations/${id}/findings`}
                name={`findings-${data.operatorId}`}
                rows={data.findingsStored}
              />
            </div>
          </>
        )}
      </Loaded>
      <DataTable
        caption={words.findings}
        list={findings}
        keyOf={({ finding, providerId, transactionId, statementLine }) =>
          `${finding} ${providerId} ${transactionId} ${statementLine}`
        }
        empty={words.agreed}
        columns={[
          { title: words.finding, cell: ({ finding }) => finding },
          {
            title: words.transaction,
            cell: transactionLink,
          },
          { title: words.detail, wide: true, cell: ({ detail }) => detail },
          { title: words.line, numeric: true, cell: ({ statementLine }) => statementLine },
        ]}
      />
    </>
  );
}

function Summary({ report }: { readonly report: Schema<'ReconciliationResponse'> }) {
  const { findings, findingsTotal, findingsCut, findingsStored, recorded } = report;
  const counted = Object.entries(findings).filter(([, count]) => count > 0);
  return (
    <Details
      items={[
        [words.operator, operatorLink(report)],
        [
          words.range,
          <>
            <Time at={report.from} /> – <Time at={report.to} />
          </>,
        ],
        [words.created, <Time at={report.createdAt} />],
        [words.by, <Person name={report.byName} id={report.by} />],
        [words.lines, report.lines],
        [words.matched, report.matched],
        [
          words.findings,
          findingsTotal === 0 ? (
            words.agreed
          ) : (
            <span class="alarm">{counted.map(([name, count]) => `${name} ${count}`).join(', ')}</span>
          ),
        ],
        [words.recorded, recorded && words.recordedText(recorded.opened, recorded.closed)],
        [words.cut(findingsStored), findingsCut && findingsTotal],
      ]}
    />
  );
}

type BookedSum = Schema<'BookedSum'>;

/** A sum that is too large to be exact is absent. */
function sumColumn(title: string, minorOf: (sum: BookedSum) => number | undefined): Column<BookedSum> {
  return {
    title,
    numeric: true,
    cell: (sum) => {
      const minor = minorOf(sum);
      return minor === undefined ? '–' : <Money minor={minor} currency={sum.currency} />;
    },
  };
}

function Sums({ sums }: { readonly sums: readonly BookedSum[] }) {
  const columns: readonly Column<BookedSum>[] = [
    { title: words.kind, cell: ({ kind }) => kind },
    { title: words.currency, cell: ({ currency }) => currency },
    sumColumn(words.atOperator, ({ operatorMinor }) => operatorMinor),
    sumColumn(words.atPlatform, ({ platformMinor }) => platformMinor),
    {
      title: words.difference,
      numeric: true,
      cell: ({ operatorMinor, platformMinor, currency }) => {
        if (operatorMinor === undefined || platformMinor === undefined) return '–';
        const difference = <Money minor={operatorMinor - platformMinor} currency={currency} />;
        return operatorMinor === platformMinor ? difference : <strong class="alarm">{difference}</strong>;
      },
    },
  ];
  return (
    <Rows
      caption={words.sums}
      columns={columns}
      rows={sums}
      keyOf={({ currency, kind }) => `${currency} ${kind}`}
    />
  );
}
