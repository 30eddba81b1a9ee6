import { Client } from 'pg';
import { inject } from 'vitest';
import { Randomness } from '../../src/runtime/randomness.js';

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

async function create(origin: string): Promise<TestDatabase> {
  const name = inject('databasePrefix') + new Randomness().bytes(8).toString('hex');
  await onServer(`CREATE DATABASE ${name} ${origin}`);
  const url = new URL(inject('databaseUrl'));
  url.pathname = name;
  return { url: url.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: inject('databaseUrl') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
