import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { monotonicMs } from '../runtime/clock.js';
import { type Connection, levelsOf, type PoolLevels } from './connection.js';
import { MigratedDataSource } from './data-source.js';

/** A statement that PostgreSQL plans once for each connection, by its name; without one, anew each time. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Called when a statement is handed to its connection, after any wait for one. The server does not run it earlier.
 * @param atMs a moment of the monotonic clock
 */
export type OnSend = (atMs: number) => void;

export type Query = <Row extends object>(
  statement: Statement,
  values: readonly unknown[],
  onSend?: OnSend,
) => Promise<Row[]>;

/** Runs statements on a connection, or on whichever of a pool is free. */
export function queryOn(runner: Runner): Query {
  return <Row extends object>(statement: Statement, values: readonly unknown[], onSend?: OnSend) =>
    new Promise<Row[]>((resolve, reject) => {
      runner.query(new NamedQuery(statement, values, onSend), (error, result) => {
        if (error) reject(error);
        else resolve(result.rows as Row[]);
      });
    }).catch(rethrowFromHere);
}

/** Told of an error, or of the rows. */
export type Answered = (
  ...answer: [error: Error, result: undefined] | [error: null, result: pg.QueryResult<object>]
) => void;

/** What a pool and a client both do with a prepared query, though their types do not say so. */
export interface Runner {
  query(query: pg.Query, answered: Answered): void;
}

/** What pg makes of a plain object it copies by its descriptors, which costs more than to send it: of a text it does not. */
class NamedQuery extends pg.Query {
  readonly name: string;

  constructor({ name, text }: Statement, values: readonly unknown[], onSend?: OnSend) {
    super(text, [...values]);
    this.name = name;
    if (!onSend) return;
    const submit = this.submit.bind(this);
    this.submit = (connection) => {
      onSend(monotonicMs());
      return submit(connection);
    };
  }
}

/** One database transaction: what goes through either of the two commits or is rolled back with the other. */
export interface Transaction {
  /** Named statements. */
  readonly query: Query;
  /** Repositories. */
  readonly manager: EntityManager;
}

/** Named statements, single or in a transaction, on connections of the data source's pool. */
@Injectable()
export class Database {
  constructor(private readonly dataSource: DataSource) {}

  /** Where it is, for those who need connections of their own. */
  get url(): string {
    return (this.dataSource.options as { url: string }).url;
  }

  /** The names of the migrations that the start of this instance has run. */
  get migrationsRun(): readonly string[] {
    return this.dataSource instanceof MigratedDataSource ? this.dataSource.migrationsRun : [];
  }

  /** Runs one statement on a connection of the pool. */
  readonly query: Query = async <Row extends object>(
    statement: Statement,
    values: readonly unknown[],
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
   * Runs the work in one transaction: committed when it resolves, rolled back when it rejects. A connection that cannot
   * be rolled back is closed, and the database rolls back.
   * @throws what the work throws; Error if it has resolved although one of its statements failed
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
      await runner.rollbackTransaction().catch(() => connection.discard());
      throw error;
    } finally {
      await runner.release();
    }
  }

  /** The connections of its pool, for monitoring. */
  connections(): PoolLevels {
    return levelsOf((this.dataSource.driver as unknown as { master: pg.Pool }).master);
  }

  /** Whether the database answers, for monitoring. */
  async answers(): Promise<boolean> {
    return this.query(PING, []).then(
      () => true,
      () => false,
    );
  }

  /** Whether every migration that this version knows has run, for monitoring. */
  async isMigrated(): Promise<boolean> {
    return this.dataSource.showMigrations().then(
      (pending) => !pending,
      () => false,
    );
  }
}

const PING: Statement = { name: 'ping', text: 'SELECT 1' };

/** The connection that the runner takes from the pool, to be returned by `runner.release()`. */
async function checkOut(runner: QueryRunner): Promise<Connection> {
  return runner.connect().catch(rethrowFromHere) as Promise<Connection>;
}

/** Rethrows with the stack of the code that waits: the stack of pg's error ends at the socket or timer behind it. */
function rethrowFromHere(error: unknown): never {
  Error.captureStackTrace(error as Error);
  throw error;
}
