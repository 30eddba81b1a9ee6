import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Query, queryOn, type Statement } from '../../src/database/database.js';
import { StatementPool } from '../../src/database/statement-pool.js';
import { createTestDatabase } from '../world/database.js';

const BACKEND: Statement = { name: 'backend', text: 'SELECT pg_backend_pid() AS pid, pg_sleep($1)' };
const DIVIDED: Statement = { name: 'divided', text: 'SELECT 1 / $1::integer AS n' };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: StatementPool;
let query: Query;

beforeAll(async () => (database = await createTestDatabase()));
beforeEach(() => {
  pool = new StatementPool({ connectionString: database.url, silenceMs: 60_000 });
  query = queryOn(pool);
  return () => pool.end();
});
afterAll(() => database.drop());

/** The backend that took so many seconds to say which it is. */
const backend = async (seconds = 0) => (await query<{ pid: number }>(BACKEND, [seconds]))[0]?.pid;

test('what follows each other is of one backend, and what is asked at once is not', async () => {
  const first = await backend();
  expect(await backend()).toBe(first);
  const [quick, slow] = await Promise.all([backend(), backend(0.2)]);
  expect(quick).toBe(first);
  expect(slow).not.toBe(first);
  expect(await backend()).toBe(slow);
});

test('a statement that fails leaves its connection to the next', async () => {
  const first = await backend();
  await expect(query(DIVIDED, [0])).rejects.toThrow('division by zero');
  expect(await query(DIVIDED, [1])).toEqual([{ n: 1 }]);
  expect(await backend()).toBe(first);
});

test('a connection that is lost, idle or in use, is replaced', async () => {
  const first = await backend();
  const used = expect(backend(60)).rejects.toThrow(/terminat/);
  const other = await backend();
  const administrator = new pg.Client({ connectionString: database.url });
  await administrator.connect();
  await administrator.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [
    [first, other],
  ]);
  await administrator.end();
  await used;
  await expect.poll(() => backend().catch(() => undefined)).toBeDefined();
  expect([first, other]).not.toContain(await backend());
});

test('one that cannot be opened is an error, and no more than that', async () => {
  const nowhere = new StatementPool({ connectionString: `${database.url}_nowhere`, silenceMs: 60_000 });
  await expect(queryOn(nowhere)(BACKEND, [0])).rejects.toThrow('does not exist');
  await expect(queryOn(nowhere)(BACKEND, [0])).rejects.toThrow('does not exist');
  await nowhere.end();
});

test('what ends it cuts off what is under way, and nothing is opened afterwards', async () => {
  await backend();
  const cut = expect(backend(60)).rejects.toThrow(/terminat/);
  await pool.end();
  await cut;
  await expect(backend()).rejects.toThrow('the pool has ended');
});
