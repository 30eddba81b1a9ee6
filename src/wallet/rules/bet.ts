import type { Decision } from './decision.js';
import type { SessionFacts, TransactionRequest } from './facts.js';

/**
 * Decides a new BET: it is booked unless its stake exceeds `maxBetMinor` of its session. Contract, section 3, "A BET".
 *
 * CLAIM_NEW_BET in wallet/fresh-claim.sql.ts repeats the condition for `book`.
 */
export function decideBet({ amountMinor = 0 }: TransactionRequest, { maxBetMinor }: SessionFacts): Decision {
  if (maxBetMinor === null || amountMinor <= maxBetMinor) return { do: 'book' };
  return { do: 'conclude', verdict: { status: 'DECLINED', declineReason: 'STAKE_ABOVE_LIMIT' } };
}
