import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LaunchedSession, Reply } from '../world/world.js';
import {
  ADMIN_KEY,
  bearer,
  FOREIGN_GAME,
  GAME,
  OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  startWorld,
  useWorld,
} from '../world/world.js';
import { ApiDocument, type Entry, type OpenApi } from './document.js';

let document: ApiDocument;
let session: LaunchedSession;
/** The statuses that were answered, as `operation status`. */
const seen = new Set<string>();

const world = useWorld({ DOCS_ENABLED: 'true' });
beforeAll(async () => {
  document = new ApiDocument((await world.request('/docs-json')).json as unknown as OpenApi);
  session = await world.launch();
});

/** Compares the answer with the document. */
function documented(name: string, reply: Reply, status?: number): Reply {
  expect(document.complaints(document.find(name), reply)).toEqual([]);
  if (status !== undefined)
    expect({ name, status: reply.status, text: reply.text }).toMatchObject({ status });
  seen.add(`${name} ${reply.status}`);
  return reply;
}

const VERIFY = 'POST /v1/wallet/session/verify';
const TRANSACTION = 'POST /v1/wallet/transaction';
const BALANCE = 'POST /v1/wallet/balance';
const LAUNCH = 'POST /v1/operator/sessions';
const SESSION = 'GET /v1/operator/sessions/{sessionId}';
const REVOKE = 'POST /v1/operator/sessions/{sessionId}/revoke';
const REVOKE_PLAYER = 'POST /v1/operator/players/{playerRef}/revoke-sessions';

/** A path with its parameters in place. */
function target(name: string, ...values: string[]): string {
  const path = name.slice(name.indexOf(' ') + 1);
  return values.reduce((filled, value) => filled.replace(/\{\w+\}/, value), path);
}

async function call(name: string, body: object, tenant: string, ...values: string[]): Promise<Reply> {
  return world.signed(tenant, target(name, ...values), body);
}

async function admin(name: string, body?: object, ...values: string[]): Promise<Reply> {
  return world.admin(name.split(' ')[0]!, target(name, ...values), body);
}

describe('the answers of the wallet routes are documented', () => {
  test('a session, a balance and each outcome of a transaction', async () => {
    const token = { sessionToken: session.sessionToken };
    documented(VERIFY, await call(VERIFY, token, PROVIDER), 200);
    documented(BALANCE, await call(BALANCE, token, PROVIDER), 200);
    const bet = world.transaction(session, 'BET');
    documented(TRANSACTION, await world.submit(bet), 200);
    expect(documented(TRANSACTION, await world.submit(bet), 200).headers.get('idempotency-replayed')).toBe(
      'true',
    );
    documented(
      TRANSACTION,
      await world.submit(world.transaction(session, 'BET', { amountMinor: 10 ** 9 })),
      200,
    );
    documented(TRANSACTION, await world.submit({ ...bet, amountMinor: 1 }), 400);
    documented(TRANSACTION, await world.submit({ ...bet, kind: 'ADJUSTMENT' }), 400);
    documented(TRANSACTION, await world.submit({ ...bet, playerRef: 'another', transactionId: 'x' }), 400);
  });

  test.each([VERIFY, BALANCE, TRANSACTION])(
    "an unknown session and another provider's at %s",
    async (name) => {
      const foreign = await world.launch({ gameId: FOREIGN_GAME });
      const body = (token: string) => ({ ...world.transaction(session, 'BET'), sessionToken: token });
      documented(name, await call(name, body('unknown'), PROVIDER), 401);
      documented(name, await call(name, body(foreign.sessionToken), PROVIDER), 403);
      documented(name, await call(name, body(session.sessionToken), OTHER_PROVIDER), 403);
    },
  );

  test.each([BALANCE, TRANSACTION])('an operator that does not answer, at %s', async (name) => {
    for (const behaviour of [{ do: 'drop' }, { do: 'hang' }] as const) {
      world.wallet.next(behaviour);
      documented(name, await call(name, world.transaction(session, 'WIN'), PROVIDER), 500);
    }
  });

  test('a transaction in flight', async () => {
    const held = world.wallet.next({ do: 'hold' });
    const win = world.transaction(session, 'WIN');
    const first = world.submit(win);
    await held.arrived;
    documented(TRANSACTION, await world.submit(win), 409);
    held.release();
    await first;
  });

  test('a disabled game and a disabled operator', async () => {
    const put = (status: string) =>
      admin('PUT /v1/admin/games/{gameId}', { providerId: PROVIDER, name: 'g', status }, GAME);
    await put('DISABLED');
    documented(TRANSACTION, await world.submit(world.transaction(session, 'BET')), 503);
    documented(LAUNCH, await call(LAUNCH, { playerRef: 'p', gameId: GAME, currency: 'EUR' }, OPERATOR), 503);
    await put('ACTIVE');
    await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { status: 'DISABLED' });
    documented(BALANCE, await world.balance(session), 503);
    await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { status: 'ACTIVE' });
  });
});

test('the answers of the operator routes are documented', async () => {
  const launch = {
    playerRef: 'dora',
    gameId: GAME,
    currency: 'EUR',
    language: 'en',
    country: 'DE',
    ttlSeconds: 60,
  };
  const launched = documented(LAUNCH, await call(LAUNCH, launch, OPERATOR), 201);
  const sessionId = String(launched.json['sessionId']);
  for (const [name, ...values] of [['GET /v1/operator/sessions'], [SESSION, sessionId]] as const) {
    documented(name, await world.signedGet(OPERATOR, target(name, ...values)), 200);
  }
  documented(REVOKE, await call(REVOKE, { reason: 'KICK' }, OPERATOR, sessionId), 200);
  documented(REVOKE, await call(REVOKE, { reason: 'KICK' }, OPERATOR, randomUUID()), 404);
  documented(REVOKE_PLAYER, await call(REVOKE_PLAYER, { reason: 'OTHER' }, OPERATOR, 'dora'), 200);
});

describe.each([
  {
    tenants: 'providers',
    own: { webhookBaseUrl: 'https://rgs.example/croupier', lateSettlementSeconds: 60 },
  },
  { tenants: 'operators', own: { walletBaseUrl: 'https://wallet.example/v1', walletTimeoutMs: 1000 } },
])('the answers of the routes of $tenants are documented', ({ tenants, own }) => {
  const base = `/v1/admin/${tenants}`;
  test('from creation to rotation', async () => {
    const id = `new-${tenants}`;
    const body = { id, name: 'New', requestsPerSecond: 5, ...own };
    documented(`POST ${base}`, await admin(`POST ${base}`, body), 201);
    documented(`POST ${base}`, await admin(`POST ${base}`, body), 409);
    documented(`GET ${base}`, await world.admin('GET', `${base}?limit=1`), 200);
    for (const [name, change] of [
      [`GET ${base}/{id}`, undefined],
      [`PATCH ${base}/{id}`, { name: 'Newer' }],
      [`POST ${base}/{id}/pause`, { reason: 'moved', until: '2999-12-31T00:00:00Z' }],
      [`POST ${base}/{id}/resume`, undefined],
      [`GET ${base}/{id}/health`, undefined],
      [`POST ${base}/{id}/secret/rotate`, { overlapSeconds: 0 }],
    ] as const) {
      documented(name, await admin(name, change, id), 200);
      documented(name, await admin(name, change, 'nobody'), 404);
    }
  });
});

test('the answers of the routes of games are documented', async () => {
  const game = { providerId: PROVIDER, name: 'New', launchUrl: 'https://play.example/new' };
  documented('PUT /v1/admin/games/{gameId}', await admin('PUT /v1/admin/games/{gameId}', game, 'new'), 200);
  documented('PUT /v1/admin/games/{gameId}', await admin('PUT /v1/admin/games/{gameId}', game, 'new'), 200);
  documented(
    'GET /v1/admin/games/{gameId}',
    await admin('GET /v1/admin/games/{gameId}', undefined, 'new'),
    200,
  );
  documented(
    'GET /v1/admin/games/{gameId}',
    await admin('GET /v1/admin/games/{gameId}', undefined, 'none'),
    404,
  );
  for (const [name, body] of [
    ['POST /v1/admin/games/{gameId}/pause', { reason: 'moved' }],
    ['POST /v1/admin/games/{gameId}/resume', undefined],
  ] as const) {
    documented(name, await admin(name, body, 'new'), 200);
    documented(name, await admin(name, body, 'none'), 404);
  }
  documented('GET /v1/admin/games', await world.admin('GET', '/v1/admin/games?limit=1'), 200);
});

test('the answer about the caller is documented', async () => {
  documented('GET /v1/admin/me', await world.admin('GET', '/v1/admin/me'), 200);
});

test('the list of pauses is documented', async () => {
  documented('GET /v1/admin/pauses', await world.admin('GET', '/v1/admin/pauses'), 200);
});

test('the list of health scores is documented', async () => {
  documented('GET /v1/admin/health-scores', await world.admin('GET', '/v1/admin/health-scores'), 200);
});

test('the live view is documented', async () => {
  documented('GET /v1/admin/overview', await world.admin('GET', '/v1/admin/overview'), 200);
  const reading = new AbortController();
  const { status, headers } = await fetch(`${world.url}/v1/admin/stream`, {
    headers: bearer(ADMIN_KEY),
    signal: reading.signal,
  });
  reading.abort();
  documented('GET /v1/admin/stream', { status, headers, text: '', json: {} }, 200);
});

test('the answers of the monitoring routes are documented', async () => {
  for (const name of ['GET /health/live', 'GET /health/ready', 'GET /metrics']) {
    documented(name, await world.request(target(name)), 200);
  }
});

/** A path with valid parameters for which no object exists. */
const namingNothing = (path: string) =>
  path.replace('{currency}', 'EUR').replaceAll(/\{\w+\}/g, randomUUID());

/** Accepts a body of 64 MiB. */
const STREAMS_ITS_BODY = 'POST /v1/admin/reconciliations';

describe('the refusals of every operation are documented', () => {
  /** An authenticated call of the operation with the given mistakes. */
  function refused(entry: Entry, init: { body?: string; headers?: Record<string, string>; query?: string }) {
    const path = namingNothing(entry.path) + (init.query ?? '');
    const tenant = entry.audience === 'operator' ? OPERATOR : PROVIDER;
    const signed = entry.operation.security.some((one) => !('admin-key' in one));
    const method = entry.method;
    return world.request(path, {
      method,
      headers: {
        ...(init.body !== undefined && { 'Content-Type': 'application/json' }),
        ...(signed ? world.signature(tenant, path, init.body ?? '', { method }) : bearer(ADMIN_KEY)),
        ...init.headers,
      },
      ...(init.body !== undefined && { body: init.body }),
    });
  }

  test('an unauthenticated call', async () => {
    for (const entry of document.entries.filter(({ operation }) => operation.security.length > 0)) {
      const path = entry.path.replaceAll(/\{\w+\}/g, randomUUID());
      documented(entry.name, await world.request(path, { method: entry.method }), 401);
    }
  });

  test('a body that is not JSON, is compressed or is too large', async () => {
    for (const entry of document.entries.filter(({ method }) => method !== 'GET')) {
      documented(entry.name, await refused(entry, { body: '{' }), 400);
      documented(
        entry.name,
        await refused(entry, { body: '{}', headers: { 'Content-Encoding': 'gzip' } }),
        415,
      );
      if (entry.name === STREAMS_ITS_BODY) continue;
      documented(entry.name, await refused(entry, { body: `"${'x'.repeat(300_000)}"` }), 413);
    }
  });

  test('a field in an unexpected body', async () => {
    const bodiless = document.entries.filter(
      ({ method, operation }) => method !== 'GET' && !operation.requestBody,
    );
    expect(bodiless.length).toBeGreaterThanOrEqual(8);
    for (const entry of bodiless) {
      const { json } = documented(entry.name, await refused(entry, { body: '{"spins":1}' }), 400);
      expect(json).toEqual({ error: '"spins" is not a known field' });
      expect((await refused(entry, { body: '{}' })).status).not.toBe(400);
    }
  });

  test('a path that cannot be decoded', async () => {
    for (const { name, method, path } of document.entries.filter((entry) => entry.path.includes('{'))) {
      documented(name, await world.request(path.replaceAll(/\{\w+\}/g, '%FF'), { method }), 404);
    }
  });

  test('an invalid query', async () => {
    for (const entry of document.entries) {
      const parameters = entry.operation.parameters ?? [];
      if (!parameters.some((parameter) => 'in' in parameter && parameter.in === 'query')) continue;
      documented(entry.name, await refused(entry, { query: '?no-such-parameter=1' }), 400);
    }
  });

  test('a tenant that exceeds its limit, and metrics without a token', async () => {
    const busy = await startWorld({ REQUESTS_PER_SECOND: '1', METRICS_TOKEN: 'a-token' });
    try {
      documented('GET /metrics', await busy.request('/metrics'), 401);
      for (const { name, method, path, audience, operation } of document.entries) {
        if (!operation.responses['429'] || path.startsWith('/v1/admin')) continue;
        const tenant = audience === 'operator' ? OPERATOR : PROVIDER;
        const full = path.replaceAll(/\{\w+\}/g, randomUUID());
        let reply: Reply;
        do
          reply = await busy.request(full, { method, headers: busy.signature(tenant, full, '', { method }) });
        while (reply.status !== 429);
        expect(Number(documented(name, reply, 429).headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
    } finally {
      await busy.stop();
    }
  });
});

/** Statuses that no request can provoke, because the service itself would have to fail, or that need other keys. */
const OUT_OF_REACH = [/ 500$/, /^GET \/health\/ready 503$/, / \/v1\/admin\/.* (403|429)$/];
/** Operations that the tests of their own rooms call; each answer is compared with the document there, too. */
const ELSEWHERE =
  /\/(free-spins|free-spins-winnings|keys|audit|transactions|rounds|search|adjustments|callbacks|limits|approvals|attention|reconciliations)\b|admin\/sessions/;

test('every operation and status that can be provoked was tried', () => {
  const untried = document.entries
    .filter(({ path }) => !ELSEWHERE.test(path))
    .flatMap(({ name, operation }) => Object.keys(operation.responses).map((status) => `${name} ${status}`))
    .filter((one) => !seen.has(one) && !OUT_OF_REACH.some((pattern) => pattern.test(one)));
  expect(untried).toEqual([]);
});
