import type { Decision } from './decision.js';
import type { Asked, RoundFacts } from './facts.js';

/** A WIN stands on the round's BETs, those DECLINED left out. Contract, section 3, below the attempts' table. */
export function decideWin(asked: Asked, round: RoundFacts): Decision {
  const anyBet = round.betStands || round.betUndecided || round.betRolledBack;
  if (asked.freeSpinsRef !== undefined || !anyBet || round.betStands) return { do: 'book' };
  if (round.betUndecided) return { do: 'refuse', code: 'TRANSACTION_IN_FLIGHT' };
  return { do: 'conclude', verdict: { status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' } };
}
