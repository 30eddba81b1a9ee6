import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { Database } from '../../src/database/database.js';
import { Metrics } from '../../src/observability/metrics.js';
import { ADMIN_KEY, bearer, startApplication, useWorld } from '../world/world.js';
import { TestClock } from '../world/test-clock.js';

const world = useWorld({ DOCS_ENABLED: 'true' });

describe('health', () => {
  test('is live and ready', async () => {
    expect((await world.request('/health/live')).json).toEqual({ status: 'ok' });
    const ready = await world.request('/health/ready');
    expect(ready.status).toBe(200);
    const shared = inject('redisUrl') === null ? {} : { redis: 'up' };
    expect(ready.json).toEqual({
      status: 'ok',
      checks: { database: 'up', migrations: 'up', ...shared, tenants: 'up' },
    });
  });
});

describe('a route that anyone may call at any rate', () => {
  /** How often something that happens once a second may happen during the work. */
  async function mostDuring(work: () => Promise<unknown>): Promise<number> {
    const startedMs = performance.now();
    await work();
    return Math.ceil((performance.now() - startedMs) / 1_000) + 1;
  }

  test('costs one check of the database a second, however often it is called', async () => {
    const answers = vi.spyOn(world.app.get(Database), 'answers');
    const most = await mostDuring(async () => {
      const replies = await Promise.all(Array.from({ length: 50 }, () => world.request('/health/ready')));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    });
    expect(answers.mock.calls.length).toBeLessThanOrEqual(most);
    answers.mockRestore();
  });

  test('costs one reading of the metrics a second, however often it is called', async () => {
    const text = vi.spyOn(world.app.get(Metrics), 'text');
    const most = await mostDuring(() =>
      Promise.all(Array.from({ length: 50 }, () => world.request('/metrics'))),
    );
    expect(text.mock.calls.length).toBeLessThanOrEqual(most);
    text.mockRestore();
  });
});

describe('metrics', () => {
  test('count requests by route and outcome, operator calls, and undecided transactions', async () => {
    const session = await world.launch();
    await world.submit(world.transaction(session, 'BET'));
    const lost = world.transaction(session, 'BET');
    world.wallet.next({ do: 'drop' }, { transactionId: lost.transactionId });
    await world.submit(lost);
    await world.signed('nobody', '/v1/wallet/balance', {});
    // An answer may be a second old.
    const fresh = async () => (await world.request('/metrics')).text;
    await expect.poll(fresh).toContain('{reason="unknown_tenant"} 1');
    const text = await fresh();
    expect(text).toContain(
      'croupier_http_requests_total{route="POST /v1/wallet/transaction",outcome="200",provider="spinwell"} 1',
    );
    expect(text).toContain('outcome="OPERATOR_UNAVAILABLE",provider="spinwell"} 1');
    expect(text).toContain('route="POST /v1/operator/sessions",outcome="201",operator="lucky-casino"} 1');
    const calls = 'croupier_operator_calls_total{operator="lucky-casino",operation="BET"';
    expect(text).toContain(`${calls},outcome="APPROVED"} 1`);
    expect(text).toContain(`${calls},outcome="unavailable"} 1`);
    expect(text).toContain('croupier_operator_call_duration_seconds_count{operator="lucky-casino"} 2');
    const tenants = 'operator="lucky-casino",provider="spinwell"';
    expect(text).toContain(
      `croupier_transactions_total{${tenants},kind="BET",state="APPROVED",mode="REAL"} 1`,
    );
    expect(text).toContain(`croupier_transactions_undecided{${tenants},state="TIMED_OUT"} 1`);
    const oldest = new RegExp(
      `^croupier_transactions_undecided_oldest_seconds{${tenants}} (\\S+)$`,
      'm',
    ).exec(text);
    expect(Number(oldest?.[1])).toBeGreaterThan(0);
    expect(text).toContain('croupier_ready 1');
    expect(text).toContain('croupier_database_up 1');
    expect(text).toMatch(/^croupier_database_connections_limit{pool="group-commit"} [1-9]/m);
    expect(text).toContain('croupier_signature_failures_total{reason="unknown_tenant"} 1');
    expect(text).not.toContain(session.playerRef);
  });
});

describe('a service with METRICS_TOKEN and without documents', () => {
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const environment = { DATABASE_URL: world.databaseUrl, METRICS_TOKEN: 'm-token', DOCS_ENABLED: 'false' };
    const { app, url: address } = await startApplication(environment, new TestClock());
    url = address;
    close = () => app.close();
  });
  afterAll(() => close());

  test('serves its metrics only with the token', async () => {
    const refusal = await fetch(`${url}/metrics`);
    expect(refusal.status).toBe(401);
    const document = (await world.request('/docs-json')).json as {
      paths: { '/metrics': { get: { responses: Record<string, unknown> } } };
    };
    expect(document.paths['/metrics'].get.responses['401']).toMatchObject({
      content: { 'application/json': { examples: { UNAUTHORIZED: { value: await refusal.json() } } } },
    });
    const statusFor = async (token: string) =>
      (await fetch(`${url}/metrics`, { headers: bearer(token) })).status;
    expect([await statusFor(ADMIN_KEY), await statusFor('m-token')]).toEqual([401, 200]);
  });

  test.each(['/docs', '/docs-json', '/docs/provider', '/docs/admin-json'])('has no %s', async (path) => {
    expect((await fetch(url + path)).status).toBe(404);
  });
});

describe('the documents', () => {
  type Document = {
    paths: Record<
      string,
      Record<string, { tags: string[]; responses: Record<string, object>; security?: object[] }>
    >;
    components: { securitySchemes: Record<string, object> };
  };
  const document = async (path: string) => (await world.request(path)).json as unknown as Document;

  test('describe every route of the service', async () => {
    const { paths, components } = await document('/docs-json');
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v1/wallet/session/verify',
        '/v1/wallet/transaction',
        '/v1/wallet/balance',
        '/v1/operator/sessions',
        '/v1/operator/sessions/{sessionId}/revoke',
        '/v1/operator/players/{playerRef}/revoke-sessions',
        '/v1/admin/providers',
        '/v1/admin/operators/{id}',
        '/v1/admin/games/{gameId}',
        '/health/ready',
        '/metrics',
      ]),
    );
    expect(Object.keys(components.securitySchemes)).toEqual(
      expect.arrayContaining(['tenant-id', 'timestamp', 'nonce', 'signature', 'admin-key']),
    );
    const statuses = Object.keys(paths['/v1/wallet/transaction']?.['post']?.responses ?? {});
    expect(statuses).toEqual(['200', '400', '401', '403', '409', '413', '415', '429', '500', '503']);
  });

  test.each([
    ['provider', '/v1/wallet/transaction', '/v1/operator/sessions'],
    ['operator', '/v1/operator/sessions', '/v1/wallet/transaction'],
    ['admin', '/v1/admin/providers', '/v1/wallet/transaction'],
  ])('for the %s contain its routes and no others', async (audience, own, foreign) => {
    const { paths } = await document(`/docs/${audience}-json`);
    expect(Object.keys(paths)).toContain(own);
    expect(Object.keys(paths)).not.toContain(foreign);
    const page = await world.request(`/docs/${audience}`);
    expect(page.status).toBe(200);
    expect(page.headers.get('x-request-id')).not.toBeNull();
    expect(page.text).toContain('swagger-ui');
  });
});
