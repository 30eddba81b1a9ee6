import { expect, test } from 'vitest';
import {
  type AllLimits,
  inEffect,
  isEmpty,
  limitsActions,
  loosens,
  merged,
  NO_LIMITS,
  present,
} from '../../src/limits/rules/in-effect.js';

const limits = (some: Partial<AllLimits>): AllLimits => ({ ...NO_LIMITS, ...some });

test.each<[string, Partial<AllLimits>, Partial<AllLimits>, boolean]>([
  ['nothing changes', { maxGrantMinor: 10 }, { maxGrantMinor: 10 }, false],
  ['a first limit', {}, { maxGrantMinor: 10 }, false],
  ['a first limit of 0', {}, { maxGrantMinor: 0 }, false],
  ['a lower limit', { maxGrantMinor: 10 }, { maxGrantMinor: 9 }, false],
  ['a higher limit', { maxGrantMinor: 10 }, { maxGrantMinor: 11 }, true],
  ['a limit above 0', { maxGrantMinor: 0 }, { maxGrantMinor: 1 }, true],
  ['a removed limit', { maxGrantMinor: 10 }, {}, true],
  ['a removed limit of 0', { dailyMinor: 0 }, {}, true],
  ['a higher limit on WINs', { maxWinMinor: 10 }, { maxWinMinor: 11 }, true],
  [
    'one lower, one higher',
    { maxGrantMinor: 10, dailyMinor: 10 },
    { maxGrantMinor: 1, dailyMinor: 11 },
    true,
  ],
  ['one new, one removed', { maxGrantMinor: 10 }, { dailyMinor: 1 }, true],
  ['one lower, one new', { maxGrantMinor: 10 }, { maxGrantMinor: 1, dailyMinor: 11 }, false],
])('%s: from %j to %j waits for a second person: %s', (_, before, after, waits) => {
  expect(loosens(limits(before), limits(after))).toBe(waits);
});

test("an operator's own limits win field by field", () => {
  const defaults = limits({ maxGrantMinor: 10, dailyMinor: 100 });
  expect(inEffect(limits({ maxGrantMinor: 0, maxWinMinor: 5 }), defaults)).toEqual(
    limits({ maxGrantMinor: 0, dailyMinor: 100, maxWinMinor: 5 }),
  );
  expect(inEffect(NO_LIMITS, defaults)).toEqual(defaults);
});

test('a merge keeps absent fields and removes those that are null', () => {
  const own = limits({ maxGrantMinor: 10, dailyMinor: 100 });
  expect(merged(own, { dailyMinor: null, maxWinMinor: 0 })).toEqual(
    limits({ maxGrantMinor: 10, maxWinMinor: 0 }),
  );
  expect(merged(own, {})).toEqual(own);
});

test('a limit of 0 is a limit, and one on WINs limits no grant and no adjustment', () => {
  expect(isEmpty(limits({ dailyMinor: 0 }))).toBe(false);
  expect(isEmpty(NO_LIMITS)).toBe(true);
  expect(limitsActions(limits({ maxWinMinor: 1 }))).toBe(false);
  expect(limitsActions(limits({ maxAdjustmentMinor: 0 }))).toBe(true);
  expect(present(limits({ dailyMinor: 0 }))).toEqual({ dailyMinor: 0 });
});
