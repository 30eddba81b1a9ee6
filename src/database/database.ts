import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import type { Connection } from './connection.js';

/** A statement that PostgreSQL plans once for each connection, by its name; without one, anew each time. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Query = <Row extends object>(statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

/** Runs statements on a connection, or on whichever of a pool is free. */
export function queryOn(runner: Runner): Query {
  return <Row extends object>(statement: Statement, values: readonly unknown[]) =>
    new Promise<Row[]>((resolve, reject) => {
      runner.query(new NamedQuery(statement, values), (error, result) => {
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

  constructor({ name, text }: Statement, values: readonly unknown[]) {
    super(text, [...values]);
    this.name = name;
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

  /** Runs one statement on a connection of the pool. */
  readonly query: Query = async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
    const runner = this.dataSource.createQueryRunner();
    const connection = await checkOut(runner);
    try {
      return await queryOn(connection)<Row>(statement, values);
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
   */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const connection = await checkOut(runner);
    try {
      await runner.startTransaction();
      const result = await work({ query: queryOn(connection), manager: runner.manager });
      await runner.commitTransaction();
      return result;
    } catch (error) {
      await runner.rollbackTransaction().catch(() => connection.discard());
      throw error;
    } finally {
      await runner.release();
    }
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
