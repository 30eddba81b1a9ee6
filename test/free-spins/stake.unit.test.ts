import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stakeMinorOf } from '../../src/free-spins/rules/stake.js';

const MOST = Number.MAX_SAFE_INTEGER;

test.each<[number, number, number | undefined, number | undefined]>([
  [10, 20, undefined, 200],
  [10, 20, 1, 200],
  [10, 20, 3, 600],
  [10, 0, 3, 0],
  [1, MOST, 1, MOST],
  [2, MOST, 1, undefined],
  [1, MOST, 2, undefined],
  [1000, MOST, 1000, undefined],
])('the stake of %d spins at %d for %s players is %s', (spins, betAmountMinor, players, stakeMinor) => {
  expect(stakeMinorOf({ spins, betAmountMinor }, players)).toBe(stakeMinor);
});

test('a stake is exact, or there is none because it is above 2^53 − 1', () => {
  const count = fc.integer({ min: 1, max: 1000 });
  const amount = fc.oneof(fc.maxSafeNat(), fc.nat({ max: 100_000 }));
  fc.assert(
    fc.property(count, amount, count, (spins, betAmountMinor, players) => {
      const exact = BigInt(spins) * BigInt(betAmountMinor) * BigInt(players);
      const stakeMinor = stakeMinorOf({ spins, betAmountMinor }, players);
      expect(stakeMinor).toBe(exact > BigInt(MOST) ? undefined : Number(exact));
    }),
  );
});
