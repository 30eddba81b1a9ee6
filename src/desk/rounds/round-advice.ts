import { money } from '../../money/money.js';
import type { Advice } from '../transactions/advice.js';
import type { RoundSumsResponse } from './round.admin.response.js';

/** A transaction of the round, and what the desk should do about it. */
interface AdvisedTransaction {
  readonly transactionId: string;
  /** Null for a tombstone. */
  readonly kind: string | null;
  readonly advice: Advice;
}

/** Actions, most urgent first. */
const BY_URGENCY: readonly Advice['action'][] = ['contact-operator', 'resolve', 'wait', 'contact-provider'];

/**
 * The advice for a round: the advice for its most urgent transaction, or for the oldest of several that are equally
 * urgent.
 * @param transactions oldest first
 */
export function adviceForRound(
  transactions: readonly AdvisedTransaction[],
  sums: readonly RoundSumsResponse[],
  open: boolean,
): Advice {
  const needingAttention = BY_URGENCY.flatMap((action) =>
    transactions.filter(({ advice }) => advice.action === action),
  );
  const [first] = needingAttention;
  if (first) {
    const { kind, transactionId, advice } = first;
    const others =
      needingAttention.length === 1
        ? ''
        : ` Other transactions of the round that need attention: ${needingAttention.length - 1}.`;
    return { action: advice.action, text: `${kind} ${transactionId}: ${advice.text}${others}` };
  }
  const moved = sums.flatMap(movedIn);
  const movements = moved.length === 0 ? 'No money moved.' : `The operator ${moved.join(', ')}.`;
  const state = open
    ? 'The round is open: no WIN that settles it is APPROVED, and the provider has not closed the round.'
    : 'All transactions are decided.';
  return { action: 'none', text: `${movements} ${state}` };
}

function movedIn({ currency, operator: { betMinor, winMinor } }: RoundSumsResponse): string[] {
  const amount = (verb: string, minor: number | undefined) =>
    minor === 0
      ? []
      : [
          `${verb} ${minor === undefined ? `more ${currency} than 2^53−1 minor units` : money(minor, currency)}`,
        ];
  return [...amount('debited', betMinor), ...amount('credited', winMinor)];
}
