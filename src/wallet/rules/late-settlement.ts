import type { TransactionRequest, RoundFacts } from './facts.js';

/**
 * Whether a WIN or ROLLBACK is accepted although its session has ended: within the provider's `lateSettlementSeconds`,
 * and only if this session has a BET in the round that is not DECLINED, or if it is a WIN of free spins. Contract,
 * section 3, "Late settlement".
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
