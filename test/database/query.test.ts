import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryOn } from '../../src/database/database.js';
import { createTestDatabase } from '../world/database.js';
import { named } from '../../src/database/statement.js';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  // The end of a pool does not wait for its connections, which the drop of the database then cuts.
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const SUM = named('sum', 'SELECT :a::int + :b::int AS sum');
const QUOTIENT = named('quotient', 'SELECT :a::int / :b::int AS quotient');

test('a statement is prepared once for a connection, by its name', async () => {
  const query = queryOn(pool);
  expect(await query(SUM, { a: 1, b: 2 })).toEqual([{ sum: 3 }]);
  expect(await query(SUM, { a: 3, b: 4 })).toEqual([{ sum: 7 }]);
  const prepared = named('', 'SELECT name FROM pg_prepared_statements');
  expect(await query(prepared, {})).toEqual([{ name: 'sum' }]);
});

test('an error has the stack of the caller, and the connection is released', async () => {
  async function whoAsks(): Promise<unknown> {
    return await queryOn(pool)(QUOTIENT, { a: 1, b: 0 });
  }
  const error: unknown = await whoAsks().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: '22012', stack: expect.stringContaining('whoAsks') });
  expect(await queryOn(pool)(QUOTIENT, { a: 4, b: 2 })).toEqual([{ quotient: 2 }]);
});

test('a client runs statements like the pool', async () => {
  const client = await pool.connect();
  try {
    expect(await queryOn(client)(SUM, { a: 5, b: 6 })).toEqual([{ sum: 11 }]);
  } finally {
    client.release();
  }
});
