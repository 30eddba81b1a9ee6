import { setTimeout as sleep } from 'node:timers/promises';
import { failureText } from '../runtime/failure-text.js';
import { Randomness } from '../runtime/randomness.js';
import { Connection } from '../database/connection.js';
import { type Cluster, findCluster, prepareCluster, removeUnfinished, SUPERUSER } from './files.js';
import {
  HOST,
  isAlive,
  launch,
  POLL_MS,
  type Postmaster,
  readPidFile,
  runsCluster,
  shutDown,
} from './postmaster.js';

export interface EmbeddedPostgres {
  /** `postgres://…`; does not change while this process runs. */
  readonly url: string;
  /**
   * Shuts down the server, even one that was taken over. A second call waits for the first.
   * @param patienceMs longest wait for a fast shutdown, and then for an immediate one, in milliseconds
   * @throws Error if the server does not stop
   */
  stop(patienceMs?: number): Promise<void>;
}

/**
 * Starts the PostgreSQL whose cluster is in `dataDir`, or takes over the one that a killed process left running there,
 * and keeps it running until `stop`.
 * @param options.dataDir created if it is missing
 * @param options.log called with each line of the server's output and of our own messages
 * @param options.abandoned interrupts the start, which then stops what it started and fails
 * @throws Error with one sentence: the folder is in use or cannot be entered, or the server does not start
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log: (line: string) => void;
  abandoned?: AbortSignal;
}): Promise<EmbeddedPostgres> {
  const { dataDir, log, abandoned } = options;
  const cluster = await prepareCluster(dataDir, log, abandoned);
  const supervisor = new Supervisor(cluster, log, abandoned);
  const port = await supervisor.start();
  return {
    url: urlOf(cluster, port),
    stop: (patienceMs) => supervisor.stop(patienceMs),
  };
}

/**
 * Finds the PostgreSQL that a service runs in `dataDir`, for commands that run beside the service. Never starts, takes
 * over or stops it.
 * @returns 'none' if there is no cluster, 'stopped' if its server is not ready
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<{ url: string } | 'stopped' | 'none'> {
  const cluster = await findCluster(dataDir);
  if (!cluster) return 'none';
  const port = await readyPort(cluster);
  return port === undefined ? 'stopped' : { url: urlOf(cluster, port) };
}

/** Whether another process owns the cluster in `dataDir` and runs its server. */
export async function isOwned(dataDir: string): Promise<boolean> {
  const cluster = await findCluster(dataDir);
  const port = cluster && (await readyPort(cluster));
  if (port === undefined) return false;
  const client = connectionTo(cluster!, port);
  try {
    await client.connect();
    // Ending the connection releases the lock if it is granted.
    const tried = 'SELECT pg_try_advisory_lock($1) AS free';
    const { rows } = await client.query<{ free: boolean }>(tried, [OWNER_LOCK]);
    return rows[0]?.free === false;
  } finally {
    await client.end();
  }
}

/** The port of the cluster's server; undefined if it is not ready. */
async function readyPort(cluster: Pick<Cluster, 'folder'>): Promise<number | undefined> {
  const running = await readPidFile(cluster);
  return running?.ready && (await runsCluster(running.pid, cluster)) ? running.port : undefined;
}

export function inUse(dataDir: string, cause?: unknown): Error {
  const message = `DATA_DIR: ${dataDir} is in use by another process: stop that one or choose another folder`;
  return new Error(message, { cause });
}

const DATABASE = 'croupier';

function urlOf({ password }: Pick<Cluster, 'password'>, port: number): string {
  return `postgres://${SUPERUSER}:${password}@${HOST}:${port}/${DATABASE}`;
}

/** The server's port is below the range for outgoing connections, so that it is free at a restart. */
const PORTS = { first: 20_000, count: 12_000 };
/** Longest time until a started server answers, including crash recovery, in milliseconds. */
const OWN_START_MS = 120_000;
/** Longest time until a server that was found running answers, in milliseconds; it may be stopping. */
const FOUND_START_MS = 20_000;
/** Longest fast shutdown after a failed start, in milliseconds. */
const FAILED_START_MS = 2_000;
/**
 * Maximum number of attempts to start. An attempt fails if the server exits, for example because another process wins
 * the race for the folder or the port.
 */
const START_TRIES = 5;
/** Each attempt waits this much longer than the previous one, in milliseconds. */
const START_PAUSE_MS = 100;
/** First and longest pause before a lost server is restarted, in milliseconds. The pause doubles with each attempt. */
const RECOVERY_PAUSE_MS = { first: 100, last: 5000 };
/** Longest wait for the lock, which may outlive a crashed process for a moment, in milliseconds. */
const LOCK_WAIT_MS = 2000;
/** Key of an advisory lock in the database `postgres`. Its holder owns the folder. The number is arbitrary. */
const OWNER_LOCK = 4_020_081_500;
/** Number of the server's last output lines that the error of a failed start shows. */
const LINES_KEPT = 10;

const INVALID_PASSWORD = '28P01';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Owns the folder by holding the advisory lock on one connection. The end of this connection shows that the server may
 * have died. This works both for a child process and for a server that was taken over.
 */
class Supervisor {
  private readonly stopped = new AbortController();
  private readonly lastLines: string[] = [];
  /** Does not change after the folder was first owned. */
  private port: number | undefined;
  private postmaster: Postmaster | undefined;
  private owner: Connection | undefined;
  private recovery: Promise<void> | undefined;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly log: (line: string) => void,
    private readonly abandoned: AbortSignal | undefined,
  ) {}

  /** Resolves with the port when the server answers and the database exists. */
  async start(): Promise<number> {
    try {
      const owner = await this.own();
      this.abandoned?.throwIfAborted();
      const found = await owner.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
      if (found.rowCount === 0) await owner.query(`CREATE DATABASE ${DATABASE}`);
      await removeUnfinished(this.cluster.dataDir);
      return this.port!;
    } catch (error) {
      await this.stop(FAILED_START_MS);
      throw error;
    }
  }

  stop(patienceMs?: number): Promise<void> {
    this.stopping ??= this.shutDown(patienceMs);
    return this.stopping;
  }

  private async shutDown(patienceMs: number | undefined): Promise<void> {
    this.stopped.abort();
    await this.recovery;
    if (this.postmaster) await shutDown(this.postmaster, this.cluster, patienceMs);
    await this.owner?.end().catch(ignore);
  }

  /** @throws Error if another process owns the folder, or no server can be started */
  private async own(): Promise<Connection> {
    const { postmaster, client } = await this.reach();
    if (this.port !== undefined && postmaster.port !== this.port) {
      await shutDown(postmaster, this.cluster);
      throw new Error(
        `the server was found on port ${postmaster.port} instead of ${this.port}, and was stopped`,
      );
    }
    if (!postmaster.child) this.log(`took over the PostgreSQL that was left running (pid ${postmaster.pid})`);
    this.port = postmaster.port;
    this.owner = client;
    client.once('end', () => {
      this.owner = undefined;
      if (!this.stopped.signal.aborted) this.recovery = this.recover();
    });
    return client;
  }

  private async recover(): Promise<void> {
    this.log('the connection that locks DATA_DIR was lost: restarting or reconnecting to PostgreSQL');
    const { first, last } = RECOVERY_PAUSE_MS;
    for (let pauseMs = first; ; pauseMs = Math.min(2 * pauseMs, last)) {
      await sleep(pauseMs, undefined, { signal: this.stopped.signal }).catch(ignore);
      if (this.stopped.signal.aborted) return;
      try {
        await this.own();
        this.log(`PostgreSQL is back on port ${this.port}`);
        return;
      } catch (error) {
        if (!this.stopping)
          this.log(`PostgreSQL is not running, or belongs to another process: ${failureText(error)}`);
      }
    }
  }

  /**
   * Finds or starts the server and takes the lock. If two processes start a server at the same time, one server exits,
   * and its process finds the other server. If the owner is stopping, its server exits and is started again here.
   */
  private async reach(): Promise<{ postmaster: Postmaster; client: Connection }> {
    for (let tries = 0; tries < START_TRIES; tries++) {
      await sleep(tries * START_PAUSE_MS);
      const found = await readPidFile(this.cluster);
      const running = found && (await runsCluster(found.pid, this.cluster)) ? found : undefined;
      const ours = running?.pid === this.postmaster?.pid ? this.postmaster : undefined;
      const postmaster: Postmaster = ours ?? running ?? this.launch(found?.pid);
      const client = await this.waitForAnswer(postmaster);
      if (client && (await this.lock(client, postmaster))) return { postmaster, client };
    }
    throw new Error(`PostgreSQL does not start in ${this.cluster.folder}: ${this.lastLines.join(' ')}`);
  }

  /**
   * Takes the lock on the folder.
   * @returns false if the server has exited meanwhile
   * @throws Error if another process holds the lock; the server is then left running
   */
  private async lock(client: Connection, postmaster: Postmaster): Promise<boolean> {
    this.postmaster = postmaster;
    try {
      await client.query('SELECT pg_advisory_lock($1)', [OWNER_LOCK]);
      return true;
    } catch (error) {
      await client.end().catch(ignore);
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) return false;
      this.postmaster = undefined;
      postmaster.child?.unref();
      postmaster.child?.stderr?.destroy();
      throw inUse(this.cluster.dataDir, error);
    }
  }

  private launch(stalePid: number | undefined): Postmaster {
    const port = this.port ?? PORTS.first + (new Randomness().bytes(2).readUInt16BE() % PORTS.count);
    this.lastLines.length = 0;
    return launch(this.cluster, port, stalePid, (line) => {
      this.lastLines.push(line);
      this.lastLines.splice(0, this.lastLines.length - LINES_KEPT);
      this.log(line);
    });
  }

  /**
   * Waits until the server answers.
   * @returns a connection; undefined if the server has exited
   * @throws Error if the server does not answer in time or refuses the password, or if the start is abandoned or `stop`
   * is called
   */
  private async waitForAnswer(postmaster: Postmaster): Promise<Connection | undefined> {
    const limitMs = postmaster.child ? OWN_START_MS : FOUND_START_MS;
    let refused = false;
    for (let waitedMs = 0; waitedMs < limitMs && !refused; waitedMs += POLL_MS) {
      if (!(await isAlive(postmaster, this.cluster))) return undefined;
      const file = await readPidFile(this.cluster);
      if (file?.pid === postmaster.pid && file.ready) {
        const client = connectionTo(this.cluster, postmaster.port);
        try {
          await client.connect();
          const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
          if (rows[0]?.data_directory === this.cluster.folder) return client;
          throw new Error('the server on this port serves another folder');
        } catch (error) {
          void client.end().catch(ignore);
          refused = codeOf(error) === INVALID_PASSWORD;
        }
      }
      if (this.stopped.signal.aborted || this.abandoned?.aborted) break;
      await sleep(POLL_MS);
    }
    if (postmaster.child) await shutDown(postmaster, this.cluster, FAILED_START_MS);
    throw new Error(
      `DATA_DIR: the PostgreSQL of ${this.cluster.dataDir} (pid ${postmaster.pid}) does not answer on port ` +
        `${postmaster.port}, or refuses the password in this folder: stop it and start again`,
    );
  }
}

/** A connection to the database in which the folder's lock is taken. */
function connectionTo({ password }: Pick<Cluster, 'password'>, port: number): Connection {
  return new Connection({
    host: HOST,
    port,
    user: SUPERUSER,
    password,
    database: 'postgres',
    application_name: 'croupier-owner',
    connectionTimeoutMillis: 5000,
    lock_timeout: LOCK_WAIT_MS,
    // Otherwise the server logs an error when it stops and ends this connection. A role with the other value of
    // session_replication_role is refused where it matters, by the connections of the service.
    options: '-c log_min_messages=panic -c session_replication_role=origin',
  });
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

function ignore(): void {
  // The error is reported where the connection or server is used.
}
