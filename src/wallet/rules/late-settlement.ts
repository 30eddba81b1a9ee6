import type { Asked, RoundFacts } from './facts.js';

/**
 * Whether a WIN or ROLLBACK is let through although its session ended: within the provider's grace, and only
 * for a round in which this session has a BET, or for free spins. Contract, "Settling after the session".
 */
export function mayStillSettle(
  asked: Asked,
  endedSecondsAgo: number | null,
  lateSettlementSeconds: number,
  round: RoundFacts,
): boolean {
  if (asked.kind === 'BET' || endedSecondsAgo === null) return false;
  if (endedSecondsAgo >= lateSettlementSeconds) return false;
  return round.betOfSession || (asked.kind === 'WIN' && asked.freeSpinsRef !== undefined);
}
