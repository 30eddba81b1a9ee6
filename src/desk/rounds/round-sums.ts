import type { RowOf } from '../../api/lists/item.js';
import { exactSum } from '../../money/money.js';
import { isUndecided } from '../../wallet/rules/facts.js';
import { settlesRound } from '../../wallet/rules/win-kind.js';
import type { TransactionItem } from '../transactions/transaction.admin.response.js';
import type { BetsAndWinsResponse, RoundItem, RoundSumsResponse } from './round.admin.response.js';

type SummedField =
  | 'transactionId'
  | 'kind'
  | 'winKind'
  | 'state'
  | 'amountMinor'
  | 'currency'
  | 'roundClosed'
  | 'originalTransactionId';

/** The fields of a transaction that determine the sums of its round, and whether the round is open. */
export interface RoundTransaction extends Pick<RowOf<TransactionItem>, SummedField> {
  /** Whether the platform's own rules decided it, so that no money moves. */
  readonly ownVerdict: boolean;
  /** The outcome that the provider received last; null if it received none. */
  readonly reported: string | null;
}

/** What identifies a round. Contract, section 3. */
export type RoundKey = Pick<
  RoundItem,
  'providerId' | 'operatorId' | 'playerRef' | 'gameId' | 'roundId' | 'mode'
>;

/**
 * A round is open if it has an APPROVED BET, no APPROVED WIN that settles it and no transaction with `roundClosed`.
 * Contract, section 9, "Rounds".
 */
export function isOpen(transactions: readonly RoundTransaction[]): boolean {
  const approved = transactions.filter(({ state }) => state === 'APPROVED');
  const settled = approved.some((each) => each.kind === 'WIN' && settlesRound(each));
  return (
    approved.some(({ kind }) => kind === 'BET') &&
    !settled &&
    !transactions.some(({ roundClosed }) => roundClosed)
  );
}

/**
 * Computes the sums of a round, with one entry per currency. A sum outside ±(2^53−1) is absent.
 *
 * - `told` counts a BET or WIN if the provider last received APPROVED for it. It leaves out a BET if the provider also
 *   received APPROVED for the BET's ROLLBACK.
 * - `operator` leaves out a ROLLED_BACK BET.
 * - `unknown` counts an undecided ROLLBACK of an APPROVED BET as a BET with a negative amount. If the BET is undecided,
 *   too, `unknown` counts only the BET.
 */
export function sumsOf(transactions: readonly RoundTransaction[]): RoundSumsResponse[] {
  const currencies = [...new Set(transactions.map(({ currency }) => currency))].sort();
  const byId = new Map(transactions.map((each) => [each.transactionId, each]));
  const reversed = reversedForProvider(transactions);
  return currencies.map((currency) => {
    const told = new Sum();
    const operator = new Sum();
    const unknown = new Sum();
    for (const transaction of transactions.filter((each) => each.currency === currency)) {
      const { kind, state, amountMinor, ownVerdict } = transaction;
      if (kind === 'ROLLBACK') {
        const target = byId.get(transaction.originalTransactionId ?? '');
        const reverses = isUndecided(state) && !ownVerdict && target?.state === 'APPROVED';
        if (reverses) unknown.add('BET', -amountMinor);
        continue;
      }
      const { transactionId, reported } = transaction;
      if (reported === 'APPROVED' && !reversed.has(transactionId)) told.add(kind, amountMinor);
      if (state === 'APPROVED') operator.add(kind, amountMinor);
      if (isUndecided(state) && !ownVerdict) unknown.add(kind, amountMinor);
    }
    return { currency, told: told.result(), operator: operator.result(), unknown: unknown.result() };
  });
}

/**
 * The ids of the transactions that the provider believes to be rolled back, because it received APPROVED for a ROLLBACK
 * of them.
 */
function reversedForProvider(transactions: readonly RoundTransaction[]): Set<string | null> {
  const rollbacks = transactions.filter(
    ({ kind, reported }) => kind === 'ROLLBACK' && reported === 'APPROVED',
  );
  return new Set(rollbacks.map(({ originalTransactionId }) => originalTransactionId));
}

class Sum {
  private bet = 0n;
  private win = 0n;

  add(kind: RoundTransaction['kind'], amountMinor: number): void {
    if (kind === 'BET') this.bet += BigInt(amountMinor);
    if (kind === 'WIN') this.win += BigInt(amountMinor);
  }

  result(): BetsAndWinsResponse {
    return {
      ...exactSum('betMinor', this.bet),
      ...exactSum('winMinor', this.win),
      ...exactSum('netMinor', this.win - this.bet),
    };
  }
}
