import type { Schema } from '../../api/schemas.ts';
import type { StreamEvents } from '../../api/stream.ts';
import { transactions as words } from '../../strings.ts';
import {
  operatorLink,
  playerLink,
  providerLink,
  roundLink,
  transactionLink,
} from '../links/record-links.tsx';
import { transactionMoney } from '../values/money.tsx';
import { Time } from '../values/time.tsx';
import { moneyColumn } from './amount-columns.tsx';
import type { Column } from './data-table.tsx';

type Transaction = Schema<'TransactionItem'>;

/** The columns of a list of transactions. */
export const TRANSACTION_COLUMNS: readonly Column<Transaction>[] = [
  { title: words.transaction, cell: transactionLink },
  { title: words.kind, cell: (row) => kindText(row) },
  {
    title: words.amount,
    numeric: true,
    cell: ({ kind, amountMinor, currency }) => (
      <span class="money">{transactionMoney(kind, amountMinor, currency)}</span>
    ),
  },
  { title: words.state, cell: (row) => <TransactionState of={row} /> },
  { title: words.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
  moneyColumn(words.toldBalance, ({ balance }) => balance),
  { title: words.player, cell: playerLink },
  { title: words.operator, cell: operatorLink },
  { title: words.provider, cell: providerLink },
  { title: words.round, cell: roundLink },
];

/** Columns without those that would repeat a page's own subject. */
export function without<Row>(columns: readonly Column<Row>[], ...titles: readonly string[]) {
  return columns.filter(({ title }) => !titles.includes(title));
}

export const transactionKey = ({ providerId, transactionId }: Transaction) =>
  `${providerId} ${transactionId}`;

interface Shown extends Pick<Transaction, 'providerId' | 'transactionId'> {
  /** Undefined before it is read. */
  readonly state: Transaction['state'] | undefined;
}

/**
 * The events that concern transactions: of their attention items, and of approvals of a settlement or adjustment. The
 * decision by the resolver or a provider's retry has none, so each overview concerns undecided ones.
 */
export function eventsOf(shown: () => readonly Shown[]) {
  const concerns = (subject: string) =>
    shown().some(
      ({ providerId, transactionId }) =>
        subject === `${providerId}/${transactionId}` || subject === transactionId,
    );
  return {
    attention: ({ subject }: StreamEvents['attention']) => concerns(subject),
    approval: ({ reference }: StreamEvents['approval']) => concerns(reference),
    overview: () => shown().some(({ state }) => isUndecided(state)),
  };
}

/** The kind, with the kind of a WIN that is no ordinary one. */
export function kindText({ kind, winKind }: Pick<Transaction, 'kind' | 'winKind'>): string {
  if (kind === undefined) return words.tombstone;
  return winKind === undefined || winKind === 'GAME' ? kind : `${kind} ${winKind}`;
}

/** The state; what waits for a decision is emphasised. */
export function TransactionState({ of }: { readonly of: Transaction }) {
  const { state, declineReason, parkedAt, settledByHand, mode } = of;
  const undecided = isUndecided(state);
  return (
    <>
      {undecided ? <strong class="alarm">{state}</strong> : state}
      {declineReason !== undefined && <span class="small text-body-secondary"> {declineReason}</span>}
      {undecided && parkedAt !== undefined && (
        <>
          {' '}
          <span class="badge text-bg-warning">{words.parked}</span>
        </>
      )}
      {settledByHand && (
        <>
          {' '}
          <span class="badge text-bg-secondary">{words.settledByHand}</span>
        </>
      )}
      {mode === 'DEMO' && (
        <>
          {' '}
          <span class="badge text-bg-secondary">{mode}</span>
        </>
      )}
    </>
  );
}

export const isUndecided = (state: Transaction['state'] | undefined) =>
  state === 'PENDING' || state === 'TIMED_OUT';

/** The address at which the game's provider shows the round. It gets neither the referrer nor the window. */
export function RoundDetailsLink({ url }: { readonly url: string | undefined }) {
  if (url === undefined || !url.startsWith('https://')) return null;
  return (
    <a class="text-nowrap" href={url} target="_blank" rel="noopener noreferrer">
      {words.roundDetails}
    </a>
  );
}
