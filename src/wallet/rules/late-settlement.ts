import type { TransactionRequest, RoundFacts } from './facts.js';
import { dependsOnBets } from './win-kind.js';

/**
 * Whether a WIN or ROLLBACK is accepted although its session has ended. The session must have ended less than
 * `lateSettlementSeconds` ago. It must also have a BET in the round that is not DECLINED, unless the request is a WIN
 * that does not depend on BETs. Contract, section 3, "Late settlement".
 */
export function mayStillSettle(
  request: TransactionRequest,
  endedSecondsAgo: number,
  lateSettlementSeconds: number,
  round: RoundFacts,
): boolean {
  if (request.kind === 'BET' || endedSecondsAgo >= lateSettlementSeconds) return false;
  return round.betOfSession || (request.kind === 'WIN' && !dependsOnBets(request));
}
