import { answer, api } from '../../api/client.ts';
import type { Schema } from '../../api/schemas.ts';
import { usePage } from '../../parts/links/page.ts';
import type { Page } from '../../parts/lists/data-table.tsx';
import { FilteredList } from '../../parts/lists/filtered-list.tsx';
import type { Filter } from '../../parts/lists/filters.tsx';
import { eventsOf, TRANSACTION_COLUMNS, transactionKey } from '../../parts/lists/transaction-columns.tsx';
import { type Resource, useResource } from '../../parts/reading/resource.ts';
import { transactions as words } from '../../strings.ts';

type Found = Page<Schema<'TransactionItem'>>;

const PATH = '/v1/admin/transactions';

const FIELDS: readonly Filter[] = [
  { name: 'operatorId', label: words.operator, type: 'text' },
  { name: 'playerRef', label: words.player, type: 'text' },
  { name: 'from', label: words.from, type: 'instant' },
  { name: 'to', label: words.to, type: 'instant' },
  { name: 'minAmountMinor', label: words.minAmount, type: 'amount' },
  { name: 'maxAmountMinor', label: words.maxAmount, type: 'amount' },
  { name: 'currency', label: words.currency, type: 'text' },
  { name: 'kind', label: words.kind, type: 'choice', options: ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'] },
  {
    name: 'state',
    label: words.state,
    type: 'choice',
    options: ['PENDING', 'APPROVED', 'DECLINED', 'TIMED_OUT', 'ROLLED_BACK'],
  },
  { name: 'providerId', label: words.provider, type: 'text' },
  {
    name: 'parked',
    label: words.waiting,
    type: 'choice',
    names: { true: words.onlyParked },
    more: true,
  },
  {
    name: 'winKind',
    label: words.winKind,
    type: 'choice',
    options: ['GAME', 'FREE_SPINS', 'JACKPOT', 'PROMOTION', 'TOURNAMENT'],
    more: true,
  },
  { name: 'amountMinor', label: words.exactAmount, type: 'amount', more: true },
  { name: 'roundId', label: words.round, type: 'text', more: true },
  { name: 'sessionId', label: words.session, type: 'text', more: true },
  { name: 'gameId', label: words.game, type: 'text', more: true },
];

export default function Transactions() {
  const { url, query } = usePage();
  const list: Resource<Found> = useResource<Found>(
    url,
    (signal) => answer(api.GET(PATH, { params: { query }, signal })),
    { on: eventsOf(() => list.data.value?.items ?? []) },
  );
  return (
    <FilteredList
      words={words}
      fields={FIELDS}
      path={PATH}
      list={list}
      columns={TRANSACTION_COLUMNS}
      keyOf={transactionKey}
    />
  );
}
