import type { INestApplication } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { createMigratedDatabase } from '../world/database.js';
import { TestClock } from '../world/test-clock.js';
import { ADMIN_KEY, startApplication } from '../world/world.js';

const clock = new TestClock();
let application: INestApplication;
let address: string;
let database: Awaited<ReturnType<typeof createMigratedDatabase>>;

beforeAll(async () => {
  database = await createMigratedDatabase();
  // As in production: wallets and webhooks of the test world would be refused.
  const environment = { DATABASE_URL: database.url, OUTBOUND_ALLOW_PRIVATE: 'false', DOCS_ENABLED: 'true' };
  ({ app: application, url: address } = await startApplication(environment, clock));
});

afterAll(async () => {
  await application.close();
  await database.drop();
});

interface Answer {
  status: number;
  code: string | null;
  body: Record<string, unknown>;
}

async function call(method: string, route: string, body?: unknown, key = ADMIN_KEY): Promise<Answer> {
  const response = await fetch(`${address}/v1/admin${route}`, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, code: response.headers.get('X-Error-Code'), body: answer };
}

const PROVIDER = { name: 'Acme Games', webhookBaseUrl: 'https://rgs.acme.example/croupier/' };
const OPERATOR = { name: 'Lucky Casino', walletBaseUrl: 'https://wallet.lucky.example' };

let serial = 0;
/** A tenant that no other test has. */
async function created(kind: 'providers' | 'operators'): Promise<{ id: string; secret: string }> {
  const id = `tenant-${(serial += 1)}`;
  const { status, body } = await call('POST', `/${kind}`, {
    id,
    ...(kind === 'providers' ? PROVIDER : OPERATOR),
  });
  expect(status).toBe(201);
  return { id, secret: String(body['secret']) };
}

describe.each([
  ['POST', '/providers'],
  ['GET', '/providers'],
  ['GET', '/providers/x'],
  ['PATCH', '/providers/x'],
  ['POST', '/providers/x/secret/rotate'],
  ['POST', '/providers/x/pause'],
  ['POST', '/providers/x/resume'],
  ['POST', '/operators'],
  ['GET', '/operators'],
  ['GET', '/operators/x'],
  ['PATCH', '/operators/x'],
  ['POST', '/operators/x/secret/rotate'],
  ['POST', '/operators/x/pause'],
  ['POST', '/operators/x/resume'],
  ['PUT', '/games/x'],
  ['GET', '/games/x'],
  ['GET', '/games'],
  ['POST', '/games/x/pause'],
  ['POST', '/games/x/resume'],
])('%s /v1/admin%s', (method, route) => {
  test('verifies the key first', async () => {
    const answer = await call(method, route, undefined, 'wrong');
    expect(answer).toEqual({
      status: 401,
      code: 'UNAUTHORIZED',
      body: { error: 'a valid admin key is required' },
    });
  });
});

describe('a created tenant', () => {
  test('has its secret only in the 201: a provider', async () => {
    const answer = await call('POST', '/providers', { id: 'acme', ...PROVIDER, lateSettlementSeconds: 60 });
    const expected = {
      kind: 'PROVIDER',
      id: 'acme',
      name: 'Acme Games',
      status: 'ACTIVE',
      webhookBaseUrl: 'https://rgs.acme.example/croupier',
      lateSettlementSeconds: 60,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    };
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ ...expected, secret: expect.stringMatching(/^[\w-]{43}$/) as string });
    expect(await call('GET', '/providers/acme')).toEqual({ status: 200, code: null, body: expected });
  });

  test('has its secret only in the 201: an operator', async () => {
    const wanted = {
      id: 'lucky',
      ...OPERATOR,
      walletTimeoutMs: 1500,
      requestsPerSecond: 9,
      status: 'DISABLED',
    };
    const answer = await call('POST', '/operators', wanted);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ ...wanted, walletAdapter: 'signed-json' });
    const { secret, ...rest } = answer.body;
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect((await call('GET', '/operators/lucky')).body).toEqual(rest);
  });

  test('is not found under the other kind', async () => {
    const { id } = await created('providers');
    for (const [method, route, body] of [
      ['GET', `/operators/${id}`, undefined],
      ['PATCH', `/operators/${id}`, { name: 'x' }],
      ['POST', `/operators/${id}/secret/rotate`, {}],
    ] as const) {
      expect(await call(method, route, body)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
  });

  test.each(['nobody', '%00', 'x'.repeat(300), '%E2%82%AC'])('is not found as %s', async (id) => {
    expect(await call('GET', `/providers/${id}`)).toMatchObject({ status: 404 });
    expect(await call('PATCH', `/providers/${id}`, { name: 'x' })).toMatchObject({ status: 404 });
    expect(await call('POST', `/providers/${id}/secret/rotate`, {})).toMatchObject({ status: 404 });
    expect(await call('GET', `/games/${id}`)).toMatchObject({ status: 404 });
  });
});

describe('an id', () => {
  test('that a tenant of either kind uses is a 409', async () => {
    const { id } = await created('providers');
    expect(await call('POST', '/providers', { id, ...PROVIDER })).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
    expect(await call('POST', '/operators', { id, ...OPERATOR })).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
  });

  test.each(['', '.', '..', 'platform', 'a b', 'a/b', 'ä', 'x\n', 'x'.repeat(65), 7, null, undefined])(
    'that is malformed or reserved is a 400: %j',
    async (id) => {
      for (const [path, tenant] of [
        ['/providers', PROVIDER],
        ['/operators', OPERATOR],
      ] as const) {
        const answer = await call('POST', path, { ...tenant, id });
        expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
        expect(answer.body['error']).toContain('id must be');
      }
    },
  );

  test.each(['...', '.a', 'platform2', 'A-b_c.9', 'x'.repeat(64)])('may be %s', async (id) => {
    expect((await call('POST', '/operators', { id, ...OPERATOR })).status).toBe(201);
  });
});

describe('a field of a provider', () => {
  test.each([
    ['name', ''],
    ['name', ' '],
    ['name', 'x'.repeat(129)],
    ['name', 'a\u0000b'],
    ['name', 'a\ud800b'],
    ['name', null],
    ['status', 'PAUSED'],
    ['status', null],
    ['webhookBaseUrl', 'http://rgs.acme.example'],
    ['webhookBaseUrl', 'https://127.0.0.1'],
    ['webhookBaseUrl', 'https://user:pw@rgs.acme.example'],
    ['webhookBaseUrl', 'https://rgs.acme.example/?a'],
    ['webhookBaseUrl', null],
    ['webhookBaseUrl', 7],
    ['requestsPerSecond', 0],
    ['requestsPerSecond', 1_000_001],
    ['requestsPerSecond', 1.5],
    ['requestsPerSecond', '5'],
    ['lateSettlementSeconds', -1],
    ['lateSettlementSeconds', 31_536_001],
    ['surprise', 1],
    ['secret', 'mine'],
  ])('is refused with a 400 that names it: %s %j', async (field, value) => {
    const { id } = await created('providers');
    const created400 = await call('POST', '/providers', { id: 'never', ...PROVIDER, [field]: value });
    const changed400 = await call('PATCH', `/providers/${id}`, { [field]: value });
    for (const answer of [created400, changed400]) {
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
      expect(answer.body['error']).toContain(field);
    }
  });
});

describe('a field of an operator', () => {
  test.each([
    ['walletAdapter', 'soap'],
    ['walletAdapter', null],
    ['walletBaseUrl', 'https://[::1]/'],
    ['walletTimeoutMs', 0],
    ['walletTimeoutMs', 29_001],
    ['walletTimeoutMs', 1e300],
    ['webhookBaseUrl', 'https://rgs.acme.example'],
  ])('is refused with a 400 that names it: %s %j', async (field, value) => {
    const { id } = await created('operators');
    const created400 = await call('POST', '/operators', { id: 'never', ...OPERATOR, [field]: value });
    const changed400 = await call('PATCH', `/operators/${id}`, { [field]: value });
    for (const answer of [created400, changed400]) {
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
      expect(answer.body['error']).toContain(field);
    }
  });
});

describe('a PATCH', () => {
  test('changes only the given fields, with immediate effect', async () => {
    const { id } = await created('providers');
    const before = await call('GET', `/providers/${id}`);
    const changes = { name: 'Renamed', status: 'DISABLED', lateSettlementSeconds: 5, requestsPerSecond: 3 };
    const { status, body } = await call('PATCH', `/providers/${id}`, changes);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before.body, ...changes, updatedAt: body['updatedAt'] });
    expect((await call('GET', `/providers/${id}`)).body).toEqual(body);
    expect(application.get(TenancyService).provider(id)).toMatchObject(changes);
  });

  test('with null resets a field to its default', async () => {
    const provider = await created('providers');
    await call('PATCH', `/providers/${provider.id}`, { requestsPerSecond: 3, lateSettlementSeconds: 5 });
    const reset = { requestsPerSecond: null, lateSettlementSeconds: null };
    const { body } = await call('PATCH', `/providers/${provider.id}`, reset);
    expect(body).toMatchObject({ lateSettlementSeconds: 0 });
    expect(body).not.toHaveProperty('requestsPerSecond');

    const operator = await created('operators');
    await call('PATCH', `/operators/${operator.id}`, { walletTimeoutMs: 3 });
    const untouched = await call('PATCH', `/operators/${operator.id}`, {});
    expect(untouched.body).toMatchObject({ walletTimeoutMs: 3 });
    const answer = await call('PATCH', `/operators/${operator.id}`, { walletTimeoutMs: null });
    expect(answer.body).not.toHaveProperty('walletTimeoutMs');
  });

  test('does not change the id', async () => {
    const { id } = await created('operators');
    expect(await call('PATCH', `/operators/${id}`, { id: 'other' })).toMatchObject({ status: 400 });
  });
});

describe.each(['providers', 'operators'] as const)('a rotation of a secret of %s', (kind) => {
  test('returns a new secret and the end of the previous one, a day later by default', async () => {
    const { id, secret } = await created(kind);
    const before = clock.now().getTime();
    const { status, body } = await call('POST', `/${kind}/${id}/secret/rotate`, {});
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['previousValidUntil', 'secret']);
    const rotatedAt = Date.parse(String(body['previousValidUntil'])) - 86_400_000;
    expect(rotatedAt).toBeGreaterThanOrEqual(before);
    expect(rotatedAt).toBeLessThanOrEqual(clock.now().getTime());
    const known = application.get(TenancyService).verificationSecrets(id);
    expect(known).toEqual([body['secret'], secret]);
  });

  test.each([-1, 30 * 86_400 + 1, 1.5, '60'])('refuses an overlap of %j', async (overlapSeconds) => {
    const { id } = await created(kind);
    const answer = await call('POST', `/${kind}/${id}/secret/rotate`, { overlapSeconds });
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  });
});

describe('a game', () => {
  test('is created and replaced with 200', async () => {
    const { id: providerId } = await created('providers');
    const game = {
      providerId,
      name: 'Book',
      status: 'ACTIVE',
      launchUrl: 'https://play.acme.example/book?a=b',
      roundDetailsUrl: 'https://rounds.acme.example/{roundId}?lang={language}',
    };
    const first = await call('PUT', '/games/book', game);
    expect(first).toMatchObject({ status: 200, body: { gameId: 'book', ...game } });
    const second = await call('PUT', '/games/book', {
      providerId,
      name: 'Book II',
      status: 'DISABLED',
      launchUrl: null,
    });
    expect(second).toMatchObject({ status: 200, body: { name: 'Book II', status: 'DISABLED' } });
    expect(second.body).not.toHaveProperty('launchUrl');
    expect(second.body).not.toHaveProperty('roundDetailsUrl');
    expect(second.body['createdAt']).toBe(first.body['createdAt']);
    expect((await call('GET', '/games/book')).body).toEqual(second.body);
    expect(application.get(TenancyService).game('book')).toMatchObject({ status: 'DISABLED' });
  });

  test('that ten concurrent requests create is created once', async () => {
    const { id: providerId } = await created('providers');
    const calls = Array.from({ length: 10 }, () =>
      call('PUT', '/games/raced', { providerId, name: 'Raced' }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.every((status) => status === 200)).toBe(true);
    const games = (await call('GET', '/games')).body['items'] as { gameId: string }[];
    expect(games.filter(({ gameId }) => gameId === 'raced')).toHaveLength(1);
  });

  test('needs a provider that exists', async () => {
    const { id: operatorId } = await created('operators');
    for (const providerId of ['nobody', operatorId]) {
      const answer = await call('PUT', '/games/orphan', { providerId, name: 'Orphan' });
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
      expect(answer.body['error']).toBe(`providerId names no provider: ${providerId}`);
    }
  });

  test.each(['a%20b', '%C3%A4', 'x'.repeat(129), '%00'])('may not have the id %s', async (gameId) => {
    const { id: providerId } = await created('providers');
    const answer = await call('PUT', `/games/${gameId}`, { providerId, name: 'Nameless' });
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  });

  test.each([
    'http://rounds.example/{roundId}',
    'javascript:alert(1)',
    'rounds',
    '',
    7,
    'https://rounds.example/{round}',
    'https://rounds.example/{roundId',
    'https://rounds.example/}',
    'https://rounds.example/{}',
    'https://{playerRef}.example/',
    'https://rounds.example:{roundId}/',
    'https://rounds.example\\.{gameId}.example/',
    'https://rounds.example/a b',
    `https://rounds.example/${'x'.repeat(978)}`,
  ])('may not have the roundDetailsUrl %j', async (roundDetailsUrl) => {
    const { id: providerId } = await created('providers');
    const answer = await call('PUT', '/games/shown', { providerId, name: 'Shown', roundDetailsUrl });
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
    expect(answer.body['error']).toMatch(/^roundDetailsUrl /);
  });

  test('may have a roundDetailsUrl of 1000 characters, with any placeholder anywhere but in the host', async () => {
    const { id: providerId } = await created('providers');
    const start =
      'https://rounds.example:8443/{gameId}/{roundId}?p={playerRef}&s={sessionId}&t={transactionId}#{language}';
    const roundDetailsUrl = start.padEnd(1_000, 'x');
    const answer = await call('PUT', '/games/shown', { providerId, name: 'Shown', roundDetailsUrl });
    expect(answer).toMatchObject({ status: 200, body: { roundDetailsUrl } });
  });

  test.each(['javascript:alert(1)', 'play', '', 7])('may not have the launchUrl %j', async (launchUrl) => {
    const { id: providerId } = await created('providers');
    const answer = await call('PUT', '/games/launched', { providerId, name: 'Launched', launchUrl });
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  });
});

describe('a list', () => {
  test.each(['/providers', '/operators', '/games'])(
    '%s has every item once, in the order of ids',
    async (route) => {
      const { id: providerId } = await created('providers');
      for (const suffix of ['b', 'A', 'c', 'a-', 'a.']) {
        await call('POST', '/providers', { id: `list-${suffix}`, ...PROVIDER });
        await call('POST', '/operators', { id: `list.${suffix}`, ...OPERATOR });
        await call('PUT', `/games/list-${suffix}`, { providerId, name: 'Listed' });
      }
      const idOf = (item: Record<string, unknown>) => String(item['id'] ?? item['gameId']);
      const paged: string[] = [];
      let cursor: unknown;
      do {
        const query: string = cursor === undefined ? '?limit=2' : `?limit=2&cursor=${String(cursor)}`;
        const { status, body } = await call('GET', route + query);
        expect(status).toBe(200);
        const items = body['items'] as Record<string, unknown>[];
        expect(items.length).toBeLessThanOrEqual(2);
        paged.push(...items.map(idOf));
        cursor = body['nextCursor'];
      } while (cursor !== undefined);
      const whole = (await call('GET', `${route}?limit=500`)).body;
      expect(whole).not.toHaveProperty('nextCursor');
      expect(paged).toEqual((whole['items'] as Record<string, unknown>[]).map(idOf));
      expect(paged).toEqual([...paged].sort());
      expect(JSON.stringify(whole)).not.toMatch(/secret/i);
    },
  );

  test.each([
    'limit=0',
    'limit=501',
    'limit=x',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'cursor=%00',
    'cursor=IA',
    'x=1',
  ])('refuses ?%s', async (query) => {
    const answer = await call('GET', `/games?${query}`);
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
  });
});

interface Operation {
  security?: unknown;
  summary?: string;
  requestBody?: unknown;
  parameters?: unknown[];
}

test('every route is documented with its body and its key', async () => {
  const response = await fetch(`${address}/docs/admin-json`);
  const document = (await response.json()) as { paths: Record<string, Record<string, Operation>> };
  const routes = Object.entries(document.paths)
    .filter(([path]) => /^\/v1\/admin\/(providers|operators|games)/.test(path))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        route: `${method} ${path}`,
        method,
        operation,
      })),
    );
  expect(routes).toHaveLength(21);
  for (const { method, operation } of routes) {
    expect(operation.security).toEqual([{ 'admin-key': [] }]);
    expect(operation.summary).toBeTruthy();
    expect(operation.requestBody !== undefined).toBe(method !== 'get');
  }
  const list = routes.find(({ route }) => route === 'get /v1/admin/games');
  expect(list?.operation.parameters).toMatchObject([{ name: 'limit' }, { name: 'cursor' }, { name: 'bom' }]);
});
