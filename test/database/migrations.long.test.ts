import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type MigrationInterface } from 'typeorm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataSourceOptions, migrate } from '../../src/database/data-source.js';
import { createMigratedDatabase, createTestDatabase, runAt, type TestDatabase } from '../world/database.js';
import { schemaOf } from '../world/schema.js';

type Migration = new () => MigrationInterface;

/** The migrations of the previous release. */
const isReleased = ({ name }: Migration) => Number(name.slice(-4)) <= 8;

const ROWS = `
INSERT INTO tenants (id, kind, name, webhook_base_url, late_settlement_seconds, wallet_base_url, wallet_adapter,
                     sealed_secret, created_at, updated_at)
VALUES ('provider', 'PROVIDER', 'P', 'https://p', 60, NULL, NULL, 's', now(), now()),
       ('operator', 'OPERATOR', 'O', NULL, NULL, 'https://o', 'signed-json', 's', now(), now());
INSERT INTO games VALUES ('game', 'provider', 'Game', 'ACTIVE', NULL, now(), now());
INSERT INTO sessions (session_id, token_hash, operator_id, provider_id, player_ref, game_id, currency, mode, created_at, expires_at)
SELECT gen_random_uuid(), sha256(n::text::bytea), 'operator', 'provider', 'player', 'game', 'EUR', 'REAL', now(), now()
  FROM generate_series(1, 20) n;
INSERT INTO session_revocations (session_id, lease_until) SELECT session_id, now() FROM sessions LIMIT 5;
INSERT INTO free_spin_batches (batch_id, operator_id, fingerprint)
SELECT gen_random_uuid(), 'operator', sha256(n::text::bytea) FROM generate_series(1, 3) n;
INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins, bet_amount_minor,
                              currency, attempt, external_ref, batch_id)
SELECT batch_id, 'GRANTED', 'operator', 'provider', 'player', 'game', 5, 100, 'EUR', 1, batch_id, batch_id
  FROM free_spin_batches;
INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, session_id, mode,
                          player_ref, game_id, currency, amount_minor, round_id, free_spins_ref, attempt, response_body)
SELECT 'provider', 'win-' || n, gen_random_uuid(), 'WIN', 'APPROVED', 'operator', gen_random_uuid(), 'REAL', 'player',
       'game', 'EUR', 5, 'round-' || n, 'unknown', 1, '{}' FROM generate_series(1, 20) n;
INSERT INTO callbacks (provider_id, route, reference, body) SELECT 'provider', '/r', n::text, '{}' FROM generate_series(1, 20) n;
INSERT INTO audit_entries (actor, role, action, target) SELECT 'root', 'admin', 'a.b', 'c:d' FROM generate_series(1, 20);
`;

const migrationsOf = (url: string) => dataSourceOptions(url).migrations as Migration[];

async function run(url: string, migrations: Migration[]): Promise<void> {
  const dataSource = await new DataSource({ ...dataSourceOptions(url), migrations }).initialize();
  await dataSource.destroy();
}

/** Creates a database of the previous release, with rows. */
async function createPreviousDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await run(database.url, migrationsOf(database.url).filter(isReleased));
  await runAt(database.url, ROWS);
  return database;
}

let current: TestDatabase;
beforeAll(async () => (current = await createMigratedDatabase()));
afterAll(() => current.drop());

async function expectCurrentSchema({ url }: TestDatabase): Promise<void> {
  expect(await schemaOf(url)).toBe(await schemaOf(current.url));
  expect(await runAt(url, 'SELECT FROM pg_index WHERE NOT indisvalid')).toEqual([]);
}

/** The same migration, which runs twice: as after a loss of the connection at its end. */
function repeated(Migration: Migration): Migration {
  class Repeated extends Migration {
    override async up(...[runner]: Parameters<MigrationInterface['up']>): Promise<void> {
      await super.up(runner);
      await super.up(runner);
    }
  }
  return Object.defineProperty(Repeated, 'name', { value: Migration.name });
}

test('each migration without a transaction can be repeated, also after an interrupted build of an index', async () => {
  const database = await createPreviousDatabase();
  try {
    for (const index of ['audit_entries_outcome ON audit_entries', 'callbacks_of_id ON callbacks']) {
      // The build fails because the column has the same value in all rows, and leaves an invalid index.
      const build = runAt(database.url, `CREATE UNIQUE INDEX CONCURRENTLY ${index} ((1))`);
      await expect(build).rejects.toThrow('could not create unique index');
    }
    const migrations = migrationsOf(database.url).map((Migration) =>
      new Migration().transaction === false ? repeated(Migration) : Migration,
    );
    await run(database.url, migrations);
    await expectCurrentSchema(database);
    const marks = await runAt(database.url, `SELECT FROM flaggable_wins`);
    expect(marks).toHaveLength(20);
    const batches = await runAt(database.url, `SELECT FROM free_spin_batches WHERE game_id = 'game'`);
    expect(batches).toHaveLength(3);
  } finally {
    await database.drop();
  }
});

/** Reads `tenants` until `working` resolves; returns the longest wait in milliseconds. */
async function longestReadOfTenants(url: string, working: Promise<unknown>): Promise<number> {
  let [ended, longestMs] = [false, 0];
  void working.then(() => (ended = true));
  while (!ended) {
    const startedMs = performance.now();
    await runAt(url, 'SELECT FROM tenants');
    longestMs = Math.max(longestMs, performance.now() - startedMs);
    await sleep(50);
  }
  return longestMs;
}

/** The time-out of a lock, and the time that a busy machine needs to read. */
const PATIENCE_MS = 9_000;

/** Migrates a database of the previous release while a transaction is open, and again afterwards. */
async function migrateBeside(transaction: string, openMs: number) {
  const database = await createPreviousDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const ending = setTimeout(() => void client.query('COMMIT'), openMs);
  try {
    await client.query(transaction);
    const failure = migrate(database.url).then(
      () => undefined,
      (error: unknown) => error,
    );
    const longestMs = await longestReadOfTenants(database.url, failure);
    await client.query('COMMIT');
    await migrate(database.url);
    await expectCurrentSchema(database);
    return { failure: await failure, longestMs };
  } finally {
    clearTimeout(ending);
    await client.end();
    await database.drop();
  }
}

test.concurrent.each(['audit_entries', 'free_spin_grants', 'tenants', 'transactions'])(
  'while a transaction uses %s, a migration gives up after 5 s, and can be run again',
  async (table) => {
    const transaction = `BEGIN; LOCK TABLE ${table} IN ACCESS SHARE MODE`;
    const { failure, longestMs } = await migrateBeside(transaction, 2 * PATIENCE_MS);
    expect(failure).toMatchObject({
      message: expect.stringMatching(
        /waited 5 s for a table that another transaction uses: run .* lock timeout/,
      ) as string,
    });
    expect(longestMs).toBeLessThan(PATIENCE_MS);
  },
);

test.concurrent('the build of an index waits for a dump of another table, and holds up nothing', async () => {
  const dump = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM nonces';
  const { failure, longestMs } = await migrateBeside(dump, 7_000);
  expect(failure).toBeUndefined();
  expect(longestMs).toBeLessThan(5_000);
});
