import pg from 'pg';

/**
 * A connection to PostgreSQL whose loss is never fatal to the process. pg emits `error` when the server closes or
 * resets a connection, in addition to rejecting the statement under way; without a listener that event is thrown.
 * pg's pool listens only while a connection is idle, not while it is checked out.
 */
export class Connection extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }

  /** Closes the connection, by force where the server does not close its end within so many milliseconds. */
  async close(patienceMs: number): Promise<void> {
    const timer = setTimeout(() => this.connection.stream.destroy(), patienceMs);
    await this.end().finally(() => clearTimeout(timer));
  }

  /** Closes a connection that may still be occupied by a statement. Its pool replaces it when it is returned. */
  discard(): void {
    void this.end();
  }
}

/** A pool of connections that survives the loss of any of them. */
export class ConnectionPool extends pg.Pool {
  private readonly open = new Set<Connection>();

  /** @param onError called when a connection is lost while it is idle */
  constructor(config: pg.PoolConfig, onError: (error: Error) => void) {
    super({ ...config, Client: Connection });
    this.on('error', onError);
    this.on('connect', (client) => {
      if (client instanceof Connection) this.open.add(client);
    });
    this.on('remove', (client) => {
      if (client instanceof Connection) this.open.delete(client);
    });
  }

  /** Closes all connections, by force those that are not closed within so many milliseconds. */
  async close(patienceMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const { connection } of this.open) connection.stream.destroy();
    }, patienceMs);
    await this.end().finally(() => clearTimeout(timer));
  }
}
