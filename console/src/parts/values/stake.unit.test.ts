import { expect, test } from 'vitest';
import { stakeText } from './stake.tsx';

test.each([
  { stakeMinor: 250, text: '2.50 EUR' },
  { stakeMinor: 0, text: 'a stake that the provider chooses' },
  { stakeMinor: 0n, text: 'a stake that the provider chooses' },
  { stakeMinor: 12_345_678_901_234_567_890n, text: '123,456,789,012,345,678.90 EUR' },
])('a stake of $stakeMinor is $text', ({ stakeMinor, text }) => {
  expect(stakeText(stakeMinor, 'EUR')).toBe(text);
});

test('in a table, an unknown stake is a word', () => {
  expect(stakeText(0, 'EUR', 'unknown')).toBe('unknown');
});
