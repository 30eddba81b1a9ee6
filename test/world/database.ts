import { Client } from 'pg';
import { inject } from 'vitest';
import { Randomness } from '../../src/runtime/randomness.js';

/** A fresh, empty database of the caller's own, on the server of this run; any number may be made at once. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = inject('databasePrefix') + new Randomness().bytes(8).toString('hex');
  await onServer(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`);
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
