import { randomUUID } from 'node:crypto';
import { GAME, OPERATOR } from './world.js';

/**
 * The body of a grant of 5 spins of 0.20 EUR: a stake of 1.00 EUR. The player and the requestRef are new, unless `fields`
 * has them.
 */
export function grantOrder(
  fields: Record<string, unknown> = {},
): Record<string, unknown> & { operatorId: string; playerRef: string; requestRef: string } {
  const ref = randomUUID();
  return {
    operatorId: OPERATOR,
    playerRef: `player-${ref}`,
    gameId: GAME,
    spins: 5,
    betAmountMinor: 20,
    currency: 'EUR',
    requestRef: `grant-${ref}`,
    ...fields,
  };
}
