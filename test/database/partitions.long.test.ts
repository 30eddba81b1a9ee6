import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyAudit } from '../../src/audit/verification.js';
import { makeMonthsAhead } from '../../src/commands/partitions.js';
import { connectDataSource, dataSourceOptions, migrate } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { secondsOfPartitionsAhead } from '../../src/database/partitions.js';
import { createTestDatabase, type TestDatabase } from '../world/database.js';
import { SqlConsole } from '../world/sql-console.js';

/** Runs the statements of the version before partitions. */
class PreviousVersion {
  written = 0;

  constructor(private readonly sql: SqlConsole) {}

  async callback(): Promise<number> {
    const [row] = await this.sql.run<{ id: number }>(
      `INSERT INTO callbacks (provider_id, route, reference, body) VALUES ('spinwell', '/r', $1, '{}')
       RETURNING callback_id AS id`,
      [randomUUID()],
    );
    const { id } = row!;
    const completed = await this.sql.run(
      `UPDATE callbacks SET status = 200, duration_ms = 1, completed_at = clock_timestamp()
        WHERE callback_id = $1 AND completed_at IS NULL RETURNING 1`,
      [id],
    );
    expect(completed).toHaveLength(1);
    this.written += 1;
    return id;
  }

  async entry(): Promise<void> {
    await this.sql.run(
      `INSERT INTO audit_entries (actor, role, action, target, outcome) VALUES ('root', 'admin', 'a.b', 'c:d', 'done')`,
    );
  }
}

let database: TestDatabase;
let sql: SqlConsole;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = SqlConsole.open(database.url);
});
afterAll(async () => {
  await dataSource.destroy();
  await sql.close();
  await database.drop();
});

const verify = () => verifyAudit(new Database(dataSource), {});

async function partitionsOf(table: string): Promise<string[]> {
  const rows = await sql.run<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1`,
    [table],
  );
  return rows.map(({ name }) => name);
}

async function ahead(months: number): Promise<string[]> {
  const lines: string[] = [];
  await makeMonthsAhead({ databaseUrl: database.url, dataDir: '' }, months, (line) => void lines.push(line));
  return lines;
}

const setAuditClock = (expression: string) =>
  sql.run(
    `CREATE OR REPLACE FUNCTION audit_now() RETURNS timestamptz LANGUAGE sql AS $$SELECT ${expression}$$`,
  );

test('the migration keeps every row while the previous version runs', async () => {
  const options = dataSourceOptions(database.url);
  const earlier = (options.migrations as { name: string }[]).filter(
    ({ name }) => Number(name.slice(-2)) < 11,
  ) as unknown as NonNullable<typeof options.migrations>;
  const before = await new DataSource({ ...options, migrations: earlier, migrationsRun: true }).initialize();
  await before.destroy();
  const previous = new PreviousVersion(sql);
  for (let n = 0; n < 20; n += 1) {
    await previous.callback();
    await previous.entry();
  }

  let migrated = false;
  const consoles = [SqlConsole.open(database.url), SqlConsole.open(database.url)];
  const versions = consoles.map((console) => new PreviousVersion(console));
  const working = versions.map(async (version) => {
    while (!migrated) {
      await version.callback();
      await version.entry();
    }
    await version.callback();
  });
  await migrate(database.url).finally(() => (migrated = true));
  await Promise.all(working);
  await Promise.all(consoles.map((console) => console.close()));
  dataSource = await connectDataSource(database.url);

  const written = [previous, ...versions].reduce((sum, version) => sum + version.written, 0);
  const [count] = await sql.run<{ rows: number; ids: number }>(
    'SELECT count(*)::int AS rows, count(DISTINCT callback_id)::int AS ids FROM callbacks WHERE status = 200',
  );
  expect(count).toEqual({ rows: written, ids: written });
  expect(await verify()).toMatchObject({ entries: written - versions.length });
  for (const table of ['callbacks', 'audit_entries']) {
    expect(await partitionsOf(table)).toHaveLength(5);
    expect(await partitionsOf(table)).toEqual(
      expect.arrayContaining([`${table}_so_far`, `${table}_default`]),
    );
  }
});

test('the command creates only missing partitions', async () => {
  const lines = await ahead(6);
  expect(lines.filter((line) => line.startsWith('Made callbacks_2'))).not.toHaveLength(0);
  expect(lines.filter((line) => line.startsWith('Made audit_entries_2'))).not.toHaveLength(0);
  expect(lines.filter((line) => line.startsWith('Made operator_answers_2'))).not.toHaveLength(0);
  expect(await ahead(6)).toEqual(['The partitioned tables have partitions for 6 months ahead.']);
});

test('the time until new rows have no partition is that of the table whose partitions end first', async () => {
  const [first] = await sql.run<{ name: string }>(
    `SELECT 'callbacks' || to_char(partitions_end('callbacks') - interval '1 month', '_YYYY_MM') AS name`,
  );
  const days = async () => (await secondsOfPartitionsAhead(new Database(dataSource))) / 86_400;
  const before = await days();
  expect(before).toBeGreaterThan(6 * 30);
  await sql.run(`DROP TABLE ${first!.name}`);
  expect(before - (await days())).toBeGreaterThan(27.9);
  expect(await ahead(6)).toContain(`Made ${first!.name}.`);
  expect(await days()).toBeCloseTo(before, 2);
});

describe('an entry of the audit log', () => {
  test('goes to the partition of its month, and the chain holds over the end of a month', async () => {
    const previous = new PreviousVersion(sql);
    // Whatever today is, the first month with a partition of its own begins at `partition_start()`.
    const first = `partition_start()::timestamp AT TIME ZONE 'UTC'`;
    for (const since of ['1 month -1 second', '1 month', '2 months 1 hour']) {
      await setAuditClock(`${first} + interval '${since}'`);
      await previous.entry();
    }
    const places = await sql.run<{ name: string }>(
      `SELECT tableoid::regclass::text AS name FROM audit_entries ORDER BY day DESC, position DESC LIMIT 3`,
    );
    expect(new Set(places.map(({ name }) => name)).size).toBe(3);
    for (const { name } of places) expect(name).toMatch(/^audit_entries_\d{4}_\d{2}$/);
    await verify();
  });

  test('without a partition goes to the default one, which then becomes its partition', async () => {
    await setAuditClock(`clock_timestamp() + interval '9 months'`);
    const previous = new PreviousVersion(sql);
    await previous.entry();
    await previous.entry();
    const [kept] = await sql.run<{ name: string }>(
      `SELECT tableoid::regclass::text AS name FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1`,
    );
    expect(kept?.name).toBe('audit_entries_default');
    expect((await ahead(6))[0]).toMatch(/^Made audit_entries_(\d{4}_\d{2})_to_\1\.$/);
    await previous.entry();
    expect(await sql.run('SELECT FROM audit_entries_default')).toEqual([]);
    await verify();
  });

  test('cannot be dated by the inserting statement', async () => {
    const insert = `INSERT INTO audit_entries (day, actor, role, action, target) VALUES`;
    for (const day of ['2020-01-01', '2099-01-01']) {
      await expect(sql.run(`${insert} ('${day}', 'x', 'y', 'a.b', 'c:d')`)).rejects.toThrow(
        'is of the day on which it is written',
      );
    }
  });

  test('cannot be changed or removed in its partition either, and one that is inserted there is chained', async () => {
    for (const partition of await partitionsOf('audit_entries')) {
      for (const statement of [
        `UPDATE ${partition} SET actor = 'x'`,
        `DELETE FROM ${partition}`,
        `TRUNCATE ${partition}`,
      ]) {
        await expect(sql.run(statement), statement).rejects.toThrow('append-only');
      }
    }
    const [last] = await sql.run<{ name: string }>(
      `SELECT tableoid::regclass::text AS name FROM audit_entries ORDER BY day DESC, position DESC LIMIT 1`,
    );
    await sql.run(`INSERT INTO ${last!.name} (day, actor, role, action, target)
                   VALUES (audit_next_day(), 'x', 'y', 'a.b', 'c:d')`);
    await verify();
  });
});

test('a callback is completed by the statement of this version too', async () => {
  const [row] = await sql.run<{ id: number; name: string }>(
    `INSERT INTO callbacks (provider_id, route, reference, body) VALUES ('spinwell', '/r', 'x', '{}')
     RETURNING callback_id AS id, tableoid::regclass::text AS name`,
  );
  const completed = await sql.run(
    `UPDATE callbacks SET status = 200, duration_ms = 1, completed_at = clock_timestamp()
      WHERE callback_id = $1 AND completed_at IS NULL AND created_at > statement_timestamp() - interval '1 day' RETURNING 1`,
    [row!.id],
  );
  expect(completed).toHaveLength(1);
});
