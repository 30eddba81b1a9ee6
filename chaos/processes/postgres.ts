import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type Child, freePort, run, start, until } from './child.js';
import { changeStatements, resetStatement, type SettingName, type SettingsScope } from '../settings.js';
import type { Address } from './link.js';

/** How PostgreSQL is ended: by a fast or immediate shutdown, or by SIGKILL. */
export type Ending = 'restart' | 'crash' | 'kill';
const SIGNALS = { restart: 'SIGINT', crash: 'SIGQUIT', kill: 'SIGKILL' } as const;

/**
 * The faults kill processes and not the machine, so the kernel's page cache keeps what was written without fsync. The
 * primary reports a commit only when the replica has it.
 */
const SETTINGS = {
  fsync: 'off',
  wal_level: 'replica',
  hot_standby: 'on',
  max_connections: '200',
  max_wal_senders: '6',
  wal_keep_size: '512MB',
  shared_buffers: '256MB',
  max_wal_size: '2GB',
  // How long the replica waits before it connects again after a restart of the primary. Commits wait for the replica
  // all that time.
  wal_retrieve_retry_interval: '200ms',
};

/** So that the statements of the run work, and last, whatever settings they have changed. */
const OWN_OPTIONS = '-c default_transaction_read_only=off -c synchronous_commit=on -c statement_timeout=0';

interface Server {
  readonly folder: string;
  readonly port: number;
  child: Child | undefined;
}

/** The folder of PostgreSQL's programs, Debian's newest version first; undefined if there is none. */
export function postgresBinaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(debian, version, 'bin')), '/usr/local/bin', '/usr/bin'];
  return folders.find(
    (folder) => existsSync(join(folder, 'pg_basebackup')) && existsSync(join(folder, 'initdb')),
  );
}

/** A primary with a synchronous replica for fail-over, in a folder of its own. */
export class Postgres {
  private primary!: Server;
  private replica: Server | undefined;
  private servers = 0;
  /** The account that PostgreSQL's processes run under if this process runs as root. */
  private readonly account = process.getuid?.() === 0 ? accountOf('postgres') : undefined;

  private constructor(
    private readonly binaries: string,
    private readonly folder: string,
  ) {}

  static async start(binaries: string, folder: string): Promise<Postgres> {
    const postgres = new Postgres(binaries, folder);
    await mkdir(folder, { mode: 0o755 });
    await postgres.own(folder);
    await postgres.initialise();
    await postgres.addReplica();
    return postgres;
  }

  get address(): Address {
    return { host: '127.0.0.1', port: this.primary.port };
  }

  /** The replica's address; undefined while there is none. */
  get standby(): Address | undefined {
    return this.replica && { host: '127.0.0.1', port: this.replica.port };
  }

  get url(): string {
    return urlOf(this.primary);
  }

  get version(): string {
    return execFileSync(join(this.binaries, 'postgres'), ['--version']).toString().trim();
  }

  /** Ends the primary and starts it again. */
  async endAndStart(how: Ending): Promise<void> {
    const { primary } = this;
    primary.child?.process.kill(SIGNALS[how]);
    await primary.child?.ended();
    await this.launch(primary);
  }

  /** Ends the primary by an immediate shutdown and promotes the replica. */
  async failOver(): Promise<void> {
    const { primary, replica } = this;
    if (!replica) throw new Error('there is no replica');
    primary.child?.process.kill('SIGQUIT');
    await primary.child?.ended();
    await this.execute('pg_ctl', ['promote', '-D', replica.folder, '-w', '-t', '30']);
    this.primary = replica;
    this.replica = undefined;
    await rm(primary.folder, { recursive: true, force: true });
  }

  /** Adds a replica of the current primary, for which each commit waits from then on. */
  async addReplica(): Promise<void> {
    const replica = await this.server();
    const { port } = this.primary;
    const source = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
    await this.execute('pg_basebackup', [
      ...source,
      '-D',
      replica.folder,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '--no-sync',
    ]);
    await this.launch(replica);
    await until('the replica streams', 60, async () => {
      const rows = await this.query(`SELECT FROM pg_stat_replication WHERE state = 'streaming'`);
      return rows.length > 0;
    });
    await this.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await this.query('SELECT pg_reload_conf()');
    this.replica = replica;
  }

  /** Gives settings of new connections other values. */
  async changeSettings(scope: SettingsScope, names: readonly SettingName[]): Promise<void> {
    await this.query(changeStatements(scope, names));
  }

  async resetSettings(scope: SettingsScope): Promise<void> {
    await this.query(resetStatement(scope));
  }

  async stop(): Promise<void> {
    for (const server of [this.replica, this.primary]) {
      server?.child?.process.kill('SIGQUIT');
      await server?.child?.ended();
    }
  }

  private async initialise(): Promise<void> {
    this.primary = await this.server();
    await this.execute('initdb', [
      '-D',
      this.primary.folder,
      '-U',
      'postgres',
      '-A',
      'trust',
      '--no-sync',
      '-E',
      'UTF8',
    ]);
    const settings = Object.entries(SETTINGS).map(([name, value]) => `${name} = '${value}'\n`);
    const file = join(this.primary.folder, 'postgresql.conf');
    await writeFile(file, (await readFile(file, 'utf8')) + settings.join(''));
    await this.launch(this.primary);
    await this.query('CREATE DATABASE croupier', 'postgres');
  }

  private async server(): Promise<Server> {
    this.servers += 1;
    return { folder: join(this.folder, `server-${this.servers}`), port: await freePort(), child: undefined };
  }

  private async launch(server: Server): Promise<void> {
    const args = ['-D', server.folder, '-p', String(server.port), '-k', '', '-h', '127.0.0.1'];
    await until('PostgreSQL has started', 60, async () => {
      // After a SIGKILL, a new server cannot start until the remaining processes of the old one have ended.
      if (!server.child?.running) {
        const log = join(this.folder, 'postgresql.log');
        server.child = start(join(this.binaries, 'postgres'), args, log, {
          cwd: this.folder,
          ...this.account,
        });
      }
      return this.execute('pg_isready', ['-h', '127.0.0.1', '-p', String(server.port), '-q']).then(
        () => true,
        () => false,
      );
    });
  }

  private execute(program: string, args: readonly string[]): Promise<string> {
    return run(join(this.binaries, program), args, { cwd: this.folder, ...this.account });
  }

  private async query(sql: string, database = 'croupier'): Promise<object[]> {
    const client = new pg.Client({
      connectionString: urlOf(this.primary, database),
      options: OWN_OPTIONS,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<object>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  private async own(folder: string): Promise<void> {
    if (this.account) await chown(folder, this.account.uid, this.account.gid);
  }
}

function urlOf({ port }: Server, database = 'croupier'): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

function accountOf(name: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, name]).toString());
  return { uid: id('-u'), gid: id('-g') };
}
