import { Client } from 'pg';
import { beforeAll, inject } from 'vitest';
import { Randomness } from '../../src/runtime/randomness.js';
import { SqlConsole } from './sql-console.js';

/** A database of the caller's own on the server of this run. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database. */
export function createTestDatabase(): Promise<TestDatabase> {
  return create(`TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`);
}

/** Creates a database with the current schema, which takes a fraction of the time that its migrations take. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return create(`TEMPLATE ${inject('migratedDatabase')}`);
}

/** A database with the current schema: it is created before the tests of a file or `describe` and dropped after them. */
export function useDatabase(): { readonly url: string; readonly sql: SqlConsole } {
  // Declared at once and completed when the database exists, so that a test file can hold it in a constant.
  const created = {} as { url: string; sql: SqlConsole };
  beforeAll(async () => {
    const { url, drop } = await createMigratedDatabase();
    const sql = SqlConsole.open(url);
    Object.assign(created, { url, sql });
    return async () => {
      await sql.close();
      await drop();
    };
  });
  return created;
}

async function create(origin: string): Promise<TestDatabase> {
  const name = inject('databasePrefix') + new Randomness().bytes(8).toString('hex');
  await onServer(`CREATE DATABASE ${name} ${origin}`);
  const url = new URL(inject('databaseUrl'));
  url.pathname = name;
  return { url: url.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(statement: string): Promise<void> {
  await runAt(inject('databaseUrl'), statement);
}

/** Runs a statement, or several without rows, on a connection of its own. */
export async function runAt<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
