import { useRoute } from 'preact-iso';
import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { isMissing, Missing } from '../../parts/frame/missing.tsx';
import { addressOf } from '../../parts/links/addresses.ts';
import { usePage, useTitle } from '../../parts/links/page.ts';
import { gameLink, operatorLink, playerLink, providerLink } from '../../parts/links/record-links.tsx';
import { type Column, Rows } from '../../parts/lists/data-table.tsx';
import { type Filter, Filters } from '../../parts/lists/filters.tsx';
import { roundState } from '../../parts/lists/round-columns.tsx';
import {
  eventsOf,
  isUndecided,
  RoundDetailsLink,
  TRANSACTION_COLUMNS,
  transactionKey,
  without,
} from '../../parts/lists/transaction-columns.tsx';
import { Loaded } from '../../parts/reading/loaded.tsx';
import { RefreshButton } from '../../parts/reading/refresh-button.tsx';
import { type Resource, useResource } from '../../parts/reading/resource.ts';
import { Advice } from '../../parts/values/advice.tsx';
import { Details } from '../../parts/values/details.tsx';
import { Money } from '../../parts/values/money.tsx';
import { rounds as words, transactions } from '../../strings.ts';

type Detail = Schema<'RoundDetail'>;
type Sums = Schema<'RoundSumsResponse'>;

/** Which of the rounds with the same id is meant. */
const FIELDS: readonly Filter[] = [
  { name: 'operatorId', label: words.operator, type: 'text' },
  { name: 'playerRef', label: words.player, type: 'text' },
  { name: 'gameId', label: words.game, type: 'text' },
  { name: 'mode', label: words.mode, type: 'choice', options: ['REAL', 'DEMO'] },
];

export default function RoundPage() {
  const { providerId = '', roundId = '' } = useRoute().params;
  const { url, query } = usePage();
  useTitle(words.titleOf(roundId));
  const round: Resource<Detail> = useResource<Detail>(
    url,
    (signal) =>
      answer(
        api.GET('/v1/admin/rounds/{providerId}/{roundId}', {
          params: { path: { providerId, roundId }, query },
          signal,
        }),
      ),
    { on: eventsOf(() => round.data.value?.items ?? []) },
  );
  if (isMissing(round)) return <Missing kind="round" />;
  return (
    <>
      <h1 class="h4">
        {words.round} <span class="id">{roundId}</span>
      </h1>
      <Loaded of={round}>{(data) => <Whole data={data} reload={round.reload} />}</Loaded>
      <Choice of={round} />
    </>
  );
}

/** If the id names several rounds, the address does not say which one. */
function Choice({ of }: { readonly of: Resource<Detail> }) {
  if (of.problem.value?.status !== 400) return null;
  return (
    <>
      <p>{words.choose}</p>
      <Filters fields={FIELDS} reload={of.reload} />
    </>
  );
}

function Whole({ data, reload }: { readonly data: Detail; readonly reload: () => void }) {
  const { advice, items, truncated } = data;
  return (
    <>
      <Advice advice={advice}>
        <RefreshButton reload={reload} />
        <RoundDetailsLink url={data.roundDetailsUrl} />
      </Advice>
      <SumsTable sums={data.sums} />
      <Facts data={data} />
      {truncated && <p class="alarm">{words.truncated}</p>}
      <Rows
        caption={words.transactionsOf}
        columns={without(TRANSACTION_COLUMNS, ...OWN_COLUMNS)}
        rows={items}
        keyOf={transactionKey}
      />
    </>
  );
}

const OWN_COLUMNS = [transactions.round, transactions.player, transactions.operator, transactions.provider];

function Facts({ data }: { readonly data: Detail }) {
  const { providerId, roundId, mode, open, items } = data;
  const undecided = items.some(({ state }) => isUndecided(state));
  const target = `round:${providerId}/${roundId}`;
  return (
    <Details
      items={[
        [words.player, playerLink(data)],
        [words.operator, operatorLink(data)],
        [words.provider, providerLink(data)],
        [words.game, gameLink(data)],
        [words.state, roundState(open, undecided)],
        [words.mode, mode],
        [words.audit, <a href={addressOf.list('audit', { target })}>{words.auditOf}</a>],
      ]}
    />
  );
}

interface SumsRow {
  readonly name: 'told' | 'byOperator' | 'unknown';
  readonly currency: string;
  readonly values: Sums['told'];
  readonly differs: boolean;
}

/** Bets, wins and the net of each currency: as reported to the provider, beside what the operator answered. */
function SumsTable({ sums }: { readonly sums: readonly Sums[] }) {
  const rows = sums.flatMap(({ currency, told, operator, unknown }): SumsRow[] => {
    const differs = told.betMinor !== operator.betMinor || told.winMinor !== operator.winMinor;
    return [
      { name: 'told', currency, values: told, differs },
      { name: 'byOperator', currency, values: operator, differs },
      { name: 'unknown', currency, values: unknown, differs: false },
    ];
  });
  const amount = (title: string, field: keyof Sums['told']): Column<SumsRow> => ({
    title,
    numeric: true,
    cell: ({ values, currency }) => <Money minor={values[field]} currency={currency} />,
  });
  const columns: readonly Column<SumsRow>[] = [
    {
      title: words.whose,
      cell: ({ name, differs }) => (
        <>
          {words[name]} {differs && <strong class="alarm">{words.differs}</strong>}
        </>
      ),
    },
    amount(words.bet, 'betMinor'),
    amount(words.win, 'winMinor'),
    amount(words.net, 'netMinor'),
  ];
  return (
    <>
      <Rows
        caption={words.sums}
        columns={columns}
        rows={rows}
        keyOf={({ name, currency }) => `${name} ${currency}`}
      />
      <p class="small text-body-secondary">{words.netHint}</p>
    </>
  );
}
