import { randomUUID } from 'node:crypto';
import { beforeAll, expect, inject, test } from 'vitest';
import { OPERATOR, OTHER_PROVIDER, PROVIDER, type Reply, useWorld } from '../world/world.js';

const world = useWorld();
beforeAll(async () => {
  await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { requestsPerSecond: 5 });
  await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { requestsPerSecond: 5 });
});

const VERIFY = '/v1/wallet/session/verify';
const flood = (tenant: string, path: string, body: object | string = { sessionToken: 'x' }) =>
  Promise.all(Array.from({ length: 30 }, () => world.signed(tenant, path, body)));
const limited = (replies: Reply[]) => replies.filter(({ status }) => status === 429);

test.each([
  ['provider', PROVIDER, VERIFY],
  ['operator', OPERATOR, '/v1/operator/sessions'],
])("a %s's requests beyond its limit are 429, with Retry-After", async (_, tenant, path) => {
  const refused = limited(await flood(tenant, path));
  // A new second may begin during the flood, and then another five requests are accepted.
  expect(refused.length).toBeGreaterThanOrEqual(15);
  for (const reply of refused) {
    expect(reply.text).toBe('{"error":"rate limit exceeded"}');
    expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(reply.headers.get('x-error-code')).toBe('RATE_LIMITED');
    expect(reply.headers.get('x-next-action')).toBe('wait-then-retry');
  }
});

test('the limit is checked before the body', async () => {
  expect(limited(await flood(PROVIDER, VERIFY, '{broken')).length).toBeGreaterThan(0);
});

test("one tenant's flood does not affect another, and a failed signature counts for no tenant", async () => {
  await flood(PROVIDER, VERIFY);
  expect(limited(await flood(OTHER_PROVIDER, VERIFY))).toHaveLength(0);
  const forged = await Promise.all(
    Array.from({ length: 30 }, () => world.signed(PROVIDER, VERIFY, {}, { secret: 'wrong' })),
  );
  expect(forged.every(({ status }) => status === 401)).toBe(true);
});

test('a replayed nonce does not count towards the limit', async () => {
  const tenant = await world.createProvider({ requestsPerSecond: 2 });
  const nonce = randomUUID();
  await world.signed(tenant, VERIFY, {}, { nonce });
  const replays = Array.from({ length: 30 }, () => world.signed(tenant, VERIFY, {}, { nonce }));
  for (const { text } of await Promise.all(replays)) expect(text).toBe('invalid signature');
  expect(limited([await world.signed(tenant, VERIFY, {})])).toHaveLength(0);
});

// With Redis, nonces are not in the database.
test.runIf(inject('redisUrl') === null)(
  'the database stores no nonce of a request beyond the limit',
  async () => {
    const tenant = await world.createOperator({ requestsPerSecond: 1 });
    const replies = await flood(tenant, '/v1/operator/sessions');
    const refused = limited(replies).length;
    expect(refused).toBeGreaterThan(0);
    const rows = await world.sql.run('SELECT FROM nonces WHERE tenant_id = $1', [tenant]);
    expect(rows).toHaveLength(replies.length - refused);
  },
);

test('a route without a signature has no limit, and no answer reveals the limit', async () => {
  const replies = await Promise.all(Array.from({ length: 30 }, () => world.request('/health/live')));
  expect(limited(replies)).toHaveLength(0);
  const [refused] = limited(await flood(PROVIDER, VERIFY));
  for (const { headers } of [refused!, replies[0]!]) {
    expect([...headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  }
});
