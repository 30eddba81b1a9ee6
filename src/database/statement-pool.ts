import type pg from 'pg';
import { monotonicMs } from '../runtime/clock.js';
import { Connection } from './connection.js';
import type { Answered, Runner } from './database.js';

/** How often is looked for a database that says nothing any more, in milliseconds. */
const LOOK_MS = 500;

export interface StatementPoolOptions extends pg.ClientConfig {
  /** After how long without an answer a connection is given up, in milliseconds. */
  readonly silenceMs: number;
}

/** How long the server may take to close a connection, in milliseconds; then the socket is destroyed. */
const CLOSE_MS = 1_000;

interface PooledConnection {
  readonly client: Connection;
  /** Since when a statement is under way, of the monotonic clock; undefined where none is. */
  busySinceMs: number | undefined;
}

/**
 * Connections for single statements, as many as are at the database at once. pg's pool is for more than that, and for
 * what comes alone its turns of the loop, events and timers cost more than the statement's values. The connection that was
 * used last is used next: its backend has what it needs at hand.
 */
export class StatementPool implements Runner {
  /** Those that are open or being opened; whoever breaks is none of them any more. */
  private readonly connections = new Set<PooledConnection>();
  private readonly idle: PooledConnection[] = [];
  private watch: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(private readonly options: StatementPoolOptions) {}

  /** @param answered told of an error as well where the connection was lost: the statement may have been carried out */
  query(query: pg.Query, answered: Answered): void {
    // Whatever is opened now would be closed by nobody, and keep the process.
    if (this.ended) return answered(new Error('the pool has ended'), undefined);
    const connection = this.idle.pop();
    if (connection) this.ask(connection, query, answered);
    else this.open(query, answered);
  }

  /** Closes all connections. What is under way is cut off, and fails. */
  async end(): Promise<void> {
    this.ended = true;
    clearInterval(this.watch);
    await Promise.all([...this.connections].map(({ client }) => client.close(CLOSE_MS)));
  }

  private ask(connection: PooledConnection, query: pg.Query, answered: Answered): void {
    connection.busySinceMs = monotonicMs();
    (connection.client as Runner).query(query, (...answer) => {
      connection.busySinceMs = undefined;
      if (this.connections.has(connection)) this.idle.push(connection);
      answered(...answer);
    });
  }

  private open(query: pg.Query, answered: Answered): void {
    const client = new Connection(this.options);
    const connection: PooledConnection = { client, busySinceMs: undefined };
    const forget = () => {
      this.connections.delete(connection);
      const place = this.idle.indexOf(connection);
      if (place >= 0) this.idle.splice(place, 1);
    };
    this.watch ??= setInterval(() => this.giveUpSilent(), LOOK_MS).unref();
    this.connections.add(connection);
    client.on('error', forget);
    client.on('end', forget);
    client.connect((error: Error | null) => {
      if (!error) return this.ask(connection, query, answered);
      forget();
      answered(error, undefined);
    });
  }

  /** PostgreSQL ends what takes too long by itself; where not even that is heard, the connection is cut. */
  private giveUpSilent(): void {
    const nowMs = monotonicMs();
    for (const { client, busySinceMs } of this.connections) {
      if (busySinceMs !== undefined && nowMs - busySinceMs > this.options.silenceMs)
        void client.close(CLOSE_MS);
    }
  }
}
