import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { migrate, openDataSource } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { letPass } from '../desk/desk.js';
import { createMigratedDatabase, createTestDatabase } from '../world/database.js';
import { DatabaseProxy, type Moment } from '../world/database-proxy.js';
import { waitingForLocks } from '../world/locks.js';
import { PATIENCE, until } from '../world/patience.js';
import { SqlConsole } from '../world/sql-console.js';
import { GAME, OPERATOR, PROVIDER, type Reply, useWorld, type World } from '../world/world.js';

const MOMENTS: readonly Moment[] = ['before', 'after'];

let proxy: DatabaseProxy;
/** An instance that reaches the database through the proxy. */
let instance: World;
const fatal: unknown[] = [];
const note = (error: unknown) => void fatal.push(error);

const world = useWorld();
beforeAll(async () => {
  process.on('uncaughtException', note).on('unhandledRejection', note);
  proxy = await DatabaseProxy.start(world.databaseUrl);
  instance = await world.another(world.clock, { DATABASE_URL: proxy.url });
});
afterEach(() => expect(fatal.splice(0)).toEqual([]));
afterAll(async () => {
  await instance.app.close();
  await proxy.stop();
  process.off('uncaughtException', note).off('unhandledRejection', note);
});

type Request = () => Promise<Reply>;

async function bet(): Promise<{ body: ReturnType<World['transaction']>; submit: Request }> {
  const session = await world.launch();
  // An instance takes the shortcut for new BETs in sessions that it has seen.
  await instance.balance(session);
  const body = world.transaction(session, 'BET');
  return { body, submit: () => instance.submit(body) };
}

/** Requests that are prepared on the other instance and may be repeated unchanged. */
const requests: Record<string, () => Promise<{ send: Request; transactionId?: string }>> = {
  'a BET': async () => {
    const { body, submit } = await bet();
    return { send: submit, transactionId: body.transactionId };
  },
  'the first BET of a session': async () => {
    const body = world.transaction(await world.launch(), 'BET');
    return { send: () => instance.submit(body), transactionId: body.transactionId };
  },
  'a ROLLBACK': async () => {
    const session = await world.launch();
    const target = world.transaction(session, 'BET');
    await world.submit(target);
    const { transactionId: originalTransactionId, roundId } = target;
    const body = world.transaction(session, 'ROLLBACK', { originalTransactionId, roundId });
    return { send: () => instance.submit(body), transactionId: body.transactionId };
  },
  'a balance': async () => {
    const session = await world.launch();
    return { send: () => instance.balance(session) };
  },
  'a launch': async () => ({
    send: () =>
      instance.signed(OPERATOR, '/v1/operator/sessions', { playerRef: 'ann', gameId: GAME, currency: 'EUR' }),
  }),
  'a revocation': async () => {
    const { sessionId } = await world.launch();
    return { send: () => instance.revoke(sessionId) };
  },
  'a change of a provider': async () => ({
    send: () => instance.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { name: randomUUID() }),
  }),
  'a list': async () => ({ send: () => instance.admin('GET', '/v1/admin/providers') }),
};

const STATEMENTS: readonly [request: string, statement: string, words: string][] = [
  ['a list', 'its repository', 'COLLATE'],
  ['a balance', 'a look-up by group commit', 'session_by_token'],
  ['a BET', 'its claim', 'transaction_claim_bet'],
  ['a BET', 'its settlement', 'transaction_settle'],
  ['the first BET of a session', 'its claim', 'transaction_claim'],
  ['a launch', 'its insert', 'session_insert'],
  ['a ROLLBACK', 'the start of its transaction', 'START TRANSACTION'],
  ['a ROLLBACK', 'a statement within its claim', 'transaction_mark_target'],
  ['a ROLLBACK', 'the COMMIT of its claim', 'COMMIT'],
  ['a ROLLBACK', 'its settlement', 'transaction_settle_rollback'],
  ['a revocation', 'its update', 'session_revoke'],
  ['a change of a provider', 'its entry in the audit log', 'audit_append'],
  ['a change of a provider', 'its COMMIT', 'COMMIT'],
];
const CASES = STATEMENTS.flatMap((each) => MOMENTS.map((moment) => [...each, moment] as const));

test.each(CASES)(
  '%s whose connection is reset at %s (%s), %s it, may be sent again',
  async (...[name, , words, moment]) => {
    const { send, transactionId } = await requests[name]!();
    const cut = proxy.cut(words, moment);
    const refused = await send();
    cut.withdraw();
    expect(cut.count).toBeGreaterThan(0);
    expect([refused.status, refused.headers.get('x-next-action')]).toEqual([500, 'retry-same-request']);
    let answered = await send();
    if (answered.status === 409 && transactionId !== undefined) {
      // A claim without a settlement waits for its lease.
      await world.endLease(transactionId);
      answered = await send();
    }
    expect([200, 201]).toContain(answered.status);
    if (transactionId === undefined) return;
    expect(answered.json).toMatchObject({ status: 'APPROVED' });
    expect(world.wallet.booked(transactionId)?.movements).toBe(1);
  },
);

describe('a committed settlement whose answer was lost', () => {
  const reviewed = async () => {
    const { json } = await world.admin('GET', '/v1/admin/free-spins-winnings/flagged?limit=500');
    return (json['items'] as { transactionId: string }[]).map(({ transactionId }) => transactionId);
  };
  const settled = async (kind: string) => {
    const counter = new RegExp(
      `^croupier_transactions_total{[^}]*kind="${kind}",state="APPROVED",mode="REAL"} (.*)$`,
      'gm',
    );
    const counts = [...(await instance.metrics()).matchAll(counter)].map(([, count]) => Number(count));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  test('of a WIN is answered and counted like any other, and the WIN is reviewed', async () => {
    const before = await settled('WIN');
    const body = world.transaction(await world.launch(), 'WIN', { freeSpinsRef: `unknown-${randomUUID()}` });
    const cut = proxy.cut('transaction_settle', 'after', 1);
    const reply = await instance.submit(body);
    cut.withdraw();
    expect(cut.count).toBe(1);
    expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(await settled('WIN')).toBe(before + 1);
    await expect.poll(reviewed).toContain(body.transactionId);
  });

  test('of a ROLLBACK is answered and counted like any other', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    await world.submit(bet);
    const before = await settled('ROLLBACK');
    const { transactionId: originalTransactionId, roundId } = bet;
    const cut = proxy.cut('transaction_settle_rollback', 'after', 1);
    const reply = await instance.submit(
      world.transaction(session, 'ROLLBACK', { originalTransactionId, roundId }),
    );
    cut.withdraw();
    expect(cut.count).toBe(1);
    expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(await settled('ROLLBACK')).toBe(before + 1);
    expect(await world.stateOf(bet.transactionId)).toBe('ROLLED_BACK');
  });
});

describe('continues after resets:', () => {
  test.each(MOMENTS)('the polling of the directory, %s the statement', async (moment) => {
    const cut = proxy.cut('tenancy_version', moment);
    await expect.poll(() => cut.count).toBeGreaterThan(1);
    expect((await (await bet()).submit()).json).toMatchObject({ status: 'APPROVED' });
    cut.withdraw();
    const name = randomUUID();
    await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { name });
    const tenancy = instance.app.get(TenancyService);
    await expect.poll(() => tenancy.provider(PROVIDER)?.name).toBe(name);
  });

  test.each(MOMENTS)('the resolver, %s the statement', async (moment) => {
    const { body, submit } = await bet();
    world.wallet.next({ do: 'drop' }, { transactionId: body.transactionId });
    expect((await submit()).status).toBe(500);
    await letPass(world, body.transactionId, 61);
    const resolver = instance.app.get(Resolver);
    for (const words of ['undecided_operators', 'undecided_due', 'undecided_find', 'COMMIT']) {
      const cut = proxy.cut(words, moment);
      await resolver.tick();
      cut.withdraw();
      expect(cut.count).toBeGreaterThan(0);
    }
    await expect
      .poll(async () => {
        await letPass(world, body.transactionId, 61);
        await world.sql.run(
          `UPDATE transactions SET lease_until = clock_timestamp(), updated_at = updated_at - interval '61 seconds'
            WHERE original_transaction_id = $1 AND state = 'PENDING'`,
          [body.transactionId],
        );
        await resolver.tick();
        return world.stateOf(body.transactionId);
      })
      .toBe('ROLLED_BACK');
  });

  test.each(MOMENTS)('the queue of grants, %s the statement', async (moment) => {
    const cuts = ['grant_providers_with_work', 'grant_expire'].map((words) => proxy.cut(words, moment));
    const runner = instance.app.get(QueueRunner);
    await expect
      .poll(() => {
        runner.wake();
        return cuts.some(({ count }) => count > 0);
      })
      .toBe(true);
    for (const cut of cuts) cut.withdraw();
    const batch = { operatorId: OPERATOR, gameId: GAME, spins: 5, betAmountMinor: 10, currency: 'EUR' };
    const playerRefs = ['ann', 'bob'].map((player) => `${player}-${randomUUID()}`);
    const { json } = await world.admin('POST', '/v1/admin/free-spins/batches', { ...batch, playerRefs });
    runner.wake();
    const path = `/v1/admin/free-spins/batches/${String(json['batchId'])}`;
    await expect.poll(async () => (await world.admin('GET', path)).json['granted']).toBe(2);
  });

  test.each(['ping', 'migrations_run'])('the readiness check, at %s', async (words) => {
    const cut = proxy.cut(words, 'before');
    await expect.poll(async () => (await instance.request('/health/ready')).status).toBe(503);
    cut.withdraw();
    await expect.poll(async () => (await instance.request('/health/ready')).status).toBe(200);
  });

  test('every connection at once, while idle', async () => {
    for (let times = 0; times < 3; times += 1) {
      proxy.resetAll();
      await expect.poll(async () => (await (await bet()).submit()).status).toBe(200);
    }
  });
});

test('a database that keeps its connections open and does not answer is reported as down', async () => {
  // The chart's probe gives up after this time, in milliseconds.
  const probe = () => instance.request('/health/ready', { signal: AbortSignal.timeout(3_000) });
  const gauges = async () =>
    (await instance.metrics()).match(/^croupier_(?:ready|database_up) .*$/gm)?.toSorted();
  const pings = vi.spyOn(instance.app.get(Database), 'answers');
  proxy.withhold();
  try {
    await until(async () => (await probe()).status === 503);
    expect(await gauges()).toEqual(['croupier_database_up 0', 'croupier_ready 0']);
    expect((await probe()).json).toMatchObject({
      status: 'unavailable',
      checks: { database: 'down', migrations: 'unknown', tenants: 'up' },
    });
    // The checks share a ping that has no answer yet.
    const unanswered = pings.mock.settledResults.filter(({ type }) => type === 'incomplete');
    expect(unanswered.length).toBeLessThan(2);
  } finally {
    pings.mockRestore();
    proxy.release();
  }
  await expect.poll(async () => (await probe()).status).toBe(200);
  await expect.poll(gauges).toEqual(['croupier_database_up 1', 'croupier_ready 1']);
});

test.each(['pg_try_advisory_xact_lock', 'CREATE TABLE', 'INSERT INTO "migrations"'])(
  'a start whose connection is reset at %s fails with one line, and the next one succeeds',
  async (words) => {
    const database = await createTestDatabase();
    const way = await DatabaseProxy.start(database.url);
    const cut = way.cut(words, 'before');
    await expect(openDataSource(way.url)).rejects.toThrow(/^DATABASE_URL: the .*: [^\n]+$/);
    expect(cut.count).toBeGreaterThan(0);
    cut.withdraw();
    await (await openDataSource(way.url)).destroy();
    await way.stop();
    await database.drop();
  },
);

test('a command fails when its connection is reset', async () => {
  const cut = proxy.cut('audit', 'before');
  const storage = { databaseUrl: proxy.url, dataDir: 'unused' };
  await expect(proveAudit(storage, undefined, () => undefined)).rejects.toThrow();
  expect(cut.count).toBeGreaterThan(0);
  cut.withdraw();
  expect(await proveAudit(storage, undefined, () => undefined)).toBe(0);
});

test('a Redis that resets every connection costs requests, not the instance', async () => {
  let connections = 0;
  const redis = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy());
  });
  redis.listen(0, '127.0.0.1');
  await once(redis, 'listening');
  const { port } = redis.address() as AddressInfo;
  const other = await world.another(world.clock, { REDIS_URL: `redis://127.0.0.1:${port}` });
  const reply = await other.submit((await bet()).body);
  expect([reply.status, reply.headers.get('x-error-code')]).toEqual([500, 'REPLAY_PROTECTION_UNAVAILABLE']);
  await expect.poll(() => connections).toBeGreaterThan(2);
  await other.app.close();
  redis.close();
});

test('a caller that resets its connection while the operator books affects no other', async () => {
  const { body } = await bet();
  const held = world.wallet.next({ do: 'hold' }, { transactionId: body.transactionId });
  const raw = JSON.stringify(body);
  const path = '/v1/wallet/transaction';
  const { hostname, port } = new URL(instance.url);
  const headers = Object.entries({
    ...world.signature(PROVIDER, path, raw),
    'Content-Length': String(raw.length),
  });
  const head = [
    'Host: croupier',
    'Content-Type: application/json',
    ...headers.map((each) => each.join(': ')),
  ];
  const caller = connect(Number(port), hostname).on('error', () => undefined);
  caller.write(`POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${raw}`);
  await held.arrived;
  caller.resetAndDestroy();
  held.release();
  await expect.poll(() => world.stateOf(body.transactionId)).toBe('APPROVED');
  expect((await instance.submit(body)).headers.get('idempotency-replayed')).toBe('true');
});

test('backends that are terminated under load cost no money and no instance', async () => {
  const terminate = () =>
    world.sql.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'croupier%'`,
    );
  for (let round = 0; round < 4; round += 1) {
    const bets = await Promise.all(Array.from({ length: 20 }, bet));
    const replies = bets.map(({ submit }) => submit());
    const changes = Array.from({ length: 4 }, () =>
      instance.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { name: randomUUID() }),
    );
    for (let times = 0; times < 4; times += 1) await terminate();
    for (const reply of await Promise.all([...replies, ...changes]))
      expect([200, 409, 500]).toContain(reply.status);
    await expect.poll(async () => (await instance.request('/health/ready')).status).toBe(200);
    for (const { body, submit } of bets) {
      await world.endLease(body.transactionId);
      await expect.poll(async () => (await submit()).json['status']).toBe('APPROVED');
      expect(world.wallet.booked(body.transactionId)?.movements).toBe(1);
    }
  }
});

test('a migration ends once the connection with its lock is lost, and can be repeated', async () => {
  const database = await createMigratedDatabase();
  const sql = SqlConsole.open(database.url);
  const blocker = new Client({ connectionString: database.url });
  await blocker.connect();
  try {
    const removed = 'GrantsInTurn1764000000054';
    await blocker.query(`DELETE FROM migrations WHERE name = '${removed}'`);
    await blocker.query('BEGIN; LOCK TABLE free_spin_grants IN SHARE UPDATE EXCLUSIVE MODE');
    const migration = expect(migrate(database.url)).rejects.toThrow(
      /^DATABASE_URL: the schema cannot be brought up to date: the migration lock was lost \(/,
    );
    await vi.waitFor(async () => expect(await waitingForLocks(sql)).toBe(1), PATIENCE);
    const lock = `datname = current_database() AND application_name = 'croupier-migrations'`;
    await sql.run(`SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE ${lock}`);
    await blocker.query('COMMIT');
    await migration;
    expect(await migrate(database.url)).toEqual([removed]);
  } finally {
    await sql.close();
    await blocker.end();
    await database.drop();
  }
});
