import type { Storage } from '../config/configuration.js';
import { connectDataSource, INSUFFICIENT_PRIVILEGE } from '../database/data-source.js';
import { Database } from '../database/database.js';
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.js';
import { interruption } from '../runtime/interruption.js';

/** PostgreSQL's error codes for a table and a function that do not exist. */
const UNDEFINED: readonly unknown[] = ['42P01', '42883'];

/** What to do if a role of `ops/sql` lacks a right, by the role that the command needs. */
const REMEDIES = {
  owner: "run it with the owner's DATABASE_URL",
  service: "run ops/sql/grants.sql with the owner's DATABASE_URL first",
};

type Role = keyof typeof REMEDIES;

/**
 * Runs work on the service's database, whether or not the service is running. Never migrates or creates a database.
 * @throws Error with one sentence if there is no database
 */
export function withServiceDatabase<T>(
  storage: Storage,
  work: (database: Database) => Promise<T>,
  role?: Role,
): Promise<T> {
  return atServiceDatabase(storage, (url) => withDatabase(url, work), role);
}

/**
 * Runs work with the URL of the service's database: `DATABASE_URL`, else that of the embedded database in `DATA_DIR`,
 * which is started temporarily if it is not running.
 * @throws Error with one sentence if there is no database, or if a signal interrupts the work while the embedded database
 *   is started for it
 */
export async function atServiceDatabase<T>(
  { databaseUrl, dataDir }: Storage,
  work: (url: string) => Promise<T>,
  role: Role = 'service',
): Promise<T> {
  const explained = (url: string) => work(url).catch(explain(role));
  if (databaseUrl !== undefined) return explained(databaseUrl);
  const found = await findEmbeddedPostgres(dataDir);
  if (found === 'none')
    throw new Error(`there is no database: set DATABASE_URL, or DATA_DIR (now ${dataDir})`);
  if (found !== 'stopped') return explained(found.url);
  return whileStarted(dataDir, explained);
}

/** Rethrows that a right or the schema is missing as one line that says what to do, and any other failure as it is. */
function explain(needed: Role): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as { code?: string; message?: string };
    if (code === INSUFFICIENT_PRIVILEGE) {
      throw new Error(`DATABASE_URL: this role lacks a right: ${REMEDIES[needed]} (${message})`, {
        cause: error,
      });
    }
    if (UNDEFINED.includes(code)) {
      throw new Error(`the schema is missing or not up to date: run npm run migrate first (${message})`, {
        cause: error,
      });
    }
    throw error;
  };
}

/** Runs work while the embedded database is started for it. An interruption stops the database; the work then fails. */
async function whileStarted<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
  const { signal, end } = interruption();
  try {
    const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined });
    signal.addEventListener('abort', () => void postgres.stop().catch(() => undefined));
    try {
      signal.throwIfAborted();
      return await work(postgres.url);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      await postgres.stop();
    }
  } finally {
    end();
  }
}

export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const dataSource = await connectDataSource(url);
  try {
    return await work(new Database(dataSource));
  } finally {
    await dataSource.destroy();
  }
}
