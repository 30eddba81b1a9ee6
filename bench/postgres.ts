import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/embedded-postgres/embedded-postgres.js';

export interface Postgres {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** The settings of `REPORTED_SETTINGS`, which are the same for all contestants. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * PostgreSQL's background work would affect whichever contestant is being measured. It is done between the cases
 * instead, for each contestant; see `tidy`.
 */
const CHANGED = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '32GB' };

const REPORTED_SETTINGS = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
  'max_connections',
  ...Object.keys(CHANGED),
];

/**
 * The embedded PostgreSQL of the service, with its default settings except for `CHANGED` and those given, for some of
 * which it must be restarted.
 */
export async function startPostgres(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Postgres> {
  const options = { dataDir: folder, log: () => undefined };
  const first = await startEmbeddedPostgres(options);
  const client = new pg.Client({ connectionString: first.url });
  await client.connect();
  for (const [name, value] of Object.entries({ ...CHANGED, ...settings })) {
    await client.query(`ALTER SYSTEM SET ${name} = '${value}'`);
  }
  await client.end();
  await first.stop();
  const { url, stop } = await startEmbeddedPostgres(options);
  return { url, stop, ...(await about(url)) };
}

async function about(url: string): Promise<Pick<Postgres, 'pid' | 'version' | 'settings'>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string; setting: string }>(
    `SELECT name, current_setting(name) AS setting FROM pg_settings
      WHERE name = ANY ($1) OR name IN ('server_version', 'data_directory')`,
    [REPORTED_SETTINGS],
  );
  await client.end();
  const all = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  const pidFile = await readFile(join(all['data_directory'] ?? '', 'postmaster.pid'), 'utf8');
  const settings = Object.fromEntries(REPORTED_SETTINGS.map((name) => [name, all[name] ?? '']));
  return { pid: parseInt(pidFile, 10), version: all['server_version'] ?? '', settings };
}

/** Does PostgreSQL's background work: removes dead rows, updates statistics and writes dirty pages. */
export async function tidy(database: pg.Client): Promise<void> {
  await database.query('VACUUM ANALYZE');
  await database.query('CHECKPOINT');
}
