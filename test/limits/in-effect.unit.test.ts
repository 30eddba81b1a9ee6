import { describe, expect, test } from 'vitest';
import {
  type AllLimits,
  areEqual,
  DEFAULT_OPERATOR,
  differences,
  inEffect,
  isEmpty,
  limitsActions,
  loosens,
  merged,
  NO_LIMITS,
} from '../../src/limits/rules/in-effect.js';

/** The fields of the contract. Section 9, "Limits and approvals". */
const FIELDS = ['maxGrantMinor', 'maxBatchMinor', 'maxAdjustmentMinor', 'dailyMinor', 'maxWinMinor'] as const;

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

test('no limits are five fields that are null', () => {
  expect(NO_LIMITS).toEqual(Object.fromEntries(FIELDS.map((field) => [field, null])));
  expect(isEmpty(NO_LIMITS)).toBe(true);
  expect(limitsActions(NO_LIMITS)).toBe(false);
  expect(areEqual(NO_LIMITS, limits({}))).toBe(true);
  expect(differences(NO_LIMITS, limits({}))).toEqual([]);
});

describe.each(FIELDS)('%s', (field) => {
  test('of 0 is a limit, and one on WINs limits no grant and no adjustment', () => {
    const only = limits({ [field]: 0 });
    expect(isEmpty(only)).toBe(false);
    expect(limitsActions(only)).toBe(field !== 'maxWinMinor');
  });

  test('alone makes limits differ', () => {
    const [before, after] = [limits({ [field]: 1 }), limits({ [field]: 2 })];
    expect(areEqual(before, after)).toBe(false);
    expect(areEqual(before, { ...before })).toBe(true);
    expect(differences(before, after)).toEqual([[field, 1, 2]]);
    expect(differences(NO_LIMITS, after)).toEqual([[field, null, 2]]);
  });

  test('waits for a second person if it alone is raised or removed', () => {
    const others = Object.fromEntries(FIELDS.map((each) => [each, 5])) as unknown as AllLimits;
    expect(loosens(others, { ...others, [field]: 6 })).toBe(true);
    expect(loosens(others, { ...others, [field]: null })).toBe(true);
    expect(loosens(others, { ...others, [field]: 4 })).toBe(false);
  });
});

test("the operator of the installation's defaults is the contract's", () => {
  expect(DEFAULT_OPERATOR).toBe('*');
});
