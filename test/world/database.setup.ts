import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/database/data-source.js';
import { startEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { Randomness } from '../../src/runtime/randomness.js';
import { temporaryFolder } from './temporary-folder.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL server on which databases may be created. */
    databaseUrl: string;
    /** Prefix of the names of this run's databases. */
    databasePrefix: string;
    /** A database with the current schema, which others are created from. */
    migratedDatabase: string;
    redisUrl: string | null;
  }
}

/** One PostgreSQL for the whole run: that of TEST_DATABASE_URL, else an embedded one that leaves nothing behind. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL'];
  const server = given ? { url: given, stop: noop } : await temporaryPostgres();
  const databasePrefix = `croupier_test_${new Randomness().bytes(4).toString('hex')}_`;
  provide('databaseUrl', server.url);
  provide('databasePrefix', databasePrefix);
  provide('migratedDatabase', await createMigrated(server.url, `${databasePrefix}migrated`));
  provide('redisUrl', process.env['TEST_REDIS_URL'] ?? null);
  return async () => {
    if (given) await dropDatabases(given, databasePrefix);
    await server.stop();
  };
}

async function createMigrated(serverUrl: string, name: string): Promise<string> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(
    `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = name;
  await migrate(url.href);
  return name;
}

async function temporaryPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await temporaryFolder();
  const lines: string[] = [];
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: folder.path, log: (line) => lines.push(line) });
    return {
      url: postgres.url,
      stop: async () => {
        await postgres.stop();
        await folder.remove();
      },
    };
  } catch (error) {
    await folder.remove();
    throw new Error(`the tests have no database: ${lines.join('\n')}`, { cause: error });
  }
}

/** Drops databases that a test file left behind because it failed or was killed. */
async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const left = await client.query<{ datname: string }>('SELECT datname FROM pg_database');
    for (const { datname } of left.rows.filter((row) => row.datname.startsWith(prefix))) {
      await client.query(`DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`);
    }
  } finally {
    await client.end();
  }
}

async function noop(): Promise<void> {
  // TEST_DATABASE_URL names a server that is not stopped here
}
