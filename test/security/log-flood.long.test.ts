import { randomBytes, randomUUID } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { GAME, OPERATOR, PROVIDER, startApplication, useWorld } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

type Line = Record<string, unknown>;

const lines: Line[] = [];
const logs = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };

const world = useWorld({ LOG_LEVEL: 'info', TRUST_PROXY: 'loopback' }, logs);

beforeEach(() => (lines.length = 0));

const ofRequests = () => lines.filter(({ context }) => context === 'Request');
const suppressed = () => lines.filter(({ suppressedLines }) => suppressedLines !== undefined);
/** The number of request lines that were written or only counted. */
const accounted = () =>
  ofRequests().reduce((sum, line) => sum + (Number(line['suppressedLines'] ?? 0) || 1), 0);

/** Sends many requests at once. Of guesses at a key, the first twenty are answered 401. */
async function flood(count: number, path: string, init: () => RequestInit, status: number): Promise<void> {
  const replies = await Promise.all(Array.from({ length: count }, () => fetch(world.url + path, init())));
  expect(replies.filter((reply) => reply.status === status).length).toBeGreaterThanOrEqual(count - 20);
  for (const reply of replies) await reply.body?.cancel();
}

const anonymous = (): RequestInit => ({ headers: { 'X-Forwarded-For': '192.0.2.1' } });
const compressed = (): RequestInit => ({
  method: 'POST',
  body: 'x',
  headers: { 'X-Forwarded-For': '192.0.2.3', 'Content-Encoding': 'gzip' },
});
const guess = (): RequestInit => ({
  headers: {
    'X-Forwarded-For': '192.0.2.2',
    Authorization: `Bearer ${randomBytes(32).toString('base64url')}`,
  },
});

test('lines of unauthenticated callers are bounded, and all suppressed ones are counted', async () => {
  const startedMs = performance.now();
  await Promise.all([
    flood(100, '/v1/nowhere', anonymous, 404),
    flood(100, '/v1/admin/providers', anonymous, 401),
    flood(100, '/v1/admin/providers', guess, 429),
    flood(100, '/v1/wallet/balance', compressed, 415),
  ]);
  await vi.waitFor(() => expect(accounted()).toBe(400), PATIENCE);
  const windows = Math.ceil((performance.now() - startedMs) / 1000) + 1;
  expect(ofRequests().length).toBeLessThanOrEqual(11 * windows);
  expect(suppressed()[0]).toMatchObject({ msg: 'log lines suppressed' });
  for (const line of suppressed()) expect(line).not.toHaveProperty('requestId');
});

test('lines of tenants and administrators are written during such a flood', async () => {
  const strangers = flood(300, '/v1/nowhere', anonymous, 404);
  const own = Array.from({ length: 15 }, async () => {
    const requestId = (name: string) => ({ 'X-Request-Id': `${name}-${randomUUID()}` });
    await world.signed(PROVIDER, '/v1/wallet/balance', '{"sessionToken":', {
      headers: requestId('provider'),
    });
    await world.signed(OPERATOR, '/v1/operator/sessions/none/revoke', {}, { headers: requestId('operator') });
    await world.admin('GET', '/v1/admin/providers/none');
    await world.admin('PUT', `/v1/admin/games/${GAME}`, {});
  });
  await Promise.all([strangers, ...own]);
  const written = (status: number, route: string) =>
    ofRequests().filter((line) => line['status'] === status && line['route'] === route).length;
  await vi.waitFor(() => expect(written(400, 'PUT /v1/admin/games/:gameId')).toBe(15), PATIENCE);
  await vi.waitFor(() => expect(written(404, 'GET /v1/admin/providers/:id')).toBe(15), PATIENCE);
  await vi.waitFor(() => expect(written(400, 'POST /v1/wallet/balance')).toBe(15), PATIENCE);
  expect(ofRequests().filter(({ tenant }) => tenant === OPERATOR).length).toBe(15);
  await vi.waitFor(() => expect(accounted()).toBe(300 + 4 * 15), PATIENCE);
});

test('a count that waits for the end of its second is written when the service stops', async () => {
  const { app, url } = await startApplication(
    { DATABASE_URL: world.databaseUrl, LOG_LEVEL: 'info' },
    world.clock,
    logs,
  );
  lines.length = 0;
  await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/v1/nowhere`)));
  await app.close();
  expect(accounted()).toBe(50);
  expect(suppressed().length).toBeGreaterThan(0);
});

test('an X-Tenant-ID is logged only if it names a tenant', async () => {
  const secret = `secret-${randomUUID()}`;
  await world.signed(PROVIDER, '/v1/wallet/balance', {}, { tenantId: secret });
  await world.signed(PROVIDER, '/v1/wallet/balance', {}, { secret: 'wrong' });
  await world.signed(OPERATOR, '/v1/wallet/balance', {});
  const refused = () => lines.filter(({ msg }) => msg === 'signature refused');
  await vi.waitFor(() => expect(refused().length).toBe(3), PATIENCE);
  expect(refused().map(({ reason, tenantId }) => [reason, tenantId])).toEqual([
    ['unknown_tenant', undefined],
    ['signature_mismatch', PROVIDER],
    ['tenant_of_another_kind', OPERATOR],
  ]);
  expect(JSON.stringify(lines)).not.toContain(secret);
});
