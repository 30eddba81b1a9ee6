import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { GAME, OPERATOR, PROVIDER, useWorld, type World } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

let other: World;

const world = useWorld();
beforeAll(async () => (other = await world.another(world.clock)));

afterAll(() => other.app.close());

test.each([
  ['provider', `/v1/admin/providers/${PROVIDER}`],
  ['operator', `/v1/admin/operators/${OPERATOR}`],
])('a disabled %s is refused at once here, and soon on the other instance', async (kind, route) => {
  const session = await world.launch();
  const asked = async (at: World) => {
    const { status } = await (kind === 'provider'
      ? at.signed(PROVIDER, '/v1/wallet/session/verify', { sessionToken: session.sessionToken })
      : at.signed(OPERATOR, '/v1/operator/sessions', { playerRef: 'p', gameId: GAME, currency: 'EUR' }));
    return status;
  };
  const served = kind === 'provider' ? 200 : 201;
  expect([await asked(world), await asked(other)]).toEqual([served, served]);

  expect((await world.admin('PATCH', route, { status: 'DISABLED' })).status).toBe(200);
  expect(await asked(world)).toBe(401);
  await vi.waitFor(async () => expect(await asked(other)).toBe(401), PATIENCE);

  expect((await world.admin('PATCH', route, { status: 'ACTIVE' })).status).toBe(200);
  expect(await asked(world)).toBe(served);
  await vi.waitFor(async () => expect(await asked(other)).toBe(served), PATIENCE);
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
