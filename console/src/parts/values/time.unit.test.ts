import { expect, test } from 'vitest';
import { durationText, leftText, utcText } from './time.tsx';

test.each([
  [-3, '0 s'],
  [0, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [61, '1 min 1 s'],
  [7_500, '2 h 5 min'],
  [3_605, '1 h'],
  [90_061, '1 d 1 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test.each([
  [7_500, '2 h 5 min left'],
  [0.5, '0 s left'],
  [0, 'passed'],
  [-86_400, 'passed'],
])('%d seconds before an instant, it says %s', (seconds, text) => {
  expect(leftText(seconds)).toBe(text);
});

test('the title of a time is UTC, with milliseconds', () => {
  expect(utcText('2026-01-31T07:00:00.5+01:00')).toBe('2026-01-31 06:00:00.500 UTC');
});
