import { expect, test } from 'vitest';
import { exceeded, type Limits, type Stake } from '../../src/limits/rules/judgement.js';

const NONE: Limits = { maxGrantMinor: null, maxBatchMinor: null, maxAdjustmentMinor: null, dailyMinor: null };
const grant = (amountMinor: number): Stake => ({ kind: 'grant', amountMinor });
const adjustment = (amountMinor: number): Stake => ({ kind: 'adjustment', amountMinor });
const batch = (amountMinor: number, ofEachMinor: number): Stake => ({
  kind: 'batch',
  amountMinor,
  ofEachMinor,
});

test.each<[string, Partial<Limits>, number, Stake, string | undefined]>([
  ['without limits nothing needs approval', {}, 0, grant(1e15), undefined],
  ['a grant up to the limit passes', { maxGrantMinor: 100 }, 0, grant(100), undefined],
  ['a grant above it does not', { maxGrantMinor: 100 }, 0, grant(101), 'maxGrantMinor'],
  ['with a limit of 0 everything needs approval', { maxGrantMinor: 0 }, 0, grant(1), 'maxGrantMinor'],
  ['the limit on batches does not apply to grants', { maxBatchMinor: 1 }, 0, grant(101), undefined],
  ['a batch up to the limit passes', { maxBatchMinor: 100 }, 0, batch(100, 50), undefined],
  ['a batch above it does not', { maxBatchMinor: 100 }, 0, batch(102, 51), 'maxBatchMinor'],
  [
    'a batch does not bypass the limit of each grant',
    { maxGrantMinor: 50 },
    0,
    batch(102, 51),
    'maxGrantMinor',
  ],
  ['an adjustment up to the limit passes', { maxAdjustmentMinor: 100 }, 0, adjustment(100), undefined],
  ['an adjustment above it does not', { maxAdjustmentMinor: 100 }, 0, adjustment(101), 'maxAdjustmentMinor'],
  ['an adjustment of 0 is not of unknown worth', { maxAdjustmentMinor: 0 }, 0, adjustment(0), undefined],
  ['grants do not limit adjustments', { maxGrantMinor: 0 }, 0, adjustment(101), undefined],
  ['the daily limit may be reached', { dailyMinor: 100 }, 60, grant(40), undefined],
  ['but not exceeded', { dailyMinor: 100 }, 60, grant(41), 'dailyMinor'],
  ['with adjustments as well', { dailyMinor: 100 }, 60, adjustment(41), 'dailyMinor'],
  ['and batches', { dailyMinor: 100 }, 60, batch(41, 1), 'dailyMinor'],
  [
    'the limit on a single action comes first',
    { maxGrantMinor: 1, dailyMinor: 1 },
    0,
    grant(2),
    'maxGrantMinor',
  ],
  ['an unknown stake needs no approval without limits', {}, 0, grant(0), undefined],
  ['nor with a limit on adjustments', { maxAdjustmentMinor: 1 }, 0, grant(0), undefined],
  ['but with one on grants', { maxGrantMinor: 1e15 }, 0, grant(0), 'maxGrantMinor'],
  ['on batches', { maxBatchMinor: 1e15 }, 0, grant(0), 'maxBatchMinor'],
  ['or on the day', { dailyMinor: 1e15 }, 0, grant(0), 'dailyMinor'],
  ['and so does a batch of it', { maxBatchMinor: 1e15 }, 0, batch(0, 0), 'maxBatchMinor'],
])('%s', (_, limits, usedMinor, stake, name) => {
  expect(exceeded({ ...NONE, ...limits }, usedMinor, stake)?.name).toBe(name);
});

test('an exceeded limit comes with its amount, and the amount used before', () => {
  expect(exceeded({ ...NONE, dailyMinor: 100 }, 60, grant(41))).toEqual({
    name: 'dailyMinor',
    limitMinor: 100,
    usedMinor: 60,
  });
});
