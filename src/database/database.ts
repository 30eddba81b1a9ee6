import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';

/** A statement that PostgreSQL plans once for each connection, by its name; without one, anew each time. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Query = <Row extends object>(statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

/** Runs statements on a connection, or on whichever of a pool is free. */
export function queryOn(connection: pg.Pool | pg.PoolClient): Query {
  return async <Row extends object>(statement: Statement, values: readonly unknown[]) => {
    const { rows } = await connection.query<Row>({ ...statement, values: [...values] });
    return rows;
  };
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
