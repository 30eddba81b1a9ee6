import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { KeyStore } from '../../src/admin/key.store.js';
import { Metrics } from '../../src/observability/metrics.js';
import { bearer, startApplication, useWorld, type Reply } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

const world = useWorld({ TRUST_PROXY: 'loopback' });

const wrong = () => randomBytes(32).toString('base64url');

const made = () => world.administrator('support');

const ask = (key: string, from: string) =>
  world.request('/v1/admin/providers', { headers: { ...bearer(key), 'X-Forwarded-For': from } });

async function statuses(replies: Iterable<Promise<Reply>>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(replies)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Blocks every look-up until the returned function is called. */
async function lockKeys(): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE admin_keys IN ACCESS EXCLUSIVE MODE');
  return () => client.end();
}

/** Uses up the attempts of an address. */
async function exhaust(from: string): Promise<void> {
  for (let i = 0; i < 20; i += 1) expect((await ask(wrong(), from)).status).toBe(401);
  expect((await ask(wrong(), from)).status).toBe(429);
}

test.each([
  ['different keys', '203.0.113.10', () => Array.from({ length: 400 }, wrong)],
  ['the same key', '203.0.113.11', () => Array<string>(400).fill(wrong())],
])('of 400 concurrent guesses with %s, 20 are looked up', async (_, from, guesses) => {
  const lookUps = vi.spyOn(world.app.get(KeyStore), 'liveByHash');
  const arrived = vi.spyOn(world.app.get(Metrics), 'requestStarted');
  // No look-up ends before all guesses have arrived.
  const release = await lockKeys();
  const replies = guesses().map((key) => ask(key, from));
  await vi.waitFor(() => expect(arrived).toHaveBeenCalledTimes(400), PATIENCE);
  await release();
  expect(await statuses(replies)).toEqual({ 401: 20, 429: 380 });
  expect(lookUps).toHaveBeenCalledTimes(20);
  lookUps.mockRestore();
  arrived.mockRestore();
});

test('a refused guess has Retry-After', async () => {
  await exhaust('203.0.113.1');
  const refused = await ask(wrong(), '203.0.113.1');
  expect(refused.json).toEqual({ error: 'rate limit exceeded' });
  expect(refused.headers.get('X-Error-Code')).toBe('RATE_LIMITED');
  const seconds = Number(refused.headers.get('Retry-After'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
});

test("a valid key's first use from a limited address waits like a guess", async () => {
  const { key } = await made();
  await exhaust('203.0.113.2');
  expect((await ask(key, '203.0.113.2')).status).toBe(429);
  world.clock.advance(61);
  expect((await ask(key, '203.0.113.2')).status).toBe(200);
});

test('a known key is exempt from the limit of any address', async () => {
  const { key } = await made();
  expect((await ask(key, '203.0.113.3')).status).toBe(200);
  for (const from of ['203.0.113.3', '203.0.113.4']) {
    await exhaust(from);
    expect((await ask(key, from)).status).toBe(200);
  }
});

test('a key stays known for an hour after its last use', async () => {
  const { key } = await made();
  expect((await ask(key, '203.0.113.5')).status).toBe(200);
  for (const seconds of [3500, 3500]) {
    world.clock.advance(seconds);
    await exhaust('203.0.113.5');
    expect((await ask(key, '203.0.113.5')).status).toBe(200);
  }
  world.clock.advance(3601);
  await exhaust('203.0.113.5');
  expect((await ask(key, '203.0.113.5')).status).toBe(429);
});

test('a known key that is revoked is refused at once, and then limited like any other', async () => {
  const { id, key } = await made();
  expect((await ask(key, '203.0.113.6')).status).toBe(200);
  await exhaust('203.0.113.6');
  await world.admin('DELETE', `/v1/admin/keys/${id}`);
  expect((await ask(key, '203.0.113.6')).status).toBe(401);
  expect((await ask(key, '203.0.113.6')).status).toBe(429);
});

test('valid keys use up no attempts, neither one after the other nor many requests with one at once', async () => {
  for (let i = 0; i < 25; i += 1) expect((await ask((await made()).key, '203.0.113.7')).status).toBe(200);
  const { key } = await made();
  expect(await statuses(Array.from({ length: 50 }, () => ask(key, '203.0.113.7')))).toEqual({ 200: 50 });
  await exhaust('203.0.113.7');
});

test('a failed look-up uses up an attempt', async () => {
  await world.sql.run('ALTER TABLE admin_keys RENAME TO admin_keys_away');
  try {
    const guesses = Array.from({ length: 40 }, () => ask(wrong(), '203.0.113.8'));
    expect(await statuses(guesses)).toEqual({ 500: 20, 429: 20 });
  } finally {
    await world.sql.run('ALTER TABLE admin_keys_away RENAME TO admin_keys');
  }
});

test('wrong keys are counted by the /64 of an IPv6 address', async () => {
  for (let i = 0; i < 20; i += 1) await ask(wrong(), `2001:db8:1:2::${i.toString(16)}`);
  expect((await ask(wrong(), '2001:db8:1:2:ffff::1')).status).toBe(429);
  expect((await ask(wrong(), '2001:db8:1:3::1')).status).toBe(401);
});

test.each([
  ['an address with different ports', (i: number) => `198.51.100.1:${40_000 + i}`],
  ['an IPv6 /64 with different ports', (i: number) => `[2001:db8:9:9::${i.toString(16)}]:${443 + i}`],
  ['whatever is no address', (i: number) => `unknown-${i}`],
])('wrong keys of %s are counted together', async (_, from) => {
  for (let i = 0; i < 20; i += 1) expect((await ask(wrong(), from(i))).status).toBe(401);
  expect((await ask(wrong(), from(20))).status).toBe(429);
});

test('a request without a key uses up no attempt', async () => {
  for (let i = 0; i < 25; i += 1) {
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    expect((await world.request('/v1/admin/providers', { headers })).status).toBe(401);
  }
});

test('X-Forwarded-For of an untrusted caller is ignored', async () => {
  const { app, url } = await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock);
  const from = (forwarded: string) =>
    fetch(`${url}/v1/admin/providers`, {
      headers: { ...bearer(wrong()), 'X-Forwarded-For': forwarded },
    });
  for (let i = 0; i < 20; i += 1) expect((await from(`203.0.113.${i}`)).status).toBe(401);
  expect((await from('203.0.113.99')).status).toBe(429);
  await app.close();
});
