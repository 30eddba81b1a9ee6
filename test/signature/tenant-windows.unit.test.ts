import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MAX_WINDOWS } from '../../src/runtime/counting-windows.js';
import { TenantWindows } from '../../src/signature/tenant-windows.js';

const TTL_MS = 1_000;
const LIMIT = 3;

let windows: TenantWindows;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  windows = new TenantWindows();
});
afterEach(() => vi.useRealTimers());

const request = (tenantId: string) => windows.increment(tenantId, TTL_MS, LIMIT);
async function requests(count: number, tenantId: string) {
  for (let index = 1; index < count; index += 1) await request(tenantId);
  return request(tenantId);
}

test('a window admits as many requests as the limit', async () => {
  expect(await requests(LIMIT, 'a')).toMatchObject({ totalHits: LIMIT, isBlocked: false });
  expect(await request('a')).toMatchObject({ totalHits: LIMIT + 1, isBlocked: true });
});

test('each tenant has a window of its own', async () => {
  await requests(LIMIT + 1, 'a');
  expect(await request('b')).toMatchObject({ totalHits: 1, isBlocked: false });
});

test('requests that were refused do not extend the window', async () => {
  await requests(LIMIT, 'a');
  vi.advanceTimersByTime(TTL_MS - 1);
  expect(await requests(10, 'a')).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
  vi.advanceTimersByTime(1);
  expect(await request('a')).toMatchObject({ totalHits: 1, isBlocked: false });
});

test.each([
  [60_000, 0, 60],
  [60_000, 58_999, 2],
  [60_000, 59_999, 1],
])('of a window of %i ms, after %i ms, there remain %i whole seconds', async (ttlMs, elapsedMs, seconds) => {
  await windows.increment('a', ttlMs, LIMIT);
  vi.advanceTimersByTime(elapsedMs);
  expect(await windows.increment('a', ttlMs, LIMIT)).toMatchObject({
    timeToExpire: seconds,
    timeToBlockExpire: seconds,
  });
});

test('the number of windows is bounded: beyond it the oldest is forgotten', async () => {
  for (const first of ['a', 'b']) await requests(LIMIT + 1, first);
  for (let index = 2; index < MAX_WINDOWS; index += 1) await request(`tenant-${index}`);
  expect((await request('a')).isBlocked).toBe(true);
  await request('one too many');
  expect(await request('b')).toMatchObject({ isBlocked: true });
  expect(await request('a')).toMatchObject({ totalHits: 1, isBlocked: false });
});
