import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';

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
    }).catch((error: unknown) => {
      // Its own stack tells of the socket that brought it; this one tells who asked.
      Error.captureStackTrace(error as Error);
      throw error;
    });
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

/** Named statements over the pool of the data source; the repository stays for what is not hot. */
@Injectable()
export class Database {
  readonly query: Query;
  private readonly pool: pg.Pool;

  constructor(private readonly dataSource: DataSource) {
    this.pool = (dataSource.driver as unknown as { master: pg.Pool }).master;
    this.query = queryOn(this.pool);
  }

  /** Where it is, for those who need connections of their own. */
  get url(): string {
    return (this.dataSource.options as { url: string }).url;
  }

  /** Runs the work in one transaction: committed when it resolves, rolled back when it rejects. */
  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await work(queryOn(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: unknown) => {
        broken = failure as Error;
      });
      throw error;
    } finally {
      client.release(broken);
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
