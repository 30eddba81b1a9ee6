import { AbstractLogger, DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Connection } from '../../src/database/connection.js';
import { connectDataSource, dataSourceOptions } from '../../src/database/data-source.js';
import { Database, type Query, type Transaction } from '../../src/database/database.js';
import { createTestDatabase } from '../world/database.js';
import { DatabaseProxy } from '../world/database-proxy.js';
import { SqlConsole } from '../world/sql-console.js';
import { named, type Statement } from '../../src/database/statement.js';

/** More than the connections of the pool, which would be used up if failures did not release them. */
const MORE_THAN_THE_POOL = 25;

const INSERT = named('insert', 'INSERT INTO notes (text) VALUES (:text)');
const INSERT_TEXT = 'INSERT INTO notes (text) VALUES ($1)';
const COUNT = named('count', 'SELECT count(*)::integer AS count FROM notes');
const BACKEND = named('backend', 'SELECT pg_backend_pid() AS pid, txid_current()::text AS transaction');
const SLEEP = named('sleep', 'SELECT pg_sleep(60)');
const DIVIDED = named('divided', 'SELECT 1 / :divisor::integer AS n');

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let proxy: DatabaseProxy;
let sql: SqlConsole;
let dataSource: DataSource;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  sql = SqlConsole.open(testDatabase.url);
  await sql.run('CREATE TABLE notes (text text UNIQUE DEFERRABLE INITIALLY DEFERRED)');
  proxy = await DatabaseProxy.start(testDatabase.url);
});
beforeEach(async () => {
  await sql.run('TRUNCATE notes');
  dataSource = await connectDataSource(proxy.url);
  database = new Database(dataSource);
});
afterEach(() => dataSource.destroy());
afterAll(async () => {
  await proxy.stop();
  await sql.close();
  await testDatabase.drop();
});

const stored = async () =>
  (await sql.run<{ text: string }>('SELECT text FROM notes ORDER BY text')).map(({ text }) => text);
const count = async (query: Query) => (await query<{ count: number }>(COUNT, {}))[0]?.count;
const backend = async (query: Query) => (await query<{ pid: number; transaction: string }>(BACKEND, {}))[0]!;
const kill = (pid: number) => sql.run('SELECT pg_terminate_backend($1, 5000)', [pid]);

/** Writes by a named statement and by the manager. */
async function write({ query, manager }: Transaction): Promise<void> {
  await query(INSERT, { text: 'by statement' });
  await manager.query(INSERT_TEXT, ['by manager']);
}

describe('a transaction', () => {
  test.each([
    ['statement', ({ query }: Transaction) => query(DIVIDED, { divisor: 0 })],
    ['query of its manager', ({ manager }: Transaction) => manager.query('SELECT 1 / 0')],
  ])('rejects and commits nothing if its work ignores a failed %s', async (_, fail) => {
    const committed = database.transaction(async (transaction) => {
      await write(transaction);
      await fail(transaction).catch(() => undefined);
    });
    await expect(committed).rejects.toThrow('rolled back: the work ignored the failure of a statement');
    expect(await stored()).toEqual([]);
    await database.transaction(write);
    expect(await stored()).toEqual(['by manager', 'by statement']);
  });

  test('commits what its statements and its manager wrote, and returns what its work returns', async () => {
    const result = await database.transaction(async (transaction) => {
      await write(transaction);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await stored()).toEqual(['by manager', 'by statement']);
  });

  test('rolls both back when its work rejects, and rejects with the same error', async () => {
    const error = new Error('after all');
    const work = database.transaction(async (transaction) => {
      await write(transaction);
      throw error;
    });
    await expect(work).rejects.toBe(error);
    expect(await stored()).toEqual([]);
  });

  test('is shared: statements and manager see the writes of each other, and other connections see neither before the commit', async () => {
    await database.transaction(async (transaction) => {
      const { query, manager } = transaction;
      await write(transaction);
      expect(await count(query)).toBe(2);
      expect(await manager.query(COUNT.text)).toEqual([{ count: 2 }]);
      expect(await manager.query(BACKEND.text)).toEqual([await backend(query)]);
      expect(await count(database.query)).toBe(0);
    });
    expect(await count(database.query)).toBe(2);
  });

  test('rejects when its COMMIT is refused, and returns its connection', async () => {
    const inTransaction = async () => (await database.transaction(({ query }) => backend(query))).pid;
    const before = await inTransaction();
    const twice = database.transaction(async ({ query }) => {
      await query(INSERT, { text: 'twice' });
      await query(INSERT, { text: 'twice' });
    });
    await expect(twice).rejects.toMatchObject({ code: '23505' });
    expect(await stored()).toEqual([]);
    expect(await inTransaction()).toBe(before);
  });

  test.each(['statement', 'manager', 'commit'])(
    'whose connection is killed before the next %s rejects with the cause, changes nothing, and the connection is replaced',
    async (next) => {
      let killed = 0;
      const work = database.transaction(async ({ query, manager }) => {
        await query(INSERT, { text: 'before' });
        killed = (await backend(query)).pid;
        await kill(killed);
        if (next === 'statement') await query(INSERT, { text: 'after' });
        if (next === 'manager') await manager.query(INSERT_TEXT, ['after']);
      });
      const error = await work.catch((rejection: unknown) => rejection as Error);
      // PostgreSQL's reason is the error itself if it arrives after the next statement was sent.
      const reasons = [error, (error as Error).cause].map((each) => (each as Error | undefined)?.message);
      expect(reasons).toContain('terminating connection due to administrator command');
      expect(await stored()).toEqual([]);
      expect((await backend(database.query)).pid).not.toBe(killed);
      await database.transaction(write);
      expect(await stored()).toHaveLength(2);
    },
  );

  test.each([
    ['before', []],
    ['after', ['by manager', 'by statement']],
  ] as const)('whose connection is reset %s its COMMIT rejects', async (moment, expected) => {
    const cut = proxy.cut('COMMIT', moment);
    await expect(database.transaction(write)).rejects.toThrow();
    cut.withdraw();
    expect(cut.count).toBe(1);
    expect(await stored()).toEqual(expected);
    expect(await count(database.query)).toBe(expected.length);
  });

  test('that cannot be rolled back rejects with the error of its work, and its connection is replaced', async () => {
    let used = 0;
    const cut = proxy.cut('ROLLBACK', 'before');
    const work = database.transaction(async (transaction) => {
      used = (await backend(transaction.query)).pid;
      await write(transaction);
      throw new Error('after all');
    });
    await expect(work).rejects.toThrow('after all');
    cut.withdraw();
    expect(cut.count).toBe(1);
    expect((await backend(database.query)).pid).not.toBe(used);
    expect(await stored()).toEqual([]);
  });

  test('that cannot begin rejects', async () => {
    const cut = proxy.cut('START TRANSACTION', 'before');
    await expect(database.transaction(write)).rejects.toThrow();
    cut.withdraw();
    await database.transaction(write);
    expect(await stored()).toHaveLength(2);
  });
});

test('many failures leave the pool intact', async () => {
  for (let failures = 0; failures < MORE_THAN_THE_POOL; failures += 1) {
    await expect(database.query(DIVIDED, { divisor: 0 })).rejects.toMatchObject({ code: '22012' });
    await expect(database.transaction(({ query }) => query(DIVIDED, { divisor: 0 }))).rejects.toThrow();
    await expect(database.transaction(({ manager }) => manager.query('x'))).rejects.toThrow();
  }
  const all = Array.from({ length: MORE_THAN_THE_POOL }, () =>
    database.transaction(({ query }) => count(query)),
  );
  expect(await Promise.all(all)).toEqual(all.map(() => 0));
});

class StatementRecorder extends AbstractLogger {
  constructor(private readonly record: (statement: string) => void) {
    super(['query']);
  }

  override logQuery(statement: string): void {
    this.record(statement);
  }

  protected override writeLog(): void {}
}

describe('a connection that does not answer in time', () => {
  let impatient: DataSource;

  /** The statements of TypeORM itself, such as ROLLBACK. */
  let statements: string[];

  beforeEach(async () => {
    statements = [];
    const logger = new StatementRecorder((statement) => statements.push(statement));
    impatient = await new DataSource({
      ...dataSourceOptions(testDatabase.url),
      migrationsRun: false,
      poolSize: 1,
      logging: ['query'],
      logger,
      extra: { Client: Connection, query_timeout: 1_500 },
    }).initialize();
    return () => impatient.destroy();
  });

  test.each<[string, (database: Database) => Promise<unknown>]>([
    ['a single statement', ({ query }) => query(SLEEP, {})],
    ['a transaction', (single) => single.transaction(({ query }) => query(SLEEP, {}))],
    ['a query of a repository', () => impatient.query(SLEEP.text)],
  ])('is replaced after %s', async (_, ask) => {
    const single = new Database(impatient);
    const { pid } = await backend(single.query);
    await expect(ask(single)).rejects.toThrow('Query read timeout');
    expect((await backend(single.query)).pid).not.toBe(pid);
  });

  test('fails a transaction without a rollback that would wait, too', async () => {
    const fail = (statement: Statement) =>
      new Database(impatient).transaction(({ query }) => query(statement, { divisor: 0 }));
    statements.length = 0;
    await expect(fail(DIVIDED)).rejects.toThrow('division by zero');
    expect(statements.splice(0)).toEqual(['START TRANSACTION', 'ROLLBACK']);
    await expect(fail(SLEEP)).rejects.toThrow('Query read timeout');
    expect(statements).toEqual(['START TRANSACTION']);
  });
});

test('a statement whose connection is killed rejects, and the next one has another', async () => {
  const { pid } = await backend(database.query);
  await kill(pid);
  await expect.poll(async () => (await backend(database.query).catch(() => ({ pid }))).pid).not.toBe(pid);
});

test.each<[string, () => Promise<unknown>]>([
  ['a single statement', () => database.query(DIVIDED, { divisor: 0 })],
  ['a statement of a transaction', () => database.transaction(({ query }) => query(DIVIDED, { divisor: 0 }))],
  ['a query of a manager', () => database.transaction(({ manager }) => manager.query('SELECT 1 / 0'))],
  [
    'a COMMIT',
    () =>
      database.transaction(async ({ query }) => {
        await query(INSERT, { text: 'twice' });
        await query(INSERT, { text: 'twice' });
      }),
  ],
])('the error of %s has the stack of the caller', async (_, ask) => {
  async function whoAsks(): Promise<unknown> {
    return await ask();
  }
  const error: unknown = await whoAsks().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ stack: expect.stringContaining('whoAsks') });
});

test('the error of a connection that cannot be opened has the stack of the caller', async () => {
  await proxy.stop();
  proxy.resetAll();
  async function whoAsks(): Promise<unknown> {
    return await database.transaction(write);
  }
  const failure = (): Promise<unknown> => whoAsks().catch((reason: unknown) => reason);
  await expect.poll(failure).toMatchObject({ code: 'ECONNREFUSED' });
  expect(await failure()).toMatchObject({ stack: expect.stringContaining('whoAsks') });
  proxy = await DatabaseProxy.start(testDatabase.url);
});
