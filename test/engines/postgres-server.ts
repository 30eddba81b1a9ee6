import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runAt } from '../world/database.js';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import type { Certificate } from './certificate.js';

const VERSIONS = '/usr/lib/postgresql';

/** The programs of Debian's newest PostgreSQL, 15 at least; undefined if there is none. */
export const BINARIES = existsSync(VERSIONS)
  ? readdirSync(VERSIONS)
      .filter((version) => Number(version) >= 15)
      .sort((left, right) => Number(right) - Number(left))
      .map((version) => join(VERSIONS, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'pg_basebackup')))
  : undefined;

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. */
const ACCOUNT: Account | undefined =
  process.getuid?.() === 0 && BINARIES !== undefined ? accountOf('postgres') : undefined;

/** A PostgreSQL server of a test's own, from Debian's package. */
export class PostgresServer {
  private running: ChildProcess | undefined;

  private constructor(
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    readonly port: number,
  ) {}

  /** Starts an empty server. */
  static async create(): Promise<PostgresServer> {
    const server = await PostgresServer.prepare();
    run('initdb', ['-D', server.data, '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8']);
    await server.start();
    return server;
  }

  /** Starts a standby, for whose confirmation each commit of this server waits from now on. */
  async addStandby(): Promise<PostgresServer> {
    const standby = await PostgresServer.prepare();
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres'];
    run('pg_basebackup', ['-D', standby.data, ...from, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
    await standby.start();
    await this.run(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await this.run('SELECT pg_reload_conf()');
    await until(async () => {
      const rows = await this.run(`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`);
      return rows.length === 1;
    });
    return standby;
  }

  /** Accepts only connections by TLS from now on. */
  async requireTls({ certificate, key }: Certificate): Promise<void> {
    for (const [source, name] of [
      [certificate, 'server.crt'],
      [key, 'server.key'],
    ] as const) {
      copyFileSync(source, join(this.data, name));
      chmodSync(join(this.data, name), 0o600);
      chown(join(this.data, name));
    }
    writeFileSync(join(this.data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 trust\n');
    await this.run('ALTER SYSTEM SET ssl = on');
    await this.run('SELECT pg_reload_conf()');
    // The server reloads its rules a moment later; then it refuses new connections without TLS.
    await until(() =>
      this.run('SELECT 1').then(
        () => false,
        () => true,
      ),
    );
  }

  /** The address of a database for a role; whether they exist is not checked. */
  url(database = 'postgres', user = 'postgres'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts it, and waits until it answers. After a crash, its old processes may take a moment to end. */
  async start(): Promise<void> {
    await until(async () => {
      if (this.running?.exitCode !== null) this.running = this.spawn();
      return this.run('SELECT 1').then(
        () => true,
        () => false,
      );
    });
  }

  /**
   * Ends it by a signal: SIGINT for a fast shutdown, SIGQUIT for an immediate one, SIGKILL as the kernel does when
   * memory is short.
   */
  async end(signal: NodeJS.Signals): Promise<void> {
    const { running } = this;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    await exited;
    this.running = undefined;
  }

  /** Makes a standby the primary, and waits until it can be written. */
  async promote(): Promise<void> {
    await this.run('SELECT pg_promote(true, 30)');
  }

  run<Row extends object>(statement: string): Promise<Row[]> {
    return runAt<Row>(this.url(), statement);
  }

  async remove(): Promise<void> {
    await this.end('SIGQUIT');
    await this.folder.remove();
  }

  private get data(): string {
    return join(this.folder.path, 'data');
  }

  private static async prepare(): Promise<PostgresServer> {
    const server = new PostgresServer(await temporaryFolder(), await freePort());
    mkdirSync(server.data, { mode: 0o700 });
    chown(server.data);
    chown(server.folder.path);
    return server;
  }

  private spawn(): ChildProcess {
    const { data, port } = this;
    const settings = [
      `port=${port}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=200',
      // Commits wait until the standby has reconnected. The default of 5 s would dominate the measurement.
      'wal_retrieve_retry_interval=200ms',
    ];
    const options = settings.flatMap((setting) => ['-c', setting]);
    return spawn(join(BINARIES!, 'postgres'), ['-D', data, ...options], {
      ...ACCOUNT,
      cwd: '/',
      stdio: 'ignore',
    });
  }
}

const PGBOUNCER = process.env['PGBOUNCER_PATH'] ?? '/usr/sbin/pgbouncer';

/** A mode of PgBouncer's pools. */
export type PoolMode = 'session' | 'transaction';

const HAS_PGBOUNCER = existsSync(PGBOUNCER);
/** Whether it keeps named statements in transaction mode, as 1.21 and later do. */
const KEEPS_NAMED_STATEMENTS = HAS_PGBOUNCER && minorOf(PGBOUNCER) >= 21;

/** The modes in which the installed PgBouncer can serve; none without one. */
export const POOL_MODES: readonly PoolMode[] = HAS_PGBOUNCER
  ? ['session', ...(KEEPS_NAMED_STATEMENTS ? (['transaction'] as const) : [])]
  : [];

/** Connections to the server, for each role. In transaction mode they are fewer than an instance's connections. */
const SERVER_CONNECTIONS: Readonly<Record<PoolMode, number>> = { session: 60, transaction: 6 };

/** The minor version of a PgBouncer 1. */
function minorOf(pgBouncer: string): number {
  return Number(/PgBouncer 1\.(\d+)/.exec(String(execFileSync(pgBouncer, ['--version'])))?.[1]);
}

/** A PgBouncer before a server, with settings as docs/databases.md has them. */
export class PgBouncer {
  private constructor(
    private readonly folder: Awaited<ReturnType<typeof temporaryFolder>>,
    private readonly running: ChildProcess,
    private readonly port: number,
  ) {}

  static async start(
    server: PostgresServer,
    mode: PoolMode,
    database: string,
    users: readonly string[],
  ): Promise<PgBouncer> {
    const folder = await temporaryFolder();
    const port = await freePort();
    const file = (name: string) => join(folder.path, name);
    writeFileSync(file('users.txt'), users.map((user) => `"${user}" ""\n`).join(''));
    writeFileSync(
      file('pgbouncer.ini'),
      `[databases]
${database} = host=127.0.0.1 port=${server.port} dbname=${database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${file('users.txt')}
pool_mode = ${mode}
${KEEPS_NAMED_STATEMENTS ? 'max_prepared_statements = 200' : ''}
default_pool_size = ${SERVER_CONNECTIONS[mode]}
server_login_retry = 1
ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,options
`,
    );
    for (const path of [folder.path, file('users.txt'), file('pgbouncer.ini')]) chown(path);
    const options = { ...ACCOUNT, cwd: '/', stdio: 'ignore' } as const;
    const running = spawn(PGBOUNCER, [file('pgbouncer.ini')], options);
    const bouncer = new PgBouncer(folder, running, port);
    await until(async () => {
      if (running.exitCode !== null) throw new Error('PgBouncer does not start');
      return runAt(bouncer.url(database, users[0]!), 'SELECT 1').then(
        () => true,
        () => false,
      );
    });
    return bouncer;
  }

  url(database: string, user: string): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  async stop(): Promise<void> {
    const exited = once(this.running, 'exit');
    this.running.kill('SIGTERM');
    await exited;
    await this.folder.remove();
  }
}

/** A port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function run(program: string, options: readonly string[]): void {
  execFileSync(join(BINARIES!, program), options, {
    ...ACCOUNT,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function chown(path: string): void {
  if (ACCOUNT) chownSync(path, ACCOUNT.uid, ACCOUNT.gid);
}

function accountOf(name: string): Account {
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
