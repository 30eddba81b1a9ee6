import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { atMostEvery } from '../../src/observability/at-most-every.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('callers within the period share one result', async () => {
  const compute = vi.fn(async () => compute.mock.calls.length);
  const read = atMostEvery(1_000, compute);
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  vi.advanceTimersByTime(999);
  expect(await read()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await read()).toBe(2);
});

test('a computation that takes longer than the period is not started a second time', async () => {
  const compute = vi.fn(() => new Promise<string>((resolve) => setTimeout(() => resolve('slow'), 5_000)));
  const read = atMostEvery(1_000, compute);
  const first = read();
  vi.advanceTimersByTime(4_999);
  const second = read();
  vi.advanceTimersByTime(1);
  expect([await first, await second, compute.mock.calls.length]).toEqual(['slow', 'slow', 1]);
  void read();
  expect(compute).toHaveBeenCalledTimes(2);
});

test('a failure is shared as well, and the next period tries again', async () => {
  const compute = vi.fn(() => Promise.reject(new Error(`attempt ${compute.mock.calls.length}`)));
  const read = atMostEvery(1_000, compute);
  await expect(read()).rejects.toThrow('attempt 1');
  await expect(read()).rejects.toThrow('attempt 1');
  vi.advanceTimersByTime(1_000);
  await expect(read()).rejects.toThrow('attempt 2');
});
