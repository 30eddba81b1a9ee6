import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { monotonicMs } from '../runtime/clock.js';
import { type Connection, levelsOf, type PoolLevels, probe } from './connection.js';
import { MigratedDataSource, MIGRATIONS_RUN, pendingOf } from './data-source.js';
import { RefusedSettings } from './session-settings.js';
import { named, type Statement, valuesOf } from './statement.js';

/**
 * Called when a statement is handed to its connection, after any wait for one. The server cannot run it earlier.
 * @param atMs the monotonic time
 */
export type OnSend = (atMs: number) => void;

export type Query = <Row extends object>(
  statement: Statement,
  values: object,
  onSend?: OnSend,
) => Promise<Row[]>;

/** How long a write is repeated while its connections fail, in milliseconds. Most fail-overs take less. */
const PERSIST_MS = 30_000;
/** Pause before each repetition, in milliseconds. */
const PERSIST_PAUSE_MS = 200;

/** Runs statements on a connection, or on any free connection of a pool. */
export function queryOn(runner: Runner): Query {
  return <Row extends object>(statement: Statement, values: object, onSend?: OnSend) =>
    new Promise<Row[]>((resolve, reject) => {
      runner.query(new NamedQuery(statement, values, onSend), (error, result) => {
        if (error) reject(error);
        else resolve(result.rows as Row[]);
      });
    }).catch(rethrowFromHere);
}

type OnResult = (
  ...answer: [error: Error, result: undefined] | [error: null, result: pg.QueryResult<object>]
) => void;

/** The method of pools and clients that runs a query object; their types do not declare it. */
interface Runner {
  query(query: pg.Query, answered: OnResult): void;
}

/**
 * A query object, in the form that pg sends. pg would first copy a plain object by its property descriptors, which
 * costs more than sending the query.
 */
class NamedQuery extends pg.Query {
  readonly name: string;

  constructor(statement: Statement, values: object, onSend?: OnSend) {
    super(statement.text, valuesOf(statement, values));
    this.name = statement.name;
    if (!onSend) return;
    const submit = this.submit.bind(this);
    this.submit = (connection) => {
      onSend(monotonicMs());
      return submit(connection);
    };
  }
}

/** A database transaction, in which named statements and repositories may be used together. */
export interface Transaction {
  readonly query: Query;
  readonly manager: EntityManager;
}

/** Named statements, single or in a transaction, on connections of the data source's pool. */
@Injectable()
export class Database {
  /** The settings for which connections were refused. Group commit reports those of its own connections here, too. */
  readonly refusedSettings: RefusedSettings;

  constructor(private readonly dataSource: DataSource) {
    this.refusedSettings =
      dataSource instanceof MigratedDataSource ? dataSource.refusedSettings : new RefusedSettings();
  }

  /** The database's address, for rooms that open connections of their own. */
  get url(): string {
    return (this.dataSource.options as { url: string }).url;
  }

  get migrationsRun(): readonly string[] {
    return this.dataSource instanceof MigratedDataSource ? this.dataSource.migrationsRun : [];
  }

  readonly query: Query = async <Row extends object>(
    statement: Statement,
    values: object,
    onSend?: OnSend,
  ) => {
    const runner = this.dataSource.createQueryRunner();
    const connection = await checkOut(runner);
    try {
      return await queryOn(connection)<Row>(statement, values, onSend);
    } catch (error) {
      connection.discard();
      throw error;
    } finally {
      await runner.release();
    }
  };

  /**
   * Runs the work in one transaction, which is committed when the work resolves and rolled back when it rejects. A
   * connection on which the rollback fails, or would wait behind an unanswered statement, is closed, so that the database
   * rolls back.
   * @throws what the work throws; Error if the work resolved although one of its statements failed
   */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const connection = await checkOut(runner);
    try {
      await runner.startTransaction();
      const result = await work({ query: queryOn(connection), manager: runner.manager });
      await runner.commitTransaction();
      if (connection.rolledBack) throw new Error('rolled back: the work ignored the failure of a statement');
      return result;
    } catch (error) {
      if (isUnanswered(error)) connection.discard();
      else await runner.rollbackTransaction().catch(() => connection.discard());
      // After the loss of a connection, the errors of pg and TypeORM only say that it cannot be used.
      if (error instanceof Error && error !== connection.lossCause) error.cause ??= connection.lossCause;
      throw error;
    } finally {
      await runner.release();
    }
  }

  /**
   * Runs a write whose loss nothing else repairs. After an error of its connection it is repeated, for 30 seconds or until
   * the service has stopped. The write must tolerate that: an earlier one may be committed although its answer was lost.
   */
  async persist<T>(write: () => Promise<T>): Promise<T> {
    for (const endMs = monotonicMs() + PERSIST_MS; ;) {
      try {
        return await write();
      } catch (error) {
        if (!isOfConnection(error) || monotonicMs() >= endMs || !this.dataSource.isInitialized) throw error;
      }
      await sleep(PERSIST_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** Runs a statement as a write that is repeated like those of `persist`. */
  persistQuery<Row extends object>(statement: Statement, values: object): Promise<Row[]> {
    return this.persist(() => this.query<Row>(statement, values));
  }

  connections(): PoolLevels {
    return levelsOf(this.pool);
  }

  /**
   * Opens and closes a new connection, which may have other settings than those that are open.
   * @param patienceMs longest wait for the server to close its end, in milliseconds
   * @throws MismatchedSettingsError if it has
   */
  probe(patienceMs: number): Promise<void> {
    return probe(this.pool, patienceMs);
  }

  /** Whether the database answers, for monitoring. */
  async answers(): Promise<boolean> {
    return this.query(PING, {}).then(
      () => true,
      () => false,
    );
  }

  private get pool(): pg.Pool {
    return (this.dataSource.driver as unknown as { master: pg.Pool }).master;
  }

  /**
   * Whether every migration that this version knows has run, for monitoring. TypeORM's own check would create the table
   * of migrations if it does not see it, and keeps its connection if it fails.
   */
  async isMigrated(): Promise<boolean> {
    return this.query<{ name: string }>(RUN, {}).then(
      (done) => pendingOf(done).length === 0,
      () => false,
    );
  }
}

const PING = named('ping', 'SELECT 1');
const RUN = named('migrations_run', MIGRATIONS_RUN);

/** The connection that the runner takes from the pool, to be returned by `runner.release()`. */
async function checkOut(runner: QueryRunner): Promise<Connection> {
  return runner.connect().catch(rethrowFromHere) as Promise<Connection>;
}

/**
 * Rethrows the error with the stack of the caller. The stack of an error from pg only leads to the socket or timer that
 * reported it.
 */
function rethrowFromHere(error: unknown): never {
  Error.captureStackTrace(error as Error);
  throw error;
}

/** SQLSTATEs of a server that cannot be connected to, shuts down, or is a standby and refuses writes. */
const UNAVAILABLE = /^(08...|53300|57P0[1-3]|25006)$/;

/**
 * Whether an error says that a connection was lost or not opened. Only errors that the server reports have a severity; all
 * others count as such.
 */
function isOfConnection(error: unknown): boolean {
  const { severity, code } = error as { readonly severity?: string; readonly code?: string };
  return severity === undefined || UNAVAILABLE.test(code ?? '');
}

/** Whether pg has stopped waiting for the answer to a statement, which may still be running. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
