import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DatabaseClock } from '../../src/database/database-clock.js';
import { HealthScores } from '../../src/health-scores/health-scores.service.js';
import { HealthPeriodStore, READ } from '../../src/health-scores/health-period.store.js';
import {
  latencyCell,
  LATENCY_BOUNDS_MS,
  LATENCY_CELLS,
  scoreOf,
  stateOf,
} from '../../src/health-scores/rules/score.js';
import { Instance } from '../../src/runtime/instance.js';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { until } from '../world/patience.js';
import { type Explained, nodesOf, type PlanNode } from '../world/plan.js';
import {
  CSV,
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  startWorld,
  type World,
} from '../world/world.js';

let here: World;
let there: World;

beforeAll(async () => {
  here = await startWorld({ CALLBACK_TIMEOUT_MS: '2000' });
  there = await here.another(here.clock);
});
afterAll(async () => {
  await there.app.close();
  await here.stop();
});

interface Score {
  readonly state: string;
  readonly windows: Record<
    '1' | '5' | '60',
    { calls: number; successRate: number | null; p95Ms: number | null; timeouts: number }
  >;
}

/** The score that both instances answer, once both have shared their calls and read the pauses. */
async function scoreOfTenant(kind: 'operators' | 'providers', id: string): Promise<Score> {
  for (const { app } of [here, there]) {
    await app.get(HealthScores).share();
    await app.get(TenancyService).reload();
  }
  const answers = await Promise.all(
    [here, there].map((world) => world.admin('GET', `/v1/admin/${kind}/${id}/health`)),
  );
  for (const { status } of answers) expect(status).toBe(200);
  expect(answers[1]!.json).toEqual(answers[0]!.json);
  return answers[0]!.json as unknown as Score;
}

/** Calls of another instance that began this number of minutes ago, each taking 80 ms. */
async function earlier(
  tenantId: string,
  minutesAgo: number,
  calls: number,
  succeeded: number,
): Promise<void> {
  await here.sql.run(
    `INSERT INTO health_periods (tenant_id, started_at, instance_id, calls, succeeded, timeouts, latency)
     VALUES ($1, clock_timestamp() - make_interval(mins => $2), gen_random_uuid(), $3::integer, $4, 0,
             array_fill(0, ARRAY[$5::integer - 1]) || $3::integer || array_fill(0, ARRAY[$6::integer - $5::integer]))`,
    [tenantId, minutesAgo, calls, succeeded, latencyCell(80) + 1, LATENCY_CELLS],
  );
}

const NO_CALLS = { calls: 0, successRate: null, p95Ms: null, timeouts: 0 };

describe('the health of an operator', () => {
  test('is ok without a call', async () => {
    expect(await scoreOfTenant('operators', OTHER_OPERATOR)).toEqual({
      state: 'ok',
      windows: { 1: NO_CALLS, 5: NO_CALLS, 60: NO_CALLS },
    });
  });

  test('counts the calls of all instances, in three windows', async () => {
    const session = await here.launch();
    expect((await here.submit(here.transaction(session, 'BET'))).status).toBe(200);
    here.wallet.next({ do: 'decline', reason: 'OTHER' });
    expect((await here.submit(here.transaction(session, 'BET'))).status).toBe(200);
    expect((await there.balance(session)).status).toBe(200);
    const demo = await here.launch({ mode: 'DEMO' });
    await here.submit(here.transaction(demo, 'BET'));
    const good = await scoreOfTenant('operators', OPERATOR);
    expect(good.state).toBe('ok');
    expect(good.windows[1]).toMatchObject({ calls: 3, successRate: 1, timeouts: 0 });
    expect(good.windows[1].p95Ms).toBeGreaterThan(0);
    expect(good.windows[60]).toEqual(good.windows[1]);

    await here.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { walletTimeoutMs: 500 });
    here.wallet.next({ do: 'hang' });
    expect((await here.submit(here.transaction(session, 'WIN'))).status).toBe(500);
    await here.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { walletTimeoutMs: null });
    // It may have read the short time-out.
    await there.app.get(TenancyService).reload();
    here.wallet.next({ do: 'answer', status: 503 });
    expect((await there.submit(there.transaction(session, 'WIN'))).status).toBe(500);
    const bad = await scoreOfTenant('operators', OPERATOR);
    expect(bad.state).toBe('degraded');
    expect(bad.windows[5]).toMatchObject({ calls: 5, successRate: 3 / 5, timeouts: 1 });

    await earlier(OPERATOR, 3, 95, 95);
    await earlier(OPERATOR, 30, 900, 0);
    await earlier(OPERATOR, 61, 900, 0);
    const { state, windows } = await scoreOfTenant('operators', OPERATOR);
    expect(state).toBe('ok');
    expect(windows[1]).toMatchObject({ calls: 5, successRate: 3 / 5 });
    expect(windows[5]).toMatchObject({ calls: 100, successRate: 0.98 });
    expect(windows[60]).toMatchObject({ calls: 1000, successRate: 0.098 });
    expect(windows[60].p95Ms).toBeGreaterThan(50);
    expect(windows[60].p95Ms).toBeLessThanOrEqual(100);
  });

  test('is open while a breaker of any instance is open, and paused takes precedence', async () => {
    const session = await there.launch({}, OTHER_OPERATOR);
    const dropping = there.wallet.always({ do: 'drop' }, { playerRef: session.playerRef });
    for (let n = 0; n < 20; n += 1) await there.submit(there.transaction(session, 'BET'));
    dropping.withdraw();
    expect((await scoreOfTenant('operators', OTHER_OPERATOR)).state).toBe('open');
    const path = `/v1/admin/operators/${OTHER_OPERATOR}`;
    await here.admin('POST', `${path}/pause`, { reason: 'the breaker is open' });
    expect((await here.admin('GET', `${path}/health`)).json['state']).toBe('paused');
    await here.admin('POST', `${path}/resume`);
    expect((await here.admin('GET', `${path}/health`)).json['state']).toBe('open');
    // The breaker forgets after 30 seconds; the success rate of five minutes stays.
    there.clock.advance(31);
    expect((await scoreOfTenant('operators', OTHER_OPERATOR)).state).toBe('degraded');
  });
});

test('the calls of a provider are the callbacks to it', async () => {
  const { sessionId } = await here.launch();
  expect((await here.revoke(sessionId)).status).toBe(200);
  expect((await scoreOfTenant('providers', PROVIDER)).windows[1]).toMatchObject({ calls: 1, successRate: 1 });
  for (const behaviour of [{ do: 'answer', status: 500 }, { do: 'hang' }] as const) {
    const session = await here.launch();
    here.provider.next(behaviour, { sessionId: session.sessionId });
    await here.revoke(session.sessionId);
  }
  const { state, windows } = await scoreOfTenant('providers', PROVIDER);
  expect(state).toBe('degraded');
  expect(windows[60]).toMatchObject({ calls: 3, successRate: 1 / 3, timeouts: 1 });
  await here.admin('POST', `/v1/admin/providers/${PROVIDER}/pause`, { reason: 'moved' });
  const path = `/v1/admin/providers/${PROVIDER}/health`;
  expect((await here.admin('GET', path)).json['state']).toBe('paused');
  await here.admin('POST', `/v1/admin/providers/${PROVIDER}/resume`);
});

test('the list has every operator and provider, in pages and as CSV', async () => {
  const all = await here.admin('GET', '/v1/admin/health-scores');
  const items = all.json['items'] as { kind: string; id: string }[];
  expect(items.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    `OPERATOR ${OTHER_OPERATOR}`,
    `OPERATOR ${OPERATOR}`,
    `PROVIDER ${OTHER_PROVIDER}`,
    `PROVIDER ${PROVIDER}`,
  ]);
  const first = await here.admin('GET', '/v1/admin/health-scores?limit=3');
  const cursor = String(first.json['nextCursor']);
  const rest = await here.admin('GET', `/v1/admin/health-scores?cursor=${cursor}`);
  expect([...(first.json['items'] as object[]), ...(rest.json['items'] as object[])]).toEqual(items);
  const { call } = await here.administrator('support');
  const csv = await call('GET', '/v1/admin/health-scores', undefined, CSV);
  expect(csv.text.split('\r\n')[0]).toBe('kind,id,state,windows');
});

test.each(['operators/nobody', `operators/${PROVIDER}`, `providers/${OPERATOR}`])(
  'the health of %s is a 404',
  async (path) => {
    expect((await here.admin('GET', `/v1/admin/${path}/health`)).status).toBe(404);
  },
);

/** How far the periods are ahead of the clock, in milliseconds. */
let aheadMs = 0;

/** Ends the current period at both instances, by their clocks, and merges it. */
async function endPeriod(): Promise<void> {
  aheadMs += 10_000;
  for (const { app } of [here, there]) {
    const clock = app.get(DatabaseClock);
    const ahead = vi.spyOn(clock, 'now').mockReturnValue(new Date(clock.now().getTime() + aheadMs));
    await app.get(HealthScores).share();
    ahead.mockRestore();
    await app.get(HealthScores).merge();
  }
}

describe('once a period is over', () => {
  const callsOf = async (id: string) => (await scoreOfTenant('operators', id)).windows[60].calls;

  test('its calls at all instances are in one row, each once', async () => {
    const before = await callsOf(OPERATOR);
    const session = await here.launch();
    for (const world of [here, there]) expect((await world.balance(session)).status).toBe(200);
    expect(await callsOf(OPERATOR)).toBe(before + 2);
    await endPeriod();
    expect(await callsOf(OPERATOR)).toBe(before + 2);
    const [stored] = await here.sql.run<{ own: number; rows: number; periods: number }>(
      `SELECT count(*) FILTER (WHERE instance_id = ANY ($2::uuid[]))::integer AS own, count(*)::integer AS rows,
              count(DISTINCT date_bin('10 seconds', started_at, 'epoch'))::integer AS periods
         FROM health_periods
        WHERE tenant_id = $1 AND started_at > clock_timestamp() - interval '1 minute'`,
      [OPERATOR, [here, there].map(({ app }) => app.get(Instance).id)],
    );
    expect(stored!.own).toBe(0);
    expect(stored!.rows).toBe(stored!.periods);
  });

  test('each call is counted once although an answer of the database was lost', async () => {
    const before = await callsOf(OPERATOR);
    const session = await here.launch();
    expect((await here.balance(session)).status).toBe(200);
    const store = here.app.get(HealthPeriodStore);
    const lost: string[] = [];
    for (const name of ['share', 'merge'] as const) {
      const statement = store[name].bind(store) as (...values: unknown[]) => Promise<void>;
      vi.spyOn(store, name).mockImplementationOnce(async (...values: unknown[]) => {
        await statement(...values);
        lost.push(name);
        throw new Error('the connection was lost');
      });
    }
    for (let pass = 0; pass < 3; pass += 1) await endPeriod();
    expect(lost).toEqual(['share', 'merge']);
    expect(await callsOf(OPERATOR)).toBe(before + 1);
  });

  test('calls are shared while its merge waits for other instances', async () => {
    const before = await callsOf(OPERATOR);
    const session = await here.launch();
    let release = () => {};
    const waiting = new Promise<void>((resolve) => (release = resolve));
    const merge = vi.spyOn(here.app.get(HealthPeriodStore), 'merge').mockReturnValueOnce(waiting);
    const ended = endPeriod();
    await until(() => Promise.resolve(merge.mock.calls.length > 0));
    expect((await here.balance(session)).status).toBe(200);
    expect(await callsOf(OPERATOR)).toBe(before + 1);
    release();
    await ended;
  });

  test('the counts that many instances merge at once add up', async () => {
    const store = here.app.get(HealthPeriodStore);
    const latency = Array.from({ length: LATENCY_CELLS }, (_, cell) => (cell < 3 ? 1 : 0));
    const each = { calls: 3, succeeded: 2, timeouts: 1, latency, breakerOpen: false };
    const counts = Array.from({ length: 100 }, (_, n) => ({ tenantId: `merged-${n}`, ...each }));
    const orders = [counts, counts.toReversed()];
    const began = new Date(Math.floor(Date.now() / 10_000) * 10_000);
    const instances = Array.from({ length: 20 }, () => randomUUID());
    for (const [n, id] of instances.entries()) await store.share(id, began, orders[n % 2]!);
    await Promise.all(instances.map((id) => store.merge(id, began)));
    const rows = await here.sql.run(
      `SELECT DISTINCT calls, succeeded, timeouts, latency FROM health_periods WHERE tenant_id LIKE 'merged-%'`,
    );
    const sums = { calls: 60, succeeded: 40, timeouts: 20, latency: latency.map((n) => n * 20) };
    expect(rows).toEqual([sums]);
  });
});

test('rows older than an hour are removed once a period is over', async () => {
  const old = async () => {
    const [row] = await here.sql.run<{ count: number }>(
      `SELECT count(*)::integer AS count FROM health_periods
        WHERE started_at < clock_timestamp() - interval '61 minutes'`,
    );
    return row!.count;
  };
  await here.sql.run(
    `INSERT INTO health_periods (tenant_id, started_at, instance_id, calls, succeeded, timeouts, latency)
     SELECT $1, clock_timestamp() - interval '62 minutes', gen_random_uuid(), 1, 1, 0, array_fill(0, ARRAY[$2::integer])
       FROM generate_series(1, 20000)`,
    [OPERATOR, LATENCY_CELLS],
  );
  expect(await old()).toBeGreaterThanOrEqual(20_000);
  await endPeriod();
  expect(await old()).toBe(0);
});

test('the scores of a page are read by the index', async () => {
  await here.sql.run(
    `INSERT INTO health_periods (tenant_id, started_at, instance_id, calls, succeeded, timeouts, latency)
     SELECT 'tenant-' || n / 360, clock_timestamp() - make_interval(secs => n % 360 * 10), gen_random_uuid(), 1, 1, 0,
            array_fill(0, ARRAY[${LATENCY_CELLS}])
       FROM generate_series(0, 20000) n;
     ANALYZE health_periods`,
  );
  const plan = await here.sql.run<Explained<PlanNode>>(`EXPLAIN (FORMAT json) ${READ.text}`, [
    ['tenant-7'],
    60,
  ]);
  expect(nodesOf(plan)).toContainEqual(
    expect.objectContaining({ 'Index Name': 'health_periods_pkey' }) as PlanNode,
  );
});

describe('the score of counted calls', () => {
  const counts = (latencies: readonly number[], succeeded = latencies.length) => {
    const latency = new Array<number>(LATENCY_CELLS).fill(0);
    for (const ms of latencies) latency[latencyCell(ms)]! += 1;
    return { calls: latencies.length, succeeded, timeouts: 0, latency };
  };
  const times = (n: number, ms: number) => new Array<number>(n).fill(ms);

  test.each<[string, number[][], number | null]>([
    ['no call', [[]], null],
    ['one call of 40 ms', [[40]], 49],
    ['calls of two periods', [times(95, 10), times(5, 400)], 12],
    ['a slow tenth', [times(90, 10), times(10, 400)], 400],
    ['calls longer than every bound', [times(10, 100_000)], LATENCY_BOUNDS_MS.at(-1)!],
    ['calls that took no time', [times(10, 0)], 1],
  ])('%s', (_, periods, p95Ms) => {
    expect(scoreOf(periods.map((each) => counts(each))).p95Ms).toBe(p95Ms);
  });

  test.each<[number, boolean, boolean, string]>([
    [1, false, false, 'ok'],
    [0.95, false, false, 'ok'],
    [0.94, false, false, 'degraded'],
    [0.94, false, true, 'open'],
    [1, true, true, 'paused'],
  ])('a success rate of %d, paused %s, breaker open %s: %s', (rate, paused, breakerOpen, state) => {
    const score = scoreOf([counts(times(100, 10), rate * 100)]);
    expect(stateOf(score, { paused, breakerOpen })).toBe(state);
  });
});
