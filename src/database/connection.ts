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
}
