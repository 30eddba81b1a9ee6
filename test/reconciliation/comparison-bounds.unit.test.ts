import { afterEach, expect, test, vi } from 'vitest';
import { ComparisonBounds, MAX_COMPARING_MS, MAX_PAIRS } from '../../src/reconciliation/comparison-bounds.js';

const TOO_MANY = 'the range has too many transactions: choose a shorter one, or use the command';

afterEach(() => {
  vi.restoreAllMocks();
});

test('at most two million pairs are compared', () => {
  const bounds = new ComparisonBounds();
  bounds.count(MAX_PAIRS - 1);
  bounds.count(1);
  expect(() => bounds.count(1)).toThrow(TOO_MANY);
});

test('statements have what is left of fifteen minutes from the first one', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(5_000);
  const bounds = new ComparisonBounds();
  now.mockReturnValue(MAX_COMPARING_MS);
  expect(bounds.remainingMs()).toBe(MAX_COMPARING_MS);
  now.mockReturnValue(2 * MAX_COMPARING_MS - 0.5);
  expect(bounds.remainingMs()).toBe(1);
  now.mockReturnValue(2 * MAX_COMPARING_MS);
  expect(() => bounds.remainingMs()).toThrow(TOO_MANY);
});
