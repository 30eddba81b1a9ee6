import type { Decision } from './decision.js';
import type { TransactionRequest, RoundFacts } from './facts.js';
import { dependsOnBets } from './win-kind.js';

/**
 * A WIN is booked if a BET of its round is APPROVED and not being rolled back, if the round has no BET at all, or if the
 * WIN does not depend on BETs. DECLINED BETs do not count. Contract, section 3, "A WIN".
 *
 * CLAIM_NEW_WIN in wallet/fresh-claim.sql.ts repeats the condition for `book`.
 */
export function decideWin(request: TransactionRequest, round: RoundFacts): Decision {
  if (!dependsOnBets(request) || round.betStands) return { do: 'book' };
  if (round.betUndecided) return { do: 'refuse', code: 'TRANSACTION_IN_FLIGHT' };
  if (!round.betRolledBack) return { do: 'book' };
  return { do: 'conclude', verdict: { status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' } };
}
