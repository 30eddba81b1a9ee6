import type { TransactionRequest, RoundFacts } from './facts.js';

/**
 * Whether a WIN or ROLLBACK is accepted although its session has ended. The session must have ended less than
 * `lateSettlementSeconds` ago. It must also have a BET in the round that is not DECLINED, unless the request is a WIN
 * of free spins. Contract, section 3, "Late settlement".
 */
export function mayStillSettle(
  request: TransactionRequest,
  endedSecondsAgo: number | null,
  lateSettlementSeconds: number,
  round: RoundFacts,
): boolean {
  if (request.kind === 'BET' || endedSecondsAgo === null) return false;
  if (endedSecondsAgo >= lateSettlementSeconds) return false;
  return round.betOfSession || (request.kind === 'WIN' && request.freeSpinsRef !== undefined);
}
