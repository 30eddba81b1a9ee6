import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/commands/migrate.js';
import { runAt } from '../world/database.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { BINARIES, PostgresServer } from './postgres-server.js';

const run = promisify(execFile);

/** The shell commands of a page that contain a text, as the page has them. */
function commands(path: string, text: string): string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => /^(createdb|psql|pg_restore) /.test(line) && line.includes(text));
}

/** Runs commands as an administrator of the server. psql reports a failed statement only on standard error. */
async function administer(server: PostgresServer, lines: readonly string[]): Promise<void> {
  const env = { ...process.env, PGHOST: '127.0.0.1', PGPORT: String(server.port), PGUSER: 'postgres' };
  expect(lines).not.toEqual([]);
  for (const line of lines) expect((await run('sh', ['-c', line], { env })).stderr, line).toBe('');
}

describe.skipIf(BINARIES === undefined)('on a new server, the commands of the documents', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: PostgresServer;
  let newServer: PostgresServer;
  beforeAll(async () => {
    folder = await temporaryFolder();
    [server, newServer] = [await PostgresServer.create(), await PostgresServer.create()];
  }, 120_000);
  afterAll(async () => {
    await server.remove();
    await newServer.remove();
    await folder.remove();
  });

  const countByService = (from: PostgresServer, database: string) =>
    runAt(from.url(database, 'croupier_service'), 'SELECT count(*)::int AS count FROM audit_entries');

  test('create the database and its roles', async () => {
    const roles = commands('SECURITY.md', 'ops/sql/roles.sql');
    await administer(
      server,
      commands('docs/databases.md', 'croupier').filter((line) => line.startsWith('createdb')),
    );
    await administer(server, [...roles, ...roles]);
    await migrateDatabase(
      { databaseUrl: server.url('croupier', 'croupier_owner'), dataDir: 'unused' },
      () => undefined,
    );
    await administer(server, commands('SECURITY.md', 'ops/sql/grants.sql'));
    expect(await countByService(server, 'croupier')).toEqual([{ count: 0 }]);
  }, 120_000);

  test('restore a dump', async () => {
    const dump = join(folder.path, 'croupier.dump');
    await run('pg_dump', ['--format=custom', `--file=${dump}`, server.url('croupier', 'croupier_owner')]);
    const restore = commands('docs/operations.md', 'croupier_restored');
    await administer(
      newServer,
      restore.map((line) => line.replace('croupier-….dump', dump)),
    );
    expect(await countByService(newServer, 'croupier_restored')).toEqual([{ count: 0 }]);
  }, 120_000);
});
