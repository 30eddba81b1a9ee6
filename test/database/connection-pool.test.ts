import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConnectionPool } from '../../src/database/connection.js';
import { type Query, queryOn } from '../../src/database/database.js';
import { named } from '../../src/database/statement.js';
import { createTestDatabase } from '../world/database.js';

/** The connections of this database that run pg_sleep. */
const SLEEPING = named(
  'sleeping',
  `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
);
const BACKEND = named('backend', 'SELECT pg_backend_pid() AS pid, pg_sleep(:seconds)');

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: ConnectionPool;
let query: Query;
let lost: Error[];

beforeAll(async () => (database = await createTestDatabase()));
beforeEach(() => {
  lost = [];
  pool = new ConnectionPool({ connectionString: database.url, max: 2 }, (error) => lost.push(error));
  query = queryOn(pool);
  return () => (pool.ending ? undefined : pool.close(1_000));
});
afterAll(() => database.drop());

/** The process id of the backend, after a sleep in seconds. */
const backend = async (seconds = 0) => (await query<{ pid: number }>(BACKEND, { seconds }))[0]!.pid;

test('connections are reused, and no more are opened than the bound', async () => {
  const pids = await Promise.all(Array.from({ length: 10 }, () => backend(0.01)));
  expect(new Set(pids).size).toBe(2);
});

test('a connection that is lost, idle or in use, is replaced, and the idle one is reported', async () => {
  const [idle, busy] = await Promise.all([backend(0.05), backend(0.05)]);
  const statement = backend(60);
  const failure = expect(statement).rejects.toThrow(/terminat/);
  const administrator = new pg.Client({ connectionString: database.url });
  await administrator.connect();
  await administrator.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [
    [idle, busy],
  ]);
  await administrator.end();
  await failure;
  await expect.poll(() => lost.length).toBe(1);
  expect([idle, busy]).not.toContain(await backend());
});

test('a stop destroys connections that are not closed in time', async () => {
  const statement = expect(backend(60)).rejects.toThrow(/terminat/);
  await expect.poll(() => query(SLEEPING, {})).toHaveLength(1);
  await pool.close(50);
  await statement;
  await expect(backend()).rejects.toThrow();
});
