import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { partitionsUntil } from '../../src/database/partitions.js';
import { Connection } from '../../src/database/connection.js';
import { migrate } from '../../src/database/data-source.js';
import { withDatabase } from '../../src/commands/service-database.js';
import { createMigratedDatabase, createTestDatabase, runAt, type TestDatabase } from '../world/database.js';
import { DatabaseProxy, withoutOptions } from '../world/database-proxy.js';
import { alter, HOSTILE_SETTINGS, HOSTILE_TIMEOUTS, IRRELEVANT_SETTINGS } from '../world/hostile-settings.js';
import { OPERATOR, startApplication, startWorld, type World } from '../world/world.js';
import { TestClock } from '../world/test-clock.js';

const nameOf = ({ url }: TestDatabase) => new URL(url).pathname.slice(1);

/** Settings of a database or a role that change how a statement runs, what it costs or what is logged, not its meaning. */
const WITHOUT_MEANING = [
  /\./,
  /^(backtrace_|compute_query_id|debug_|log_|md5_|scram_|password_encryption|tcp_|trace_|track_|update_process_)/,
  /^(application_name|client_connection_check_interval|client_min_messages|deadlock_timeout)$/,
  /^(backend_flush_after|commit_|file_copy|io_|wal_|effective_io|maintenance_io|stats_fetch|vacuum_)/,
  /^(enable_|geqo|jit|cpu_|cursor_|from_collapse|join_collapse|seq_page|random_page|parallel_|plan_cache)/,
  /^(constraint_exclusion|default_statistics_|effective_cache_size|recursive_worktable|synchronize_seqscans)/,
  /^(hash_mem|max_parallel|max_stack|min_parallel|gin_pending|logical_decoding|temp_|work_mem|maintenance_work)/,
  /^(allow_|createrole_|default_table|dynamic_|event_triggers|extension_|icu_|ignore_|lc_messages|lo_compat|zero_)/,
  /^(local_preload|session_preload|restrict_nonsystem)/,
  // Of the current transaction only.
  /^transaction_(isolation|read_only|deferrable)$/,
];

/** Minor versions of another server may add settings; the version of the embedded one is fixed. */
const isEmbedded = process.env['TEST_DATABASE_URL'] === undefined;

test.runIf(isEmbedded)('every setting that a database may change is known here', async () => {
  const rows = await runAt<{ name: string }>(
    inject('databaseUrl'),
    `SELECT name FROM pg_settings WHERE context IN ('user', 'superuser') AND name <> 'session_replication_role'`,
  );
  const known = new Set(Object.keys({ ...HOSTILE_SETTINGS, ...HOSTILE_TIMEOUTS, ...IRRELEVANT_SETTINGS }));
  const unknown = rows
    .map(({ name }) => name)
    .filter((name) => !known.has(name) && !WITHOUT_MEANING.some((pattern) => pattern.test(name)));
  expect(unknown).toEqual([]);
});

describe('a connection states', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await createTestDatabase()));
  afterAll(() => database.drop());

  const shown = async (url: string, name: string) => {
    const connection = new Connection({ connectionString: url });
    await connection.connect();
    try {
      const { rows } = await connection.query<{ value: string }>(
        `SELECT current_setting('${name}') AS value`,
      );
      return rows[0]?.value;
    } finally {
      await connection.end();
    }
  };

  test.each(Object.keys({ ...HOSTILE_SETTINGS, ...HOSTILE_TIMEOUTS }))(
    '%s, whatever the database, the role and the URL say',
    async (name) => {
      const known = await runAt(inject('databaseUrl'), `SELECT FROM pg_settings WHERE name ILIKE '${name}'`);
      // PostgreSQL has transaction_timeout since version 17.
      if (known.length === 0) return;
      const value = await shown(database.url, name);
      const hostile = { [name]: { ...HOSTILE_SETTINGS, ...HOSTILE_TIMEOUTS }[name]! };
      const targets = [`DATABASE ${nameOf(database)}`, `ROLE CURRENT_USER IN DATABASE ${nameOf(database)}`];
      for (const target of targets) {
        await alter(inject('databaseUrl'), target, hostile);
        expect(await shown(database.url, name)).toBe(value);
      }
      for (const target of targets) await runAt(inject('databaseUrl'), `ALTER ${target} RESET ${name}`);
      if (name in HOSTILE_TIMEOUTS) return;
      const options = `-c ${name}=${hostile[name]}`;
      expect(await shown(`${database.url}?options=${encodeURIComponent(options)}`, name)).toBe(value);
    },
  );
});

describe.each([
  ['database', (name: string) => `DATABASE ${name}`],
  ['role', (name: string) => `ROLE CURRENT_USER IN DATABASE ${name}`],
])('with hostile settings of the %s', (_, target) => {
  let database: TestDatabase;
  let world: World;
  beforeAll(async () => {
    database = await createTestDatabase();
    const settings = { ...IRRELEVANT_SETTINGS, ...HOSTILE_SETTINGS, ...HOSTILE_TIMEOUTS };
    await alter(inject('databaseUrl'), target(nameOf(database)), settings);
    // Migrates, and creates tenants and games.
    world = await startWorld({ DATABASE_URL: database.url });
  }, 60_000);
  afterAll(async () => {
    await world.stop();
    await database.drop();
  });

  test('the service launches, transacts, and shows what it has stored', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET', { amountMinor: 250 });
    expect((await world.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
    const win = world.transaction(session, 'WIN', { roundId: bet.roundId, amountMinor: 9_007_199_254 });
    expect((await world.submit(win)).json).toMatchObject({ status: 'APPROVED' });
    expect((await world.submit(bet)).headers.get('Idempotency-Replayed')).toBe('true');
    const { items } = (await world.admin('GET', `/v1/admin/transactions?roundId=${bet.roundId}`)).json;
    expect(items).toMatchObject([
      { transactionId: win.transactionId, amountMinor: 9_007_199_254 },
      { transactionId: bet.transactionId, amountMinor: 250 },
    ]);
    const audit = (await world.admin('GET', '/v1/admin/audit')).json['items'] as { createdAt: string }[];
    expect(audit.length).toBeGreaterThan(0);
    const ages = audit.map(({ createdAt }) => Date.now() - Date.parse(createdAt));
    expect(ages.every((ms) => ms > -60_000 && ms < 600_000)).toBe(true);
    const ready = await fetch(`${world.url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      expect.objectContaining({ checks: expect.not.objectContaining({ settings: expect.anything() }) }),
    ]);
  });

  test('32 concurrent ROLLBACKs of one BET, and of 32 BETs, are answered 200', async () => {
    const session = await world.launch();
    const bets = Array.from({ length: 32 }, () => world.transaction(session, 'BET'));
    const booked = await Promise.all(bets.map((bet) => world.submit(bet)));
    expect(booked.map(({ json }) => json['status'])).toEqual(bets.map(() => 'APPROVED'));
    const rollbackOf = ({ roundId, transactionId }: { roundId: string; transactionId: string }) =>
      world.transaction(session, 'ROLLBACK', { roundId, originalTransactionId: transactionId });
    const of32 = await Promise.all(bets.map((bet) => world.submit(rollbackOf(bet))));
    expect(of32.map(({ status }) => status)).toEqual(bets.map(() => 200));
    const one = world.transaction(session, 'BET');
    await world.submit(one);
    const ofOne = await Promise.all(bets.map(() => world.submit(rollbackOf(one))));
    expect(ofOne.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
  });

  test('concurrent changes of a limit are answered 200', async () => {
    const path = `/v1/admin/limits/${OPERATOR}/EUR`;
    // A higher limit than the one before would wait for an approval.
    const changes = Array.from({ length: 12 }, () => world.admin('PUT', path, { maxGrantMinor: 1_000 }));
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 200));
  });

  test('commands read the partitions', async () => {
    await withDatabase(database.url, async (connected) => {
      const ends = (await partitionsUntil(connected, 'audit_entries', '2999-01-01')).map(({ end }) => end);
      expect(ends.length).toBeGreaterThan(0);
      expect(ends.every((end) => /^\d{4}-\d{2}-01$/.test(end))).toBe(true);
    });
  });
});

describe('behind a pooler that drops what connections state', () => {
  let database: TestDatabase;
  let pooler: DatabaseProxy;
  beforeEach(async () => {
    database = await createMigratedDatabase();
    // The other settings have these values by default.
    await alterDatabase({ DateStyle: 'ISO, MDY', TimeZone: 'UTC' });
    pooler = await DatabaseProxy.start(database.url, withoutOptions);
    return async () => {
      await pooler.stop();
      await database.drop();
    };
  });
  const alterDatabase = (settings: Record<string, string>) =>
    alter(inject('databaseUrl'), `DATABASE ${nameOf(database)}`, settings);

  // A pooler passes the encoding on.
  const dropped = Object.entries(HOSTILE_SETTINGS).filter(([name]) => name !== 'client_encoding');

  test.for([...dropped, ['session_replication_role', 'replica'] as [string, string]])(
    '%s is named by a start and by a command, in one line',
    async ([name, value], { skip }) => {
      const isSuperuser = "SELECT current_setting('is_superuser') AS superuser";
      const [role] = await runAt<{ superuser: string }>(inject('databaseUrl'), isSuperuser);
      skip(name === 'session_replication_role' && role?.superuser !== 'on', 'only a superuser may set it');
      await withDatabase(pooler.url, (connected) => connected.isMigrated());
      await alterDatabase({ [name]: value });
      const sentence = new RegExp(`^[^\\n]*: ${name} is '[^\\n]+' and must be '[^\\n]+$`);
      await expect(migrate(pooler.url)).rejects.toThrow(sentence);
      await expect(migrate(pooler.url)).rejects.toThrow(/^DATABASE_URL: /);
      await expect(withDatabase(pooler.url, (connected) => connected.isMigrated())).rejects.toThrow(sentence);
    },
  );

  test.each([
    { TimeZone: 'Etc/UTC', synchronous_commit: 'remote_apply' },
    { TimeZone: 'GMT' },
    { TimeZone: 'Etc/GMT' },
  ])('%o has the same meaning', async (settings) => {
    await alterDatabase(settings);
    expect(await withDatabase(pooler.url, (connected) => connected.isMigrated())).toBe(true);
  });

  test('a setting that appears later makes the service not ready until it is gone', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn');
    const { app, url } = await startApplication({ DATABASE_URL: pooler.url }, new TestClock());
    const readiness = async () => {
      const response = await fetch(`${url}/health/ready`);
      const { status, checks } = (await response.json()) as {
        status: string;
        checks: { settings?: string[] };
      };
      return [response.status, status, checks.settings];
    };
    const poll = () => expect.poll(readiness, { timeout: 30_000, interval: 200 });
    try {
      expect(await readiness()).toEqual([200, 'ok', undefined]);
      await alterDatabase({ default_transaction_isolation: 'serializable', DateStyle: 'German' });
      await poll().toEqual([503, 'unavailable', ['DateStyle', 'default_transaction_isolation']]);
      await expect
        .poll(() => warn.mock.calls.flat(), { timeout: 15_000 })
        .toContainEqual({
          msg: 'not ready: connections to PostgreSQL have other settings',
          settings:
            "DateStyle is 'German, DMY' and must be 'ISO, MDY', default_transaction_isolation is 'serializable' and " +
            "must be 'read committed' (see ops/sql/pgbouncer.sql)",
        });
      await alterDatabase({ default_transaction_isolation: 'read committed', DateStyle: 'ISO, MDY' });
      await poll().toEqual([200, 'ok', undefined]);
    } finally {
      warn.mockRestore();
      await app.close();
    }
  }, 90_000);
});
