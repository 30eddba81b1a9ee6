import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './files.js';
import { signal } from './signal.js';

export const HOST = '127.0.0.1';

/** Interval at which the state of an external process is polled, in milliseconds. */
export const POLL_MS = 50;

/**
 * Longest fast shutdown (SIGINT) and immediate shutdown (SIGQUIT), in milliseconds. An immediate shutdown is like a
 * crash: no committed transaction is lost.
 */
const SHUTDOWN_MS = { SIGINT: 30_000, SIGQUIT: 5000 } as const;

/** Passed at each start. They override the settings with which the cluster was created. */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  max_connections: 100,
  shared_buffers: '128MB',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  log_line_prefix: '',
  log_checkpoints: 'off',
  max_logical_replication_workers: 0,
};

/** A cluster's server process, started by us or found. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Absent if the server was found running. */
  readonly child?: ChildProcess;
}

interface PidFile extends Omit<Postmaster, 'child'> {
  readonly ready: boolean;
}

/**
 * Reads the server's pid file.
 * @returns undefined if there is none, or it is not completely written
 */
export async function readPidFile({ folder }: Pick<Cluster, 'folder'>): Promise<PidFile | undefined> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port, , , , status] = text.split('\n');
  if (!Number(pid) || !Number(port)) return undefined;
  return { pid: Number(pid), port: Number(port), ready: status?.trim() === 'ready' };
}

/**
 * Starts a server, without waiting until it answers.
 * @param stalePid the pid in the cluster's pid file, if there is one; its server no longer runs
 */
export function launch(
  { postgres, folder, account }: Cluster,
  port: number,
  stalePid: number | undefined,
  onLine: (line: string) => void,
): Postmaster {
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const child = spawn(postgres, ['-D', folder, ...settings], {
    cwd: folder,
    // If another process has the pid of the old pid file by now, PostgreSQL would take that process for a running
    // server and refuse to start. PostgreSQL ignores the pid in PG_GRANDPARENT_PID, but still checks whether children
    // of the old server are alive.
    env: { LC_ALL: 'C', ...(stalePid !== undefined && { PG_GRANDPARENT_PID: String(stalePid) }) },
    detached: true, // Ctrl-C in the terminal must not end it before the service.
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(account && { uid: account.uid, gid: account.gid }),
  });
  const report = (error: Error): void => onLine(error.message);
  createInterface({ input: child.stderr }).on('line', onLine).on('error', report);
  child.on('error', report);
  return { pid: child.pid ?? 0, port, child };
}

export async function isAlive({ pid, child }: Postmaster, cluster: Cluster): Promise<boolean> {
  if (child) return child.exitCode === null && child.signalCode === null;
  return runsCluster(pid, cluster);
}

/**
 * Whether the process `pid` runs the cluster's server. The pid in a pid file may meanwhile belong to another process or
 * a zombie; this is detected only on Linux.
 */
export async function runsCluster(pid: number, { folder }: Pick<Cluster, 'folder'>): Promise<boolean> {
  if (!signal(pid, 0)) return false;
  if (platform() !== 'linux') return true;
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return commandLine.split('\0').includes(folder);
}

/**
 * Stops the server.
 * @param patienceMs longest wait for a fast shutdown, and then for an immediate one, in milliseconds; see SHUTDOWN_MS
 * @throws Error if the server survives both
 */
export async function shutDown(
  postmaster: Postmaster,
  cluster: Cluster,
  patienceMs: number = SHUTDOWN_MS.SIGINT,
): Promise<void> {
  for (const name of ['SIGINT', 'SIGQUIT'] as const) {
    if (!(await isAlive(postmaster, cluster))) return;
    signal(postmaster.pid, name);
    const limitMs = Math.min(patienceMs, SHUTDOWN_MS[name]);
    for (let waitedMs = 0; waitedMs < limitMs && (await isAlive(postmaster, cluster)); waitedMs += POLL_MS) {
      await sleep(POLL_MS);
    }
  }
  if (await isAlive(postmaster, cluster)) throw new Error(`PostgreSQL (pid ${postmaster.pid}) does not stop`);
}
