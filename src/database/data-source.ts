import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Connection, refuseStandby } from './connection.js';
import { FailedQuerySubscriber } from './failed-query.subscriber.js';
import { RefusedSettings } from './session-settings.js';
import { Foundation1764000000001 } from './migrations/0001-foundation.js';
import { FreeSpins1764000000002 } from './migrations/0002-free-spins.js';
import { Administration1764000000003 } from './migrations/0003-administration.js';
import { SupportDesk1764000000004 } from './migrations/0004-support-desk.js';
import { SoundTransactions1764000000005 } from './migrations/0005-sound-transactions.js';
import { ExceptionalByProvider1764000000006 } from './migrations/0006-exceptional-by-provider.js';
import { SoundRows1764000000007 } from './migrations/0007-sound-rows.js';
import { AuditSeals1764000000008 } from './migrations/0008-audit-seals.js';
import { RolesAndRefusals1764000000009 } from './migrations/0009-roles-and-refusals.js';
import { MonthlyPartitions1764000000011 } from './migrations/0011-monthly-partitions.js';
import { GuardRails1764000000013 } from './migrations/0013-guard-rails.js';
import { AttemptEvidence1764000000014 } from './migrations/0014-attempt-evidence.js';
import { Attention1764000000015 } from './migrations/0015-attention.js';
import { HealthAndPauses1764000000016 } from './migrations/0016-health-and-pauses.js';
import { WinsAboveLimitByTime1764000000017 } from './migrations/0017-wins-above-limit-by-time.js';
import { DeskByCause1764000000018 } from './migrations/0018-desk-by-cause.js';
import { ReportedAnswers1764000000019 } from './migrations/0019-reported-answers.js';
import { AuditByActorAndAction1764000000020 } from './migrations/0020-audit-by-actor-and-action.js';
import { CallbacksOfRequest1764000000021 } from './migrations/0021-callbacks-of-request.js';
import { FlaggableWins1764000000022 } from './migrations/0022-flaggable-wins.js';
import { GrantsByTime1764000000023 } from './migrations/0023-grants-by-time.js';
import { DuplicateGrants1764000000025 } from './migrations/0025-duplicate-grants.js';
import { ExpiringGrants1764000000026 } from './migrations/0026-expiring-grants.js';
import { WinKinds1764000000030 } from './migrations/0030-win-kinds.js';
import { SessionLimits1764000000031 } from './migrations/0031-session-limits.js';
import { RoundDetails1764000000032 } from './migrations/0032-round-details.js';
import { LimitsOfInstallation1764000000034 } from './migrations/0034-limits-of-installation.js';
import { AuditorRole1764000000037 } from './migrations/0037-auditor-role.js';
import { ExpiringKeys1764000000038 } from './migrations/0038-expiring-keys.js';
import { Reconciliations1764000000040 } from './migrations/0040-reconciliations.js';
import { LiveView1764000000043 } from './migrations/0043-live-view.js';
import { AttentionEventsByNumber1764000000044 } from './migrations/0044-attention-events-by-number.js';
import { AttentionUpdates1764000000045 } from './migrations/0045-attention-updates.js';
import { UsedAdjustments1764000000046 } from './migrations/0046-used-adjustments.js';
import { SessionsOfPlayerAtOperator1764000000047 } from './migrations/0047-sessions-of-player-at-operator.js';
import { SoundReportedAnswers1764000000048 } from './migrations/0048-sound-reported-answers.js';
import { GrantsOfGame1764000000049 } from './migrations/0049-grants-of-game.js';
import { SessionsAtOperatorOfPlayer1764000000050 } from './migrations/0050-sessions-at-operator-of-player.js';
import { GrantsOfBatchesByChange1764000000051 } from './migrations/0051-grants-of-batches-by-change.js';

type PostgresDataSourceOptions = Extract<DataSourceOptions, { type: 'postgres' }>;
type Entities = NonNullable<DataSourceOptions['entities']>;

/** Maximum number of connections, besides the twelve of group commit. An embedded PostgreSQL accepts a hundred. */
const POOL_SIZE = 20;
/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT_MS = 5_000;
/** Time-out of a request's statement, in milliseconds. Without it, a stuck statement would lock its rows for ever. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Longest wait for the answer to a statement before its connection is closed, in milliseconds. */
const QUERY_TIMEOUT_MS = 12_000;
/** PostgreSQL's error code for a role without the necessary privilege. */
const INSUFFICIENT_PRIVILEGE = '42501';
/** Time-out of connecting for the migrations, and of each statement on the lock's connection, in milliseconds. */
const START_TIMEOUT_MS = 3_000;
/** Key of the advisory lock that lets one instance migrate at a time. The number is arbitrary. */
const MIGRATION_LOCK = 7_300_001;
/** Polling interval for the migration lock, in milliseconds. */
const LOCK_POLL_MS = 200;

// Amounts are bounded by 2^53-1, and ids and versions never become as high, so a number holds each bigint exactly.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** Connection options and migrations, for the service and the TypeORM CLI. */
export function dataSourceOptions(url: string): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url,
    applicationName: 'croupier',
    migrations: [
      Foundation1764000000001,
      FreeSpins1764000000002,
      Administration1764000000003,
      SupportDesk1764000000004,
      SoundTransactions1764000000005,
      ExceptionalByProvider1764000000006,
      SoundRows1764000000007,
      AuditSeals1764000000008,
      RolesAndRefusals1764000000009,
      MonthlyPartitions1764000000011,
      GuardRails1764000000013,
      AttemptEvidence1764000000014,
      Attention1764000000015,
      HealthAndPauses1764000000016,
      WinsAboveLimitByTime1764000000017,
      DeskByCause1764000000018,
      ReportedAnswers1764000000019,
      AuditByActorAndAction1764000000020,
      CallbacksOfRequest1764000000021,
      FlaggableWins1764000000022,
      GrantsByTime1764000000023,
      DuplicateGrants1764000000025,
      ExpiringGrants1764000000026,
      WinKinds1764000000030,
      SessionLimits1764000000031,
      RoundDetails1764000000032,
      LimitsOfInstallation1764000000034,
      AuditorRole1764000000037,
      ExpiringKeys1764000000038,
      Reconciliations1764000000040,
      LiveView1764000000043,
      AttentionEventsByNumber1764000000044,
      AttentionUpdates1764000000045,
      UsedAdjustments1764000000046,
      SessionsOfPlayerAtOperator1764000000047,
      SoundReportedAnswers1764000000048,
      GrantsOfGame1764000000049,
      SessionsAtOperatorOfPlayer1764000000050,
      GrantsOfBatchesByChange1764000000051,
    ],
    subscribers: [FailedQuerySubscriber],
    migrationsRun: true,
    migrationsTransactionMode: 'each',
    synchronize: false,
    extra: { Client: Connection, connectionTimeoutMillis: START_TIMEOUT_MS },
  };
}

/**
 * Switches JIT compilation off. PostgreSQL compiles plans that it estimates to be expensive, which takes longer than
 * most of the service's statements: with 10^7 transactions, compiling takes 1.6 s for a statement that then reads for
 * 0.2 s. ops/sql/pgbouncer.sql repeats the setting.
 */
const NO_COMPILATION = '-c jit=off';

/** Options for a running service, in which every wait is bounded. */
function servingOptions(
  url: string,
  pool: { verify?: typeof refuseStandby; refusedSettings?: RefusedSettings } = {},
): PostgresDataSourceOptions {
  return {
    ...dataSourceOptions(url),
    migrationsRun: false,
    poolSize: POOL_SIZE,
    extra: {
      Client: Connection,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
      options: NO_COMPILATION,
      ...pool,
    },
  };
}

/** A data source that knows which migrations ran before it was opened, and which settings its connections lack. */
export class MigratedDataSource extends DataSource {
  constructor(
    options: DataSourceOptions,
    readonly migrationsRun: readonly string[],
    readonly refusedSettings: RefusedSettings,
  ) {
    super(options);
  }
}

/**
 * Migrates the schema and opens the data source of the service.
 * @param entities the entities of all modules; they describe the schema and never create it
 */
export async function openDataSource(url: string, entities: Entities = []): Promise<DataSource> {
  const migrationsRun = await migrate(url);
  const refusedSettings = new RefusedSettings();
  const options = { ...servingOptions(url, { verify: refuseStandby, refusedSettings }), entities };
  return new MigratedDataSource(options, migrationsRun, refusedSettings)
    .initialize()
    .catch(refuse('the database cannot be opened'));
}

/**
 * Connects to a database without migrating it.
 * @param entities the entities that repositories use
 */
export async function connectDataSource(url: string, entities: Entities = []): Promise<DataSource> {
  return new DataSource({ ...servingOptions(url), entities }).initialize();
}

/**
 * Brings the schema up to date, one instance at a time. It uses connections of its own, because a migration may take
 * longer than the time-out of a request's statement. If no migration is pending, it only reads, so that the service's
 * role needs no right to change the schema.
 *
 * The lock belongs to an open transaction, not to the session: a pooler that assigns connections by transaction could
 * otherwise leave it on a connection that other clients use.
 * @returns the names of the migrations that ran
 * @throws Error with one line that names DATABASE_URL
 */
export async function migrate(url: string): Promise<string[]> {
  const lock = migrationConnection(url);
  await lock.connect().catch(refuse('the database cannot be opened'));
  try {
    if (lock.isStandby) throw new Error('DATABASE_URL: the server is a standby, which can only be read');
    await takeMigrationLock(lock).catch(refuse('the database was lost while waiting for its migration lock'));
    return await runMigrations(url).catch(refuse('the schema cannot be brought up to date'));
  } finally {
    await lock.close(START_TIMEOUT_MS);
  }
}

/**
 * Names the migrations that `migrate` would run now. It only reads, even if the database is empty.
 * @throws Error with one line that names DATABASE_URL
 */
export async function pendingMigrations(url: string): Promise<string[]> {
  const connection = migrationConnection(url);
  await connection.connect().catch(refuse('the database cannot be opened'));
  try {
    const { rows } = await connection.query<{ exists: boolean }>(
      "SELECT to_regclass('migrations') IS NOT NULL AS exists",
    );
    const done = rows[0]?.exists
      ? (await connection.query<{ name: string }>('SELECT name FROM migrations')).rows
      : [];
    const names = new Set(done.map(({ name }) => name));
    const migrations = dataSourceOptions(url).migrations as readonly { name: string }[];
    return migrations.map(({ name }) => name).filter((name) => !names.has(name));
  } finally {
    await connection.close(START_TIMEOUT_MS);
  }
}

function migrationConnection(url: string): Connection {
  return new Connection({
    connectionString: url,
    application_name: 'croupier-migrations',
    connectionTimeoutMillis: START_TIMEOUT_MS,
    query_timeout: START_TIMEOUT_MS,
  });
}

async function runMigrations(url: string): Promise<string[]> {
  const dataSource = await new DataSource({ ...dataSourceOptions(url), migrationsRun: false }).initialize();
  try {
    return (await dataSource.runMigrations()).map(({ name }) => name);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new Error(
      `this role may not change it: run npm run migrate with the owner's DATABASE_URL first (${message})`,
      { cause: error },
    );
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Waits while another instance migrates. It polls with short statements, because a statement that waits for the lock
 * looks the same as one that the database no longer answers.
 */
async function takeMigrationLock(connection: Connection): Promise<void> {
  // At a higher isolation level, the transaction would keep its snapshot between statements.
  await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await connection.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  for (;;) {
    // A statement with parameters would keep its snapshot until the transaction ends, because its portal stays open.
    // CREATE INDEX CONCURRENTLY in a migration would wait for that snapshot for ever.
    const { rows } = await connection.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS taken`,
    );
    if (rows[0]?.taken) return;
    await sleep(LOCK_POLL_MS);
  }
}

/** Rethrows a failure as one line for the person who started the service. */
function refuse(sentence: string): (error: unknown) => never {
  return (error) => {
    const { message, code } = error as { message?: string; code?: string };
    throw new Error(`DATABASE_URL: ${sentence}: ${message || code || String(error)}`, { cause: error });
  };
}
