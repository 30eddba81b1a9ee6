import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Configuration } from '../../src/config/configuration.js';
import { Database } from '../../src/database/database.js';
import { GroupCommit } from '../../src/database/group-commit.js';
import { groupStatement } from '../../src/database/group-statement.js';
import { Metrics } from '../../src/observability/metrics.js';
import { monotonicMs } from '../../src/runtime/clock.js';
import { sha256 } from '../../src/runtime/digest.js';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { FreshClaims } from '../../src/wallet/fresh-claim.store.js';
import type { RoundFacts } from '../../src/wallet/rules/facts.js';
import type { Claim, Submission } from '../../src/wallet/transaction.js';
import { TransactionStore } from '../../src/wallet/transaction.store.js';
import { useGroupCommit } from '../world/group-commit.js';
import { OPERATOR, PROVIDER, startWorld, useWorld, type World } from '../world/world.js';

const MARK = groupStatement(
  'test_mark',
  { id: 'text', n: 'integer' },
  (source) => `UPDATE marks t SET n = a.n FROM (${source}) a WHERE t.id = a.id RETURNING a.item, t.id, t.n`,
);

let groupCommit: GroupCommit;
let ids: string[];

const world = useWorld();
beforeAll(async () => {
  groupCommit = world.app.get(GroupCommit);
  await world.sql.run('CREATE TABLE marks (id text PRIMARY KEY, n integer CHECK (n > 0))');
});
beforeEach(async () => {
  ids = Array.from({ length: 60 }, () => randomUUID());
  await world.sql.run('INSERT INTO marks SELECT * FROM unnest($1::text[])', [ids]);
});

const mark = (id: string, n: number) => groupCommit.run<{ id: string; n: number }>(MARK, { id, n });

/** The metrics of a statement so far. */
async function batchesOf(world: World, statement: string) {
  const text = await world.app.get(Metrics).text();
  const value = (metric: string) =>
    Number(new RegExp(`^${metric}{statement="${statement}"} (.*)$`, 'm').exec(text)?.[1] ?? 0);
  return {
    batches: value('croupier_group_commit_batch_items_count'),
    items: value('croupier_group_commit_batch_items_sum'),
    failed: value('croupier_group_commit_batches_failed_total'),
  };
}

test('concurrent items form batches, and each gets its own row', async () => {
  const before = await batchesOf(world, 'test_mark');
  const rows = await Promise.all(ids.map((id, index) => mark(id, index + 1)));
  expect(rows).toEqual(ids.map((id, index) => expect.objectContaining({ id, n: index + 1 })));
  const after = await batchesOf(world, 'test_mark');
  expect(after.items - before.items).toBe(ids.length);
  expect(after.batches - before.batches).toBeLessThan(ids.length / 10);
});

test('items of the next turns of the event loop join a batch, if the last one had many', async () => {
  const [first, second, third, fourth] = ids as [string, string, string, string];
  await Promise.all(ids.map((id) => mark(id, 1)));
  const before = await batchesOf(world, 'test_mark');
  const marked = [mark(first, 2)];
  for (const later of [second, third]) {
    await setImmediate();
    marked.push(mark(later, 2));
  }
  await Promise.all(marked);
  const gathered = await batchesOf(world, 'test_mark');
  expect(gathered.batches - before.batches).toBe(1);
  expect(gathered.items - before.items).toBe(3);
  // Without concurrent items, none waits: this one still does, and the one after it does not.
  await mark(fourth, 2);
  const alone = [mark(first, 3)];
  await setImmediate();
  alone.push(mark(second, 3));
  await Promise.all(alone);
  expect((await batchesOf(world, 'test_mark')).batches - gathered.batches).toBe(3);
});

test('an item that matches no row gets none', async () => {
  const [first, second] = ids as [string, string];
  const rows = await Promise.all([mark(first, 1), mark('nobody', 2), mark(second, 3)]);
  expect(rows.map((row) => row?.n)).toEqual([1, undefined, 3]);
});

test('an item that violates a constraint does not fail the others', async () => {
  const outcomes = await Promise.allSettled(ids.map((id, index) => mark(id, index === 7 ? -1 : 1)));
  expect(outcomes.map(({ status }) => status)).toEqual(
    ids.map((_, index) => (index === 7 ? 'rejected' : 'fulfilled')),
  );
  const rows = await world.sql.run<{ n: number | null }>('SELECT n FROM marks WHERE id = ANY ($1)', [ids]);
  expect(rows.filter(({ n }) => n === 1)).toHaveLength(ids.length - 1);
});

test('values that JSON cannot carry are run individually, and the queue continues', async () => {
  const big = (id: string) => groupCommit.run<{ n: number }>(MARK, { id, n: 5n });
  const [first, second, third] = ids as [string, string, string];
  const rows = await Promise.all([mark(first, 1), big(second), big(third)]);
  expect(rows.map((row) => row?.n)).toEqual([1, 5, 5]);
  expect(await mark(first, 2)).toMatchObject({ n: 2 });
});

test('a locked row delays only the items that need it', async () => {
  const [held = '', ...free] = ids;
  const holder = new pg.Client({ connectionString: world.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM marks WHERE id = $1 FOR UPDATE', [held]);
  let heldBack = true;
  const waits = mark(held, 1).finally(() => (heldBack = false));
  await Promise.all(free.map((id) => mark(id, 1)));
  // Items of later batches are not delayed either.
  await Promise.all(free.map((id) => mark(id, 2)));
  expect(heldBack).toBe(true);
  await holder.query('COMMIT');
  await holder.end();
  expect(await waits).toMatchObject({ id: held, n: 1 });
});

describe('the time at which an item was sent', () => {
  const sendings = (id: string) => {
    const moments: number[] = [];
    const done = groupCommit.run(MARK, { id, n: 1 }, (atMs) => moments.push(atMs));
    return { moments, done };
  };

  test('is after its wait for the batch before it, and before the statement runs', async () => {
    const [held = '', free = '', ...others] = ids;
    const holder = new pg.Client({ connectionString: world.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM marks WHERE id = $1 FOR UPDATE', [held]);
    // After a single item, the next item is sent at once and does not wait for a batch to form.
    await mark(free, 1);
    const startedMs = monotonicMs();
    const first = sendings(held);
    const behind = others.map((id) => sendings(id));
    await Promise.all(behind.map(({ done }) => done));
    const endedMs = monotonicMs();
    await holder.query('ROLLBACK');
    await holder.end();
    await first.done;
    // The batch before them waited 50 ms for a lock.
    for (const { moments } of behind) {
      expect(moments).toHaveLength(1);
      expect(moments[0]).toBeGreaterThan(startedMs + 40);
      expect(moments[0]).toBeLessThan(endedMs);
    }
    // It failed, and the retry produced the result.
    expect(first.moments).toHaveLength(2);
    expect(first.moments[1]).toBeGreaterThan(first.moments[0]! + 40);
  });
});

test('every item is answered although its connection is lost', async () => {
  await mark(ids[0] ?? '', 1);
  await world.sql.run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'croupier-group-commit' AND datname = current_database()`,
  );
  const rows = await Promise.all(ids.map((id) => mark(id, 2)));
  expect(rows.map((row) => row?.n)).toEqual(ids.map(() => 2));
});

/** Group commit over a proxy whose connections to the database can be paused. */
async function groupCommitBehindProxy() {
  const url = new URL(world.databaseUrl);
  const { hostname, port } = url;
  const connections: Socket[] = [];
  const proxy = createServer((client) => {
    const database = connect(Number(port || 5432), hostname);
    client.pipe(database).pipe(client);
    for (const end of [client, database]) end.on('error', () => undefined);
    client.on('close', () => database.destroy());
    connections.push(database);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const database = Object.create(world.app.get(Database), { url: { value: url.href } }) as Database;
  const behind = new GroupCommit(database, world.app.get(Metrics), world.app.get(Configuration));
  const close = async () => {
    await behind.onApplicationShutdown();
    proxy.close();
  };
  return { groupCommit: behind, connections, close };
}

test('a connection without answers is given up, and the statement is run on another one', async () => {
  const warn = vi.spyOn(Logger.prototype, 'warn');
  const { groupCommit: behind, connections, close } = await groupCommitBehindProxy();
  const [id = ''] = ids;
  const marked = async (n: number) => (await behind.run<{ n: number }>(MARK, { id, n }))?.n;
  try {
    expect(await marked(1)).toBe(1);
    connections[0]?.pause();
    expect(await Promise.all([marked(2), marked(2)])).toEqual([2, 2]);
    expect(await marked(3)).toBe(3);
    expect(connections).toHaveLength(2);
    expect(warn.mock.calls.flat()).toContainEqual(
      expect.objectContaining({ statement: 'test_mark', detail: 'Query read timeout' }),
    );
  } finally {
    warn.mockRestore();
    await close();
  }
});

test.each([
  ['DATABASE_URL', () => Promise.reject(new Error('the connection was lost'))],
  // The statement on group commit's own connection fails, because it gets no process id.
  [
    'GROUP_COMMIT_DATABASE_URL',
    (work: (here: object) => Promise<unknown>) => work({ query: async () => [{ pid: 'none' }] }),
  ],
])('a start names %s if the comparison of the databases fails there', async (variable, transaction) => {
  const database = Object.create(world.app.get(Database), {
    transaction: { value: transaction },
  }) as Database;
  const configuration = { ...world.app.get(Configuration), groupCommitDatabaseUrl: world.databaseUrl };
  const starting = new GroupCommit(database, world.app.get(Metrics), configuration);
  const sentence = new RegExp(`^${variable}: the database cannot be opened: (?!\\w+_URL)`);
  await expect(starting.onApplicationBootstrap()).rejects.toThrow(sentence);
  await starting.onApplicationShutdown();
});

/** A way to claim a transaction, and its name. */
type Way = [
  string,
  'BET' | 'WIN',
  (groupCommit: GroupCommit) => (submission: Submission) => Promise<Claim | undefined>,
];

const byShortcut = (groupCommit: GroupCommit) => {
  const claims = new FreshClaims(groupCommit, world.app.get(TenancyService), world.app.get(Configuration));
  return (submission: Submission) => claims.tryClaim(submission, OPERATOR);
};
const afterLoading = (groupCommit: GroupCommit, { app } = world) => {
  const [database, tenancy] = [app.get(Database), app.get(TenancyService)];
  const claims = new TransactionStore(database, groupCommit, tenancy, app.get(Configuration));
  return async (submission: Submission) => {
    const { provider, request, platformTransactionId } = submission;
    const { session, round } = await app.get(TransactionStore).load(submission);
    const { operatorId, sessionId, mode } = session!;
    const ids = { providerId: provider.id, platformTransactionId, operatorId, sessionId };
    const transaction = { ...ids, mode, request, amountMinor: request.amountMinor ?? 0 };
    return request.kind === 'WIN' ? claims.claimWin(transaction, round) : claims.claim(transaction);
  };
};
/** The first transaction of a new session, under a given id of the platform. */
async function newSubmission(
  at: World,
  kind: 'BET' | 'WIN',
): Promise<(platformTransactionId: string) => Submission> {
  const session = await at.launch();
  const request = at.transaction(session, kind) as unknown as Submission['request'];
  const tokenHash = sha256(session.sessionToken);
  const provider = { id: PROVIDER, lateSettlementSeconds: 0 };
  return (platformTransactionId) => ({ provider, request, tokenHash, platformTransactionId });
}

const WAYS: readonly Way[] = [
  ['a BET by the shortcut', 'BET', byShortcut],
  ['a WIN by the shortcut', 'WIN', byShortcut],
  ['a BET after loading its facts', 'BET', afterLoading],
  ['a WIN after loading its facts', 'WIN', afterLoading],
];

describe.each(WAYS)('the claim of %s', (_, kind, claimBy) => {
  let submission: (platformTransactionId: string) => Submission;
  beforeEach(async () => {
    submission = await newSubmission(world, kind);
  });

  test('is made once if twenty submissions of one id arrive at the same time', async () => {
    const claim = claimBy(world.app.get(GroupCommit));
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(submission(randomUUID()))));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  test('is found if its commit succeeded and the answer was lost', async () => {
    const { groupCommit: behind, connections, close } = await groupCommitBehindProxy();
    const claimBehind = claimBy(behind);
    try {
      await behind.run(MARK, { id: ids[0], n: 1 });
      connections[0]?.pause();
      const own = submission(randomUUID());
      const startedMs = monotonicMs();
      const claim = await claimBehind(own);
      expect(claim).toMatchObject({ attempt: 1, platformTransactionId: own.platformTransactionId });
      // Its lease began with the first sending, not with the one that found it.
      expect(claim!.sentMs).toBeLessThan(startedMs + 1_000);
      expect(monotonicMs()).toBeGreaterThan(startedMs + 2_500);
      expect(await claimBehind(submission(randomUUID()))).toBeUndefined();
    } finally {
      await close();
    }
  });
});

test('concurrent WINs of one round are all booked, and fail no batch', async () => {
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  await world.submit(bet);
  const wins = Array.from({ length: 20 }, () =>
    world.transaction(session, 'WIN', { roundId: bet.roundId, amountMinor: 1 }),
  );
  const failures = async () => {
    const claims = ['transaction_claim_new_win', 'transaction_claim_win'];
    return (await Promise.all(claims.map((claim) => batchesOf(world, claim)))).map(({ failed }) => failed);
  };
  const failuresBefore = await failures();
  const replies = await Promise.all([...wins, ...wins].map((win) => world.submit(win)));
  const approved = replies.filter(({ json }) => json['status'] === 'APPROVED');
  expect(new Set(approved.map(({ json }) => json['transactionId'])).size).toBe(wins.length);
  expect(await failures()).toEqual(failuresBefore);
});

test('of two WINs in one batch, only that which read the current version of their round is claimed', async () => {
  const session = await world.launch();
  const { roundId } = world.transaction(session, 'WIN');
  await world.submit(world.transaction(session, 'WIN', { roundId }));
  const store = world.app.get(TransactionStore);
  const claim = (win: { roundId: string }, version: number) => {
    const ids = { providerId: PROVIDER, operatorId: OPERATOR, sessionId: session.sessionId };
    const request = win as unknown as Submission['request'];
    const transaction = {
      ...ids,
      platformTransactionId: randomUUID(),
      mode: 'REAL',
      request,
      amountMinor: 1,
    } as const;
    return store.claimWin(transaction, { version } as RoundFacts);
  };
  const sameRound = () => world.transaction(session, 'WIN', { roundId });
  // While the first one is sent, the others wait for the next batch.
  const claims = [claim(world.transaction(session, 'WIN'), 0), claim(sameRound(), 0), claim(sameRound(), 1)];
  expect((await Promise.all(claims)).map(Boolean)).toEqual([true, false, true]);
});

describe('the batch forms', () => {
  let batched: World;
  beforeAll(async () => {
    useGroupCommit('always');
    batched = await startWorld();
    useGroupCommit('default');
  });
  afterAll(() => batched.stop());

  test('accept every kind of transaction of a round', async () => {
    const session = await batched.launch();
    const bet = batched.transaction(session, 'BET', { roundClosed: false });
    const win = batched.transaction(session, 'WIN', { roundId: bet.roundId, roundClosed: true });
    const free = batched.transaction(session, 'WIN', { freeSpinsRef: 'batch-1' });
    const rollback = batched.transaction(session, 'ROLLBACK', {
      roundId: `${bet.roundId}-2`,
      originalTransactionId: `${bet.transactionId}-2`,
    });
    for (const body of [bet, bet, win, win, free, rollback])
      expect((await batched.submit(body)).status).toBe(200);
    // As in a session that an instance has not seen before.
    const claim = afterLoading(batched.app.get(GroupCommit), batched);
    for (const kind of ['BET', 'WIN'] as const) {
      const submission = await newSubmission(batched, kind);
      expect(await claim(submission(randomUUID()))).toBeDefined();
    }
    const shortcuts = ['transaction_claim_bet', 'transaction_claim_new_win'];
    const claims = ['transaction_load', 'transaction_claim', 'transaction_claim_win'];
    for (const statement of [...shortcuts, ...claims, 'transaction_settle', 'transaction_settle_rollback']) {
      const { batches, failed } = await batchesOf(batched, statement);
      expect(batches).toBeGreaterThan(0);
      expect(failed).toBe(0);
    }
  });
});
