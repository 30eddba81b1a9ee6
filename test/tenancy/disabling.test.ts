import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { GAME, OPERATOR, PROVIDER, startApplication, useWorld } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

let other: Awaited<ReturnType<typeof startApplication>>;

const world = useWorld();
beforeAll(async () => {
  other = await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock);
});

afterAll(() => other.app.close());

/** A signed call to one of the two instances. */
async function call(url: string, tenant: string, path: string, body: object): Promise<number> {
  const raw = JSON.stringify(body);
  const headers = { 'Content-Type': 'application/json', ...world.signature(tenant, path, raw) };
  return (await fetch(url + path, { method: 'POST', headers, body: raw })).status;
}

test.each([
  ['provider', `/v1/admin/providers/${PROVIDER}`],
  ['operator', `/v1/admin/operators/${OPERATOR}`],
])('a disabled %s is refused at once here, and soon on the other instance', async (kind, route) => {
  const session = await world.launch();
  const asked = (url: string) =>
    kind === 'provider'
      ? call(url, PROVIDER, '/v1/wallet/session/verify', { sessionToken: session.sessionToken })
      : call(url, OPERATOR, '/v1/operator/sessions', { playerRef: 'p', gameId: GAME, currency: 'EUR' });
  const served = kind === 'provider' ? 200 : 201;
  expect([await asked(world.url), await asked(other.url)]).toEqual([served, served]);

  expect((await world.admin('PATCH', route, { status: 'DISABLED' })).status).toBe(200);
  expect(await asked(world.url)).toBe(401);
  await vi.waitFor(async () => expect(await asked(other.url)).toBe(401), PATIENCE);

  expect((await world.admin('PATCH', route, { status: 'ACTIVE' })).status).toBe(200);
  expect(await asked(world.url)).toBe(served);
  await vi.waitFor(async () => expect(await asked(other.url)).toBe(served), PATIENCE);
});

test('an instance that cannot read its tenants for 30 seconds is not ready, and accepts no signed request', async () => {
  const bet = world.transaction(await world.launch(), 'BET');
  const blocker = new pg.Client({ connectionString: world.databaseUrl });
  await blocker.connect();
  await blocker.query('BEGIN; LOCK TABLE tenancy_version IN ACCESS EXCLUSIVE MODE');
  world.clock.advance(31);
  const readiness = () => world.request('/health/ready');
  await vi.waitFor(async () => expect((await readiness()).status).toBe(503), PATIENCE);
  const { json: unready } = await readiness();
  const refused = await world.submit(bet);
  const unsigned = await world.signed(PROVIDER, '/v1/wallet/transaction', bet, { secret: 'x'.repeat(32) });
  await blocker.query('ROLLBACK');
  await blocker.end();
  expect(unready).toMatchObject({ status: 'unavailable', checks: { database: 'up', tenants: 'down' } });
  expect([refused.status, refused.headers.get('x-error-code')]).toEqual([500, 'CONFIGURATION_UNAVAILABLE']);
  expect(unsigned.status).toBe(401);
  expect(world.wallet.calls(bet.transactionId)).toEqual([]);
  await vi.waitFor(async () => expect((await world.submit(bet)).status).toBe(200), PATIENCE);
  await vi.waitFor(async () => expect((await readiness()).status).toBe(200), PATIENCE);
});
