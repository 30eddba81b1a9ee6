import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../world/database.js';
import { until } from '../world/patience.js';
import { SqlConsole } from '../world/sql-console.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { ended, launch, type Launched } from './launch.js';

/** Longest time from its cause to the end of a failed start, in milliseconds. */
const LIMIT_MS = 5_000;
/** Additional time for starting a process on a busy machine, in milliseconds. */
const MARGIN_MS = 15_000;

/** Accepts connections and never answers, like a hanging Redis or database. */
class SilentServer {
  readonly connected: Promise<unknown>;
  private readonly sockets: Socket[] = [];

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.sockets.push(socket.on('error', () => undefined)));
    this.connected = once(server, 'connection');
  }

  static async start(): Promise<SilentServer> {
    const silent = new SilentServer(createServer());
    silent.server.listen(0, '127.0.0.1');
    await once(silent.server, 'listening');
    return silent;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let redis: SilentServer;
let environment: Record<string, string>;
let launched: Launched | undefined;

beforeEach(async () => {
  launched = undefined;
  folder = await temporaryFolder();
  database = await createTestDatabase();
  redis = await SilentServer.start();
  environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: folder.path,
    LOG_LEVEL: 'silent',
    ADMIN_API_KEY: 'admin-key-of-the-process-tests-01234567',
    SECRETS_KEY: Buffer.from('key of a start that fails, 32 by').toString('base64'),
    DATABASE_URL: database.url,
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
  };
  return async () => {
    if (launched?.process.exitCode === null && launched.process.signalCode === null) {
      launched.process.kill('SIGKILL');
      await ended(launched);
    }
    redis.stop();
    await database.drop();
    await folder.remove();
  };
});

function start(change: Record<string, string | undefined> = {}): Launched {
  launched = launch({ ...environment, ...change });
  return launched;
}

/** Expects a start that fails with status 1 and this line. */
async function expectRefusal(
  starting: Launched,
  line: RegExp,
  limitMs = LIMIT_MS + MARGIN_MS,
): Promise<void> {
  const began = performance.now();
  expect(await ended(starting)).toBe(1);
  expect(performance.now() - began).toBeLessThan(limitMs);
  expect(starting.lines.at(-1)).toMatch(line);
}

test('a start fails with one line if the database refuses connections', async () => {
  const refused = start({ DATABASE_URL: 'postgres://127.0.0.1:9/nothing' });
  await expectRefusal(refused, /^croupier does not start: DATABASE_URL: the database cannot be opened: /);
});

test('a start fails with one line if the database rejects the password', async () => {
  const url = new URL(database.url);
  url.password = 'wrong';
  const refused = start({ DATABASE_URL: url.href });
  await expectRefusal(refused, /^croupier does not start: DATABASE_URL: .*password authentication failed/);
});

test('a start fails with one line if the database accepts connections and does not answer', async () => {
  const blackHole = await SilentServer.start();
  try {
    const refused = start({ DATABASE_URL: `postgres://croupier@127.0.0.1:${blackHole.port}/croupier` });
    await blackHole.connected;
    await expectRefusal(refused, /^croupier does not start: DATABASE_URL: the database cannot be /);
  } finally {
    blackHole.stop();
  }
});

test('a start fails with one line if group commit would use another database, even on the same server', async () => {
  const other = await createTestDatabase();
  try {
    const refused = start({ GROUP_COMMIT_DATABASE_URL: other.url, REDIS_URL: undefined });
    await expectRefusal(
      refused,
      /^croupier does not start: GROUP_COMMIT_DATABASE_URL leads to another database than DATABASE_URL$/,
    );
  } finally {
    await other.drop();
  }
});

test('a start fails with one line if a migration fails', async () => {
  const sql = SqlConsole.open(database.url);
  await sql.run('CREATE TABLE sessions (of_something_else text)');
  await sql.close();
  const sentence =
    /^croupier does not start: DATABASE_URL: the schema cannot be brought up to date: .*"sessions"/;
  await expectRefusal(start(), sentence);
});

test('a start fails with one line if the port is taken', async () => {
  const refused = start({ PORT: String(redis.port) });
  await expectRefusal(refused, /^croupier does not start: PORT: \d+ is taken on 127\.0\.0\.1$/);
});

test('a start whose sandbox fails after the service has started stops the embedded PostgreSQL', async () => {
  await writeFile(join(folder.path, 'sandbox'), 'in the way');
  const refused = start({ SANDBOX: 'true', DATABASE_URL: undefined, REDIS_URL: undefined });
  const running = join(folder.path, 'postgresql/data/postmaster.pid');
  await until(async () => existsSync(running));
  await expectRefusal(refused, /^croupier does not start: .*sandbox/, 2 * MARGIN_MS);
  expect(existsSync(running)).toBe(false);
});

test('a start does not fail if Redis is unreachable', async () => {
  const port = String(redis.port);
  redis.stop();
  const starting = start({ PORT: port, REDIS_URL: 'redis://127.0.0.1:9' });
  await until(async () => {
    expect(starting.process.exitCode).toBeNull();
    return (await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined))?.status === 200;
  });
});

test('a start waits for the migration of another instance longer than for a database that does not answer', async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(7300001)');
  const port = String(redis.port);
  redis.stop();
  const starting = start({ PORT: port, REDIS_URL: undefined });
  const waiting = `SELECT FROM pg_stat_activity
    WHERE application_name = 'croupier-migrations' AND clock_timestamp() - backend_start > interval '3500 ms'`;
  await until(async () => (await holder.query(waiting)).rowCount === 1);
  expect([starting.process.exitCode, starting.lines]).toEqual([null, []]);
  await holder.end();
  await until(
    async () => (await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined))?.status === 200,
  );
});

/** Expects that a signal stops a start in progress with status 0 and a line of its own. */
async function expectStop(starting: Launched): Promise<void> {
  const began = performance.now();
  starting.process.kill('SIGTERM');
  expect(await ended(starting)).toBe(0);
  expect(performance.now() - began).toBeLessThan(LIMIT_MS + MARGIN_MS);
  expect(starting.lines.at(-1)).toBe('croupier was stopped by SIGTERM before it had started');
}

test('a start that waits for the migration of another instance stops on SIGTERM, and says so', async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock(7300001)');
  const starting = start({ NODE_ENV: 'production', REDIS_URL: undefined });
  const waiting = "SELECT FROM pg_stat_activity WHERE application_name = 'croupier-migrations'";
  await until(async () => (await holder.query(waiting)).rowCount === 1);
  await expectStop(starting);
  await holder.end();
});

test('a start that creates a PostgreSQL cluster stops on SIGTERM, and leaves nothing behind', async () => {
  const starting = start({ DATABASE_URL: undefined, REDIS_URL: undefined });
  await until(async () => (await readdir(folder.path)).some((name) => name.startsWith('.unfinished-')));
  await until(async () => starting.lines.some((line) => line.startsWith('creating a PostgreSQL cluster')));
  await expectStop(starting);
  expect(await readdir(folder.path)).toEqual([]);
});

test.each(['postgresql', 'postgresql/data/postmaster.pid'])(
  'a start whose embedded PostgreSQL has reached %s stops on SIGTERM, and leaves no server behind',
  async (reached) => {
    const starting = start({ DATABASE_URL: undefined, REDIS_URL: undefined });
    await until(async () => existsSync(join(folder.path, reached)));
    await expectStop(starting);
    expect(existsSync(join(folder.path, 'postgresql/data/postmaster.pid'))).toBe(false);
  },
);
