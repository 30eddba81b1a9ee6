import { expect, test } from 'vitest';
import { isCutOff } from '../../src/reconciliation/rules/cut-off.js';

test.each([
  ['', true],
  ['2026', true],
  ['2026-03-0', true],
  ['2026-03-01', false],
  ['2026-03-01T', true],
  ['2026-03-01 1', true],
  ['2026-03-01T10:0', true],
  ['2026-03-01T10:00', false],
  ['2026-03-01T10:00:0', true],
  ['2026-03-01T10:00:00', false],
  ['2026-03-01T10:00:00Z', false],
  ['yesterday', false],
])('the time "%s" is cut off: %s', (text, cutOff) => {
  expect(isCutOff(text)).toBe(cutOff);
});
