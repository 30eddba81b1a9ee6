import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATOR, OTHER_PROVIDER, PROVIDER, type Reply, startWorld, type World } from '../world/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { requestsPerSecond: 5 });
  await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { requestsPerSecond: 5 });
});
afterAll(() => world.stop());

const VERIFY = '/v1/wallet/session/verify';
const flood = (tenant: string, path: string, body: object | string = { sessionToken: 'x' }) =>
  Promise.all(Array.from({ length: 30 }, () => world.signed(tenant, path, body)));
const limited = (replies: Reply[]) => replies.filter(({ status }) => status === 429);

test.each([
  ['provider', PROVIDER, VERIFY],
  ['operator', OPERATOR, '/v1/operator/sessions'],
])("a %s's requests beyond its limit are 429, with Retry-After", async (_, tenant, path) => {
  const refused = limited(await flood(tenant, path));
  // A second may begin within the flood, and with it another five.
  expect(refused.length).toBeGreaterThanOrEqual(15);
  for (const reply of refused) {
    expect(reply.text).toBe('{"error":"rate limit exceeded"}');
    expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(reply.headers.get('x-error-code')).toBe('RATE_LIMITED');
    expect(reply.headers.get('x-next-action')).toBe('wait-then-retry');
  }
});

test('the limit is judged before the body', async () => {
  expect(limited(await flood(PROVIDER, VERIFY, '{broken')).length).toBeGreaterThan(0);
});

test("one tenant's flood is no other's, and a failed signature counts for nobody", async () => {
  await flood(PROVIDER, VERIFY);
  expect(limited(await flood(OTHER_PROVIDER, VERIFY))).toHaveLength(0);
  const forged = await Promise.all(
    Array.from({ length: 30 }, () => world.signed(PROVIDER, VERIFY, {}, { secret: 'wrong' })),
  );
  expect(forged.every(({ status }) => status === 401)).toBe(true);
});
