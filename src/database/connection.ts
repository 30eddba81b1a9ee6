import pg from 'pg';
import {
  EFFECTIVE_SETTINGS,
  mismatchedSettings,
  MismatchedSettingsError,
  type RefusedSettings,
  startupOptions,
} from './session-settings.js';

/** pg's types do not declare it. */
interface WithParameters {
  readonly connectionParameters: { options: string | undefined };
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

interface ConnectionConfig extends pg.ClientConfig {
  readonly refusedSettings?: RefusedSettings;
}

/**
 * A connection to PostgreSQL that states the settings on which the meaning of statements depends, and does not open if
 * they have other values. Its loss is never fatal to the process. When the server closes or resets a connection,
 * pg rejects the statement under way and also emits `error`, which Node throws if there is no listener. pg's pool
 * listens only while a connection is idle, not while it is checked out.
 */
export class Connection extends pg.Client {
  /** Whether the server is a read-only standby. PostgreSQL reports it on each connection; PgBouncer may not. */
  isStandby = false;
  lossCause: Error | undefined;
  private lastCommand: string | undefined;
  private readonly refusedSettings: RefusedSettings | undefined;

  constructor(config: ConnectionConfig = {}) {
    super(config);
    this.refusedSettings = config.refusedSettings;
    // Not in the configuration, because the options of a URL replace those of the configuration.
    const { connectionParameters: parameters } = this as unknown as WithParameters;
    parameters.options = startupOptions(parameters.options);
    this.on('error', (error) => (this.lossCause ??= error));
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'in_hot_standby') this.isStandby = parameterValue === 'on';
    });
    this.connection.on('commandComplete', ({ text }: { text: string }) => (this.lastCommand = text));
  }

  /** @throws MismatchedSettingsError if a setting differs from what is stated, because a pooler has dropped the statement */
  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const connected = this.open();
    if (!callback) return connected;
    connected.then(() => (callback as (error: Error | null) => void)(null), callback);
    return undefined;
  }

  private async open(): Promise<this> {
    await super.connect();
    try {
      const { rows } = await this.query<Record<string, string>>(EFFECTIVE_SETTINGS);
      const mismatched = mismatchedSettings(rows[0] ?? {});
      if (mismatched.length === 0) return this;
      this.refusedSettings?.report(mismatched);
      throw new MismatchedSettingsError(mismatched);
    } catch (error) {
      this.connection.stream.destroy();
      throw error;
    }
  }

  /**
   * Whether the last command was a rollback. If a statement of the transaction has failed, PostgreSQL answers COMMIT
   * with ROLLBACK and reports no error.
   */
  get rolledBack(): boolean {
    return this.lastCommand === 'ROLLBACK';
  }

  /** Closes the connection; destroys it if the server does not close its end within the given time, in milliseconds. */
  async close(patienceMs: number): Promise<void> {
    const timer = setTimeout(() => this.connection.stream.destroy(), patienceMs);
    await this.end().finally(() => clearTimeout(timer));
  }

  /** Closes a connection on which a statement may still be running. Its pool removes it on release. */
  discard(): void {
    void this.end();
  }
}

/** Opens a connection like those of a pool, which checks its settings, and closes it. */
export async function probe(pool: pg.Pool, patienceMs: number): Promise<void> {
  const connection = new Connection(pool.options);
  await connection.connect();
  await connection.close(patienceMs);
}

/** The state of a pool, as numbers of connections and callers. */
export interface PoolLevels {
  readonly idle: number;
  readonly busy: number;
  readonly limit: number;
  /** Callers waiting for a connection. */
  readonly waiting: number;
}

export function levelsOf({ totalCount, idleCount, waitingCount, options: { max } }: pg.Pool): PoolLevels {
  return { idle: idleCount, busy: totalCount - idleCount, limit: max, waiting: waitingCount };
}

/**
 * A pool's `verify`: refuses a new connection to a standby. After a fail-over, an address may still lead to the old
 * primary. A pool full of such connections would read stale rows and fail every write.
 */
export function refuseStandby(client: pg.ClientBase, done: (error?: Error) => void): void {
  const isStandby = client instanceof Connection && client.isStandby;
  done(isStandby ? new Error('the server is a standby, which can only be read') : undefined);
}

/** A pool of connections that survives the loss of any of them. */
export class ConnectionPool extends pg.Pool {
  private readonly open = new Set<Connection>();

  /** @param onError called when a connection is lost while it is idle */
  constructor(config: pg.PoolConfig & ConnectionConfig, onError: (error: Error) => void) {
    super({ ...config, Client: Connection });
    this.on('error', onError);
    this.on('connect', (client) => this.open.add(client as unknown as Connection));
    this.on('remove', (client) => this.open.delete(client as unknown as Connection));
  }

  /** Closes all connections, and destroys those still open after the given time, in milliseconds. */
  async close(patienceMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const { connection } of this.open) connection.stream.destroy();
    }, patienceMs);
    await this.end().finally(() => clearTimeout(timer));
  }
}
