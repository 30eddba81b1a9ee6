import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PATIENCE } from '../world/patience.js';
import { OPERATOR, useWorld } from '../world/world.js';

const world = useWorld();
// However long the calls of a test take, they are in one window.
let runClock: () => void;
beforeEach(() => (runClock = world.clock.stop()));
afterEach(() => runClock());

/** @returns the statuses that the calls were answered with */
async function statusesOf(count: number, call: (n: number) => Promise<{ status: number }>) {
  const statuses = new Set<number>();
  for (let n = 0; n < count; n += 50) {
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => call(n + i)));
    for (const { status } of replies) statuses.add(status);
  }
  return [...statuses];
}

async function entriesOf(actor: string): Promise<number> {
  const [row] = await world.sql.run<{ count: number }>(
    `SELECT count(*)::int AS count FROM audit_entries WHERE actor = '${actor}'`,
  );
  return row!.count;
}

test('after 1,000 refusals within a minute, the calls of that key alone are 429 for the rest of it', async () => {
  const { call } = await world.administrator('support');
  const { call: callOfAnother } = await world.administrator('support');
  const refused = () => call('POST', `/v1/admin/operators/${OPERATOR}/resume`);
  expect(await statusesOf(1_000, refused)).toEqual([403]);
  const limited = await refused();
  expect([limited.status, limited.text]).toEqual([429, '{"error":"rate limit exceeded"}']);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect((await call('GET', '/v1/admin/games')).status).toBe(429);
  expect((await callOfAnother('GET', '/v1/admin/games')).status).toBe(200);
  world.clock.advance(60);
  expect((await call('GET', '/v1/admin/games')).status).toBe(200);
}, 60_000);

test('after 3,000 recorded reads within a minute, further ones of that key alone are 429 for the rest of it', async () => {
  const { actor, call } = await world.administrator('auditor');
  const { call: callOfAnother } = await world.administrator('auditor');
  const read = (n: number) => call('GET', `/v1/admin/sessions?playerRef=p-${n}`);
  const poll = (n: number) => call('GET', `/v1/admin/transactions?playerRef=p-${n}`);
  expect(await statusesOf(50, () => poll(0))).toEqual([200]);
  expect(await statusesOf(1_500, read)).toEqual([200]);
  expect(await statusesOf(1_450, (n) => poll(n + 1))).toEqual([200]);
  expect(new Set(await statusesOf(100, read))).toEqual(new Set([200, 429]));
  expect(await entriesOf(actor)).toBe(3_000);

  const limited = await read(0);
  expect([limited.status, limited.text]).toEqual([429, '{"error":"rate limit exceeded"}']);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect((await call('GET', '/v1/admin/audit')).status).toBe(429);
  // What is not recorded, and repetitions of a poll, are still answered.
  expect((await call('GET', '/v1/admin/games')).status).toBe(200);
  expect((await poll(0)).status).toBe(200);
  expect((await callOfAnother('GET', '/v1/admin/sessions')).status).toBe(200);
  expect(await entriesOf(actor)).toBe(3_000);
  world.clock.advance(60);
  // The repetitions of a poll become one more entry.
  await vi.waitFor(async () => expect(await entriesOf(actor)).toBe(3_001), PATIENCE);
  expect((await read(0)).status).toBe(200);
}, 120_000);

test('on a route that clients poll, only different refusals count', async () => {
  const { actor, call } = await world.administrator('auditor');
  const poll = (ref: number) => call('POST', `/v1/admin/free-spins/${ref}/status`);
  expect(await statusesOf(1_000, () => poll(0))).toEqual([403]);
  expect(await statusesOf(950, (n) => poll(n + 1))).toEqual([403]);
  expect(await statusesOf(50, (n) => poll(n + 951))).toEqual([403, 429]);
  expect(await entriesOf(actor)).toBe(1_000);
}, 60_000);
