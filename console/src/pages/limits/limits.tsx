import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answer, answerWithStatus, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { ActionButton } from '../../parts/actions/action.tsx';
import { EditForm } from '../../parts/actions/edit-form.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { operatorLink } from '../../parts/links/record-links.tsx';
import { moneyColumn } from '../../parts/lists/amount-columns.tsx';
import { CsvButton } from '../../parts/lists/csv-button.tsx';
import { type Column, DataTable, Rows } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { type Resource, useResource } from '../../parts/reading/resource.ts';
import { Details } from '../../parts/values/details.tsx';
import { majorUnits, minorUnits } from '../../parts/values/major-units.ts';
import { Money, moneyText } from '../../parts/values/money.tsx';
import { Person } from '../../parts/values/person.tsx';
import { Time } from '../../parts/values/time.tsx';
import { limits as words } from '../../strings.ts';
import { Amounts, LIMITS } from './amounts.tsx';
import { NewLimit } from './new-limit.tsx';

type Limit = Schema<'LimitResponse'>;

/** A limit is raised or removed when a second person approves it. */
const ON_APPROVAL = { on: { approval: ({ kind }: Schema<'ApprovalItem'>) => kind === 'limit' } };

/** All limits; those of one operator and currency, to change them, if the address names both. */
export default function Limits() {
  const { url, query } = usePage();
  const { operatorId, currency, ...page } = query;
  useTitle(words.title);
  const changes = useSignal(0);
  const list = useResource(
    url,
    (signal) => answer(api.GET('/v1/admin/limits', { params: { query: page }, signal })),
    ON_APPROVAL,
  );
  const missing = useResource(
    'missing limits',
    (signal) => answer(api.GET('/v1/admin/limits/missing', { params: { query: { limit: 500 } }, signal })),
    ON_APPROVAL,
  );
  const reload = () => {
    list.reload();
    missing.reload();
  };
  return (
    <>
      <h1 class="h4">{words.title}</h1>
      <p class="text-body-secondary">{words.lead}</p>
      {operatorId && currency && (
        <OneLimit changes={changes.value} operatorId={operatorId} currency={currency} onDone={reload} />
      )}
      <div class="actions">
        <NewLimit
          listed={list.data.value?.items ?? []}
          onDone={() => {
            changes.value += 1;
            reload();
          }}
        />
        <CsvButton path="/v1/admin/limits" filter={{}} />
      </div>
      <DataTable
        caption={words.title}
        list={list}
        keyOf={(limit) => `${limit.operatorId} ${limit.currency}`}
        empty={words.none}
        columns={COLUMNS}
      />
      <Missing of={missing} />
    </>
  );
}

const limitPage = (operatorId: string, currency: string) =>
  addressOf.list('limits', { operatorId, currency });

const COLUMNS: readonly Column<Limit>[] = [
  {
    title: words.operator,
    cell: ({ operatorId, currency }) => (
      <a class="text-nowrap" href={limitPage(operatorId, currency)}>
        {operatorId === '*' ? words.installation : operatorId} {currency}
      </a>
    ),
  },
  ...LIMITS.map((name) => moneyColumn(words.nameOf[name], (limit: Limit) => limit[name])),
  {
    title: words.used,
    numeric: true,
    cell: ({ operatorId, usedMinor, currency }) =>
      operatorId === '*' ? '–' : <Money minor={usedMinor} currency={currency} />,
  },
  { title: words.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  {
    title: words.updatedBy,
    cell: ({ updatedBy, updatedByName }) => <Person name={updatedByName} id={updatedBy} />,
  },
];

interface OneLimitProps {
  readonly operatorId: string;
  readonly currency: string;
  /** How many limits were set beside it. */
  readonly changes: number;
  readonly onDone: () => void;
}

/** The limits of an operator in a currency, and the form that changes them. */
function OneLimit({ operatorId, currency, changes, onDone }: OneLimitProps) {
  const path = { operatorId, currency };
  const limit = useResource(
    `limit ${operatorId} ${currency}`,
    (signal) => answer(api.GET('/v1/admin/limits/{operatorId}/{currency}', { params: { path }, signal })),
    ON_APPROVAL,
  );
  // What was set may be what the address shows already.
  useEffect(() => {
    if (changes > 0) limit.reload();
  }, [changes]);
  const done = () => {
    limit.reload();
    onDone();
  };
  const show = (text: string) => {
    const amount = minorUnits(text, currency);
    return amount === undefined ? text : moneyText(amount, currency);
  };
  return (
    <section class="mb-3" aria-label={words.of(operatorId, currency)}>
      <h2 class="h5">{words.of(operatorId, currency)}</h2>
      <Loaded of={limit} gone={words.none}>
        {(data) => (
          <>
            <Details
              items={[
                ...LIMITS.map(
                  (name) =>
                    [
                      words.nameOf[name],
                      data[name] === undefined ? words.unlimited : moneyText(data[name], currency),
                    ] as const,
                ),
                [words.used, operatorId !== '*' && moneyText(data.usedMinor, currency)],
                [words.updated, <Time at={data.updatedAt} />],
                [words.updatedBy, <Person name={data.updatedByName} id={data.updatedBy} />],
              ]}
            />
            <EditForm
              label={words.change}
              role="admin"
              note={words.waits}
              fields={LIMITS.map((name) => ({
                name,
                label: words.nameOf[name],
                value: data[name] === undefined ? '' : majorUnits(data[name], currency),
                hint: words.emptyIsNone,
                show,
                wrong: (text) =>
                  text !== '' && minorUnits(text, currency) === undefined
                    ? words.notAmount(currency)
                    : undefined,
              }))}
              run={(changes) => change(operatorId, currency, changes)}
              onDone={done}
            />
            <ActionButton
              label={words.remove}
              role="admin"
              danger
              sentence={
                <Amounts
                  sentence={words.willRemove(operatorId, currency)}
                  amounts={data}
                  currency={currency}
                />
              }
              run={async () =>
                approvalOf(
                  await answerWithStatus(
                    api.DELETE('/v1/admin/limits/{operatorId}/{currency}', { params: { path } }),
                  ),
                )
              }
              onDone={done}
            />
          </>
        )}
      </Loaded>
    </section>
  );
}

async function change(operatorId: string, currency: string, changes: Readonly<Record<string, string>>) {
  const body: Schema<'PatchLimitRequest'> = {};
  for (const name of LIMITS) {
    const text = changes[name];
    if (text !== undefined) body[name] = text === '' ? null : (minorUnits(text, currency) ?? null);
  }
  const params = { path: { operatorId, currency } };
  return approvalOf(
    await answerWithStatus(api.PATCH('/v1/admin/limits/{operatorId}/{currency}', { params, body })),
  );
}

/** What raises or removes a limit waits for another administrator: the answer is then an approval. */
function approvalOf({ status, body }: { readonly status: number; readonly body: unknown }) {
  return status === 202 ? { approvalId: (body as Schema<'ApprovalItem'>).approvalId } : undefined;
}

/** Currencies in which operators trade without any limit. */
function Missing({ of }: { readonly of: Resource<Schema<'MissingLimitListResponse'>> }) {
  return (
    <Loaded of={of}>
      {({ items }) => (
        <Rows
          caption={words.missing}
          columns={[
            {
              title: words.operator,
              cell: operatorLink,
            },
            { title: words.currency, cell: ({ currency }) => currency },
          ]}
          rows={items}
          keyOf={({ operatorId, currency }) => `${operatorId} ${currency}`}
          empty={words.noneMissing}
        />
      )}
    </Loaded>
  );
}
