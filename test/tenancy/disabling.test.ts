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
