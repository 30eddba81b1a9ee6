import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { failureText } from '../runtime/failure-text.js';
import { Connection, refuseStandby } from './connection.js';
import { FailedQuerySubscriber } from './failed-query.subscriber.js';
import * as migrations from './migrations/all.js';
import { RefusedSettings } from './session-settings.js';

/** The number at the end of a migration's name, by which TypeORM orders them. */
const numberOf = ({ name }: { readonly name: string }) => Number(name.slice(-13));
/** In the order in which they run; the module lists them by name. */
const MIGRATIONS = Object.values(migrations).sort((one, other) => numberOf(one) - numberOf(other));

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
export const INSUFFICIENT_PRIVILEGE = '42501';
/** PostgreSQL's error code for a lock that was not taken within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';
/**
 * Longest wait of a migration's statement for a lock, in milliseconds. While it waits, other statements on the table
 * queue behind it. Therefore the migration gives up, and the next start tries again.
 */
const MIGRATION_LOCK_TIMEOUT_MS = 5_000;
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
    migrations: MIGRATIONS,
    subscribers: [FailedQuerySubscriber],
    migrationsRun: true,
    migrationsTransactionMode: 'each',
    synchronize: false,
    extra: {
      Client: Connection,
      connectionTimeoutMillis: START_TIMEOUT_MS,
      lock_timeout: MIGRATION_LOCK_TIMEOUT_MS,
    },
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
  return new MigratedDataSource(options, migrationsRun, refusedSettings).initialize().catch(refuseUnopened);
}

/**
 * Connects to a database without migrating it.
 * @param entities the entities that repositories use
 * @throws Error with one line that names DATABASE_URL
 */
export async function connectDataSource(url: string, entities: Entities = []): Promise<DataSource> {
  return new DataSource({ ...servingOptions(url), entities }).initialize().catch(refuseUnopened);
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
  await lock.connect().catch(refuseUnopened);
  try {
    if (lock.isStandby) throw new Error('DATABASE_URL: the server is a standby, which can only be read');
    await refuseChangedCollation(lock);
    await takeMigrationLock(lock).catch(refuse('the database was lost while waiting for its migration lock'));
    return await runMigrations(url, lock).catch(refuse('the schema cannot be brought up to date'));
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
  await connection.connect().catch(refuseUnopened);
  try {
    const { rows } = await connection.query<{ exists: boolean }>(
      "SELECT to_regclass('migrations') IS NOT NULL AS exists",
    );
    const done = rows[0]?.exists ? (await connection.query<{ name: string }>(MIGRATIONS_RUN)).rows : [];
    return pendingOf(done);
  } finally {
    await connection.close(START_TIMEOUT_MS);
  }
}

/** Selects the migrations that have run, for `pendingOf`. */
export const MIGRATIONS_RUN = 'SELECT name FROM migrations';

/** @param done the migrations that have run */
export function pendingOf(done: readonly { readonly name: string }[]): string[] {
  const names = new Set(done.map(({ name }) => name));
  return MIGRATIONS.map(({ name }) => name).filter((name) => !names.has(name));
}

/**
 * Selects the version of the collation with which the database's indexes were built and that of the server's library,
 * if they differ. PostgreSQL records no version for the locale C, whose order never changes.
 */
const CHANGED_COLLATION = `
  SELECT datcollversion AS recorded, coalesce(pg_database_collation_actual_version(oid), 'unknown') AS actual
    FROM pg_database
   WHERE datname = current_database() AND datcollversion IS NOT NULL
     AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)`;

/**
 * Refuses a database whose texts may sort differently since its indexes were built. A search in such an index can miss
 * a row that exists, so a unique index would let a transaction be booked twice.
 */
async function refuseChangedCollation(connection: Connection): Promise<void> {
  const { rows } = await connection
    .query<{ recorded: string; actual: string }>(CHANGED_COLLATION)
    .catch(refuse('the collation of the database cannot be read'));
  const [changed] = rows;
  if (!changed) return;
  throw new Error(
    `DATABASE_URL: the collation of the database has version ${changed.recorded}, that of the server ${changed.actual}: rebuild the indexes first (docs/databases.md, "PostgreSQL: collation")`,
  );
}

function migrationConnection(url: string): Connection {
  return new Connection({
    connectionString: url,
    application_name: 'croupier-migrations',
    connectionTimeoutMillis: START_TIMEOUT_MS,
    query_timeout: START_TIMEOUT_MS,
    // The lock's connection is idle during a migration, and a load balancer may drop one without any traffic.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
}

/** @param lock the connection that holds the migration lock; once it is lost, no further statement is sent */
async function runMigrations(url: string, lock: Connection): Promise<string[]> {
  const dataSource = await new DataSource({ ...dataSourceOptions(url), migrationsRun: false }).initialize();
  dataSource.subscribers.push({
    beforeQuery: () => {
      if (lock.lossCause) throw new Error(`the migration lock was lost (${failureText(lock.lossCause)})`);
    },
  });
  try {
    return (await dataSource.runMigrations()).map(({ name }) => name);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === LOCK_NOT_AVAILABLE) {
      throw new Error(
        `waited ${MIGRATION_LOCK_TIMEOUT_MS / 1000} s for a table that another transaction uses: run npm run migrate again while no dump or other long transaction runs (${message})`,
        { cause: error },
      );
    }
    if (code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new Error(
      `this role may not change it: run npm run migrate with the owner's DATABASE_URL first, then ops/sql/grants.sql (${message})`,
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
    throw new Error(`DATABASE_URL: ${sentence}: ${failureText(error)}`, { cause: error });
  };
}

/** Rethrows why the first connection could not be opened. */
export const refuseUnopened = refuse('the database cannot be opened');
