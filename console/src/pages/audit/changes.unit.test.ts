import { expect, test } from 'vitest';
import { changesBetween, currencyOf, gapIn } from './changes.ts';

test('only the fields that differ are a change', () => {
  const before = { maxGrantMinor: 100, dailyMinor: 500, reason: 'a', maxBatchMinor: null };
  const after = { maxGrantMinor: 200, dailyMinor: 500, maxWinMinor: 1 };
  expect(changesBetween(before, after)).toEqual([
    { field: 'maxGrantMinor', before: 100, after: 200 },
    { field: 'reason', before: 'a', after: undefined },
    { field: 'maxWinMinor', before: undefined, after: 1 },
  ]);
});

test('the fields of nested records are named with them', () => {
  const after = { summary: 'a', terms: { amountMinor: 250, players: ['x'], after: { dailyMinor: 1 } } };
  expect(changesBetween({ terms: { amountMinor: 250 } }, after).map(({ field }) => field)).toEqual([
    'summary',
    'terms.players',
    'terms.after.dailyMinor',
  ]);
});

test('everything of a created target is a change, and nothing of an entry without details', () => {
  expect(changesBetween(undefined, { name: 'a' })).toEqual([
    { field: 'name', before: undefined, after: 'a' },
  ]);
  expect(changesBetween()).toEqual([]);
});

test.each([
  { target: 'limit:lucky/EUR', record: {}, currency: 'EUR' },
  { target: 'limit:*/SEK', record: { currency: 'EUR' }, currency: 'SEK' },
  { target: 'adjustment:a-1', record: { currency: 'EUR' }, currency: 'EUR' },
  { target: 'approval:a-1', record: { terms: { currency: 'SEK' } }, currency: 'SEK' },
  { target: 'adjustment:limit:x/EUR', record: {}, currency: undefined },
])('the amounts of $target $record are in $currency', ({ target, record, currency }) => {
  expect(currencyOf(target, undefined, record)).toBe(currency);
});

const place = (day: number, position: number) => ({ day: `2026-11-0${day}`, position });

test.each([
  { name: 'none', entries: [place(2, 2), place(2, 1), place(1, 7), place(1, 6)], gap: undefined },
  { name: 'within a day', entries: [place(2, 4), place(2, 2)], gap: place(2, 4) },
  { name: 'at the beginning of a day', entries: [place(2, 3), place(2, 2), place(1, 7)], gap: place(2, 2) },
])('a gap $name is found', ({ entries, gap }) => {
  expect(gapIn(entries)).toEqual(gap);
});
