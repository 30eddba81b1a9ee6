import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GIVEN_UP, RETRY_WAIT } from '../../src/wallet/resolving/retry-schedule.js';
import { createTestDatabase } from '../world/database.js';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const MINUTE = 60;
const HOUR = 60 * MINUTE;

test.each([
  { age: 0, wait: MINUTE, givenUp: false },
  { age: HOUR - 1, wait: MINUTE, givenUp: false },
  { age: HOUR, wait: 5 * MINUTE, givenUp: false },
  { age: 6 * HOUR, wait: 30 * MINUTE, givenUp: false },
  { age: 12 * HOUR, wait: HOUR, givenUp: false },
  { age: 24 * HOUR - 1, wait: HOUR, givenUp: false },
  { age: 24 * HOUR, wait: MINUTE, givenUp: true },
])('last attempted at an age of $age s: next after $wait s, given up: $givenUp', async (row) => {
  const { rows } = await client.query<{ wait: string; givenUp: boolean }>(
    `SELECT extract(epoch FROM ${RETRY_WAIT})::float8 AS wait, ${GIVEN_UP} AS "givenUp"
       FROM (SELECT now() AS created_at, now() + make_interval(secs => $1) AS updated_at) AS t`,
    [row.age],
  );
  expect(rows[0]).toEqual({ wait: row.wait, givenUp: row.givenUp });
});
