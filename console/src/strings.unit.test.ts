import { expect, test } from 'vitest';
import { counted, freeSpins } from './strings.ts';

test.each([
  { count: 0, text: '0 entries' },
  { count: 1, text: '1 entry' },
  { count: 2, text: '2 entries' },
  { count: 1_250, text: '1,250 entries' },
])('$count is "$text"', ({ count, text }) => {
  expect(counted(count, 'entry', 'entries')).toBe(text);
});

test('a batch of one player has one spin', () => {
  expect(freeSpins.batchTerms(1, '0.20 EUR', 1, 'sandbox-slots')).toBe(
    '1 spin of 0.20 EUR for one player in sandbox-slots',
  );
});
