import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Configuration } from '../../src/config/configuration.js';
import { Database } from '../../src/database/database.js';
import { GroupCommit, groupStatement } from '../../src/database/group-commit.js';
import { Metrics } from '../../src/observability/metrics.js';
import { sha256 } from '../../src/runtime/digest.js';
import { TransactionStore } from '../../src/wallet/transaction.store.js';
import { useGroupCommit } from '../world/group-commit.js';
import { PROVIDER, startWorld, type World } from '../world/world.js';

const MARK = groupStatement(
  'test_mark',
  { id: 'text', n: 'integer' },
  (asked) => `UPDATE marks t SET n = a.n FROM (${asked}) a WHERE t.id = a.id RETURNING a.member, t.id, t.n`,
);

let world: World;
let groupCommit: GroupCommit;
let ids: string[];

beforeAll(async () => {
  world = await startWorld();
  groupCommit = world.app.get(GroupCommit);
  await world.sql.run('CREATE TABLE marks (id text PRIMARY KEY, n integer CHECK (n > 0))');
});
beforeEach(async () => {
  ids = Array.from({ length: 60 }, () => randomUUID());
  await world.sql.run('INSERT INTO marks SELECT * FROM unnest($1::text[])', [ids]);
});
afterAll(() => world.stop());

const mark = (id: string, n: number) => groupCommit.run<{ id: string; n: number }>(MARK, [id, n]);

async function metric(of: World, name: 'groupCommitMembers' | 'groupCommitsBroken', statement: string) {
  const metrics = of.app.get(Metrics);
  await metrics.text();
  const { values } = await metrics[name].get();
  const own = values.filter(({ labels }) => labels['statement'] === statement) as {
    metricName?: string;
    value: number;
  }[];
  const value = (suffix: string) => own.find(({ metricName }) => metricName?.endsWith(suffix))?.value ?? 0;
  return { batches: value('_count'), members: value('_sum'), broken: own[0]?.value ?? 0 };
}

test('what arrives together goes together, and each is answered its own row', async () => {
  const before = await metric(world, 'groupCommitMembers', 'test_mark');
  const rows = await Promise.all(ids.map((id, index) => mark(id, index + 1)));
  expect(rows).toEqual(ids.map((id, index) => expect.objectContaining({ id, n: index + 1 })));
  const after = await metric(world, 'groupCommitMembers', 'test_mark');
  expect(after.members - before.members).toBe(ids.length);
  expect(after.batches - before.batches).toBeLessThan(ids.length / 10);
});

test('a member that touches nothing is answered nothing', async () => {
  const [first, second] = ids as [string, string];
  const rows = await Promise.all([mark(first, 1), mark('nobody', 2), mark(second, 3)]);
  expect(rows.map((row) => row?.n)).toEqual([1, undefined, 3]);
});

test('a member that is refused costs the others nothing', async () => {
  const outcomes = await Promise.allSettled(ids.map((id, index) => mark(id, index === 7 ? -1 : 1)));
  expect(outcomes.map(({ status }) => status)).toEqual(
    ids.map((_, index) => (index === 7 ? 'rejected' : 'fulfilled')),
  );
  const rows = await world.sql.run<{ n: number | null }>('SELECT n FROM marks WHERE id = ANY ($1)', [ids]);
  expect(rows.filter(({ n }) => n === 1)).toHaveLength(ids.length - 1);
});

test('values that no batch can carry go alone, and the lane goes on', async () => {
  const big = (id: string) => groupCommit.run<{ n: number }>(MARK, [id, 5n]);
  const [first, second, third] = ids as [string, string, string];
  const rows = await Promise.all([mark(first, 1), big(second), big(third)]);
  expect(rows.map((row) => row?.n)).toEqual([1, 5, 5]);
  expect(await mark(first, 2)).toMatchObject({ n: 2 });
});

test('a row that somebody holds keeps nobody waiting but whoever wants it', async () => {
  const [held = '', ...free] = ids;
  const holder = new pg.Client({ connectionString: world.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM marks WHERE id = $1 FOR UPDATE', [held]);
  let heldBack = true;
  const waits = mark(held, 1).finally(() => (heldBack = false));
  await Promise.all(free.map((id) => mark(id, 1)));
  // Those that come later do not meet it either.
  await Promise.all(free.map((id) => mark(id, 2)));
  expect(heldBack).toBe(true);
  await holder.query('COMMIT');
  await holder.end();
  expect(await waits).toMatchObject({ id: held, n: 1 });
});

test('a connection that is lost costs nobody an answer', async () => {
  await mark(ids[0] ?? '', 1);
  await world.sql.run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'croupier-group-commit' AND datname = current_database()`,
  );
  const rows = await Promise.all(ids.map((id) => mark(id, 2)));
  expect(rows.map((row) => row?.n)).toEqual(ids.map(() => 2));
});

test('a database that falls silent is given up, and the lane finds another way to it', async () => {
  const url = new URL(world.databaseUrl);
  const { hostname, port } = url;
  const ways: Socket[] = [];
  const between = createServer((lane) => {
    const database = connect(Number(port || 5432), hostname);
    lane.pipe(database).pipe(lane);
    for (const end of [lane, database]) end.on('error', () => undefined);
    lane.on('close', () => database.destroy());
    ways.push(database);
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`;
  const database = world.app.get(Database);
  const behind = new GroupCommit(
    Object.create(database, { url: { value: url.href } }) as Database,
    world.app.get(Metrics),
    world.app.get(Configuration),
  );
  const [id = ''] = ids;
  const marked = async (n: number) => (await behind.run<{ n: number }>(MARK, [id, n]))?.n;
  try {
    expect(await marked(1)).toBe(1);
    ways[0]?.pause();
    expect(await Promise.all([marked(2), marked(2)])).toEqual([2, 2]);
    expect(await marked(3)).toBe(3);
    expect(ways).toHaveLength(2);
  } finally {
    await behind.onApplicationShutdown();
    between.close();
  }
});

describe('a claim', () => {
  let look: (platformTransactionId: string) => ReturnType<TransactionStore['open']>;
  beforeEach(async () => {
    const session = await world.launch();
    const asked = world.transaction(session, 'BET') as unknown as Parameters<TransactionStore['open']>[1];
    const tokenHash = sha256(session.sessionToken);
    look = (platformTransactionId) =>
      world.app.get(TransactionStore).open(PROVIDER, asked, { tokenHash, platformTransactionId });
  });

  test('of which many ask in one batch is the claim of one', async () => {
    const looks = await Promise.all(Array.from({ length: 20 }, () => look(randomUUID())));
    expect(looks.filter(({ claimed }) => claimed)).toHaveLength(1);
  });

  test("whose answer was lost is known by its own id, and is nobody else's", async () => {
    const own = randomUUID();
    expect((await look(own)).claimed).toBe(true);
    expect((await look(own)).claimed).toBe(true);
    expect((await look(randomUUID())).claimed).toBe(false);
  });
});

describe('the statements for many', () => {
  let together: World;
  beforeAll(async () => {
    useGroupCommit('always');
    together = await startWorld();
    useGroupCommit('default');
  });
  afterAll(() => together.stop());

  test('do not break on what a round brings', async () => {
    const session = await together.launch();
    const bet = together.transaction(session, 'BET', { roundClosed: false });
    const win = together.transaction(session, 'WIN', { roundId: bet.roundId, roundClosed: true });
    const free = together.transaction(session, 'WIN', { freeSpinsRef: 'batch-1' });
    const rollback = together.transaction(session, 'ROLLBACK', {
      roundId: `${bet.roundId}-2`,
      originalTransactionId: `${bet.transactionId}-2`,
    });
    for (const body of [bet, bet, win, win, free, rollback])
      expect((await together.submit(body)).status).toBe(200);
    const claims = ['transaction_claim_bet', 'transaction_look_at_bet', 'transaction_open_win'];
    for (const statement of [...claims, 'transaction_settle', 'transaction_settle_rollback']) {
      expect((await metric(together, 'groupCommitMembers', statement)).batches).toBeGreaterThan(0);
      expect((await metric(together, 'groupCommitsBroken', statement)).broken).toBe(0);
    }
  });
});
