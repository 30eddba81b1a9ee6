import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Metrics } from '../observability/metrics.js';
import { runUntraced } from '../observability/trace.js';
import { monotonicMs } from '../runtime/clock.js';
import { failureText } from '../runtime/failure-text.js';
import { ConnectionPool, levelsOf, type PoolLevels, probe, refuseStandby } from './connection.js';
import { Database, type OnSend, type Query, queryOn } from './database.js';
import type { GroupStatement } from './group-statement.js';
import { isSameDatabase } from './same-database.js';
import { named } from './statement.js';

/** Maximum number of items in a batch. It bounds the time that a request waits for the rest of its batch. */
export const BATCH_LIMIT = 64;
/**
 * Most turns of the event loop for which a small batch waits for further items. A turn without anything to do takes
 * microseconds.
 */
const GATHERING_TURNS = 4;
/**
 * A batch of this size does not wait. If it did, all requests would soon be in the same batch, and the service and
 * PostgreSQL would wait for each other.
 */
const ENOUGH_ITEMS = 12;
/** Size of the pool. There are fewer group statements than connections, and each uses one connection at a time. */
const CONNECTIONS = 12;
/** How long a batch waits for a row lock, in milliseconds, before its items are retried individually. */
const LOCK_TIMEOUT_MS = 50;
/** How long a batch may run, in milliseconds, before its items are retried individually. */
const STATEMENT_TIMEOUT_MS = 2_000;
/** Longest wait for the answer to a statement before its connection is closed, in milliseconds. */
const QUERY_TIMEOUT_MS = 3_000;
/** Longest wait for a connection, in milliseconds. */
const CONNECTION_TIMEOUT_MS = 1_000;
/** How long a stop waits for statements in progress and for the server to close the connections, in milliseconds. */
const CLOSE_MS = 1_000;
/**
 * Each connection keeps one generic plan per statement. PostgreSQL may make the plan while the tables are empty, and
 * the plan must still find each row by its key when the tables are large. Therefore sequential scans, hash joins and
 * merge joins are switched off. The high cost of an index entry makes the planner choose the index in which it reads
 * the fewest entries.
 */
const PLANNER_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  cpu_index_tuple_cost: '100',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};
export const PLANNER = Object.entries(PLANNER_SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ');
/** All settings of the connections, as PostgreSQL shows them. ops/sql/pgbouncer.sql repeats them. */
const SETTINGS: Readonly<Record<string, string>> = {
  ...PLANNER_SETTINGS,
  lock_timeout: String(LOCK_TIMEOUT_MS),
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
};
const SHOW_SETTINGS = named(
  'group_commit_settings',
  'SELECT name, setting FROM pg_settings WHERE name = ANY (:names)',
);

interface Item {
  readonly values: object;
  readonly onSend: OnSend | undefined;
  readonly resolve: (row: object | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The waiting items of one statement, and the size of the last batch. */
interface Queue {
  readonly waiting: Item[];
  /** Whether a batch is being gathered or committed. */
  busy: boolean;
  lastBatchSize: number;
}

/**
 * Group commit: one statement commits requests that arrive together. Each statement has a queue with one batch under
 * way at a time. Items that arrive meanwhile, and shortly after, form the next batch. Each item waits for the commit of
 * its batch. A request without concurrent peers is sent immediately.
 *
 * Invariant: each item gets the result that it would get individually. The items of a failed batch are retried
 * individually, so that one item's invalid row, lock or conflict costs the others only one more attempt. A failed batch
 * has changed nothing, unless it was committed and only its result was lost. Therefore every statement has a condition
 * that makes a repetition harmless.
 */
@Injectable()
export class GroupCommit implements OnApplicationBootstrap, OnApplicationShutdown {
  /** Minimum number of items for which the batch form of a statement is used. */
  protected readonly smallestBatch: number = 2;
  private readonly logger = new BoundedLogger('GroupCommit');
  private readonly queues = new Map<GroupStatement, Queue>();
  private readonly pool: ConnectionPool;
  private readonly query: Query;
  private readonly enabled: boolean;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
    private readonly configuration: Configuration,
  ) {
    this.enabled = configuration.groupCommit;
    this.pool = new ConnectionPool(
      {
        connectionString: configuration.groupCommitDatabaseUrl ?? database.url,
        application_name: 'croupier-group-commit',
        max: CONNECTIONS,
        idleTimeoutMillis: 0,
        connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
        statement_timeout: STATEMENT_TIMEOUT_MS,
        query_timeout: QUERY_TIMEOUT_MS,
        lock_timeout: LOCK_TIMEOUT_MS,
        options: PLANNER,
        verify: refuseStandby,
        refusedSettings: database.refusedSettings,
      },
      // Otherwise the line would name the request that opened the connection.
      ({ message }) =>
        runUntraced(() => this.logger.warn({ msg: 'an idle connection was lost', detail: message })),
    );
    this.query = queryOn(this.pool);
  }

  /**
   * Runs the statement on one row of values, in one batch with other rows that are waiting.
   * @param onSend called when the row is sent, and again if a retry produces the result row; the last call belongs to
   *   the execution that produced the result
   * @returns the row's result, if any
   */
  run<Row extends object>(
    statement: GroupStatement,
    values: object,
    onSend?: OnSend,
  ): Promise<Row | undefined> {
    if (!this.enabled) return this.runSingle(statement, values, onSend) as Promise<Row | undefined>;
    return new Promise<object | undefined>((resolve, reject) => {
      const queue = this.queueOf(statement);
      queue.waiting.push({ values, onSend, resolve, reject });
      if (!queue.busy) this.next(statement, queue);
    }) as Promise<Row | undefined>;
  }

  connections(): PoolLevels {
    return levelsOf(this.pool);
  }

  /** Does for its own connections what `Database.probe` does for others. */
  async probe(patienceMs: number): Promise<void> {
    if (this.enabled) await probe(this.pool, patienceMs);
  }

  /**
   * Warns if a pooler has dropped the settings of the connections.
   * @throws Error with one line that names the variable, if GROUP_COMMIT_DATABASE_URL is set and one of the databases
   *   cannot be reached, or they differ
   */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.enabled) return;
    const ownUrl = this.configuration.groupCommitDatabaseUrl !== undefined;
    const names = Object.keys(SETTINGS);
    const refuse = refuseNaming('GROUP_COMMIT_DATABASE_URL');
    const rows = await this.query<{ name: string; setting: string }>(SHOW_SETTINGS, { names }).catch(
      ownUrl ? refuse : () => [],
    );
    if (ownUrl) {
      const query: Query = (...call) => this.query<never>(...call).catch(refuse);
      const same = await isSameDatabase(this.database, query).catch(refuseNaming('DATABASE_URL'));
      // A transaction that is claimed in one database is not retried or resolved from another.
      if (!same) throw new Error('GROUP_COMMIT_DATABASE_URL leads to another database than DATABASE_URL');
    }
    const missing = rows.filter(({ name, setting }) => setting !== SETTINGS[name]).map(({ name }) => name);
    if (missing.length === 0) return;
    const msg =
      'group commit runs without its connection settings, which makes it slower: set GROUP_COMMIT_DATABASE_URL';
    this.logger.warn({ msg, missing });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close(CLOSE_MS);
  }

  private queueOf(statement: GroupStatement): Queue {
    let queue = this.queues.get(statement);
    if (!queue) {
      queue = { waiting: [], busy: false, lastBatchSize: 0 };
      this.queues.set(statement, queue);
    }
    return queue;
  }

  /** Sends one batch after another until the queue is empty. Individual retries are not awaited. */
  private next(statement: GroupStatement, queue: Queue): void {
    queue.busy = queue.waiting.length > 0;
    // The more requests are under way, the more of them join a batch that waits.
    const turns = Math.min(Math.floor(queue.lastBatchSize / 2), GATHERING_TURNS);
    if (queue.busy) this.gather(statement, queue, turns);
  }

  /** Waits for further items during some turns of the event loop, and then sends a batch. */
  private gather(statement: GroupStatement, queue: Queue, turns: number): void {
    if (turns === 0 || queue.waiting.length >= ENOUGH_ITEMS) this.commit(statement, queue);
    else setImmediate(() => this.gather(statement, queue, turns - 1));
  }

  private commit(statement: GroupStatement, queue: Queue): void {
    const batch = queue.waiting.splice(0, BATCH_LIMIT);
    queue.lastBatchSize = batch.length;
    const sentMs = monotonicMs();
    void this.send(statement, batch).then(
      (rows) => {
        this.metrics.batchCommitted(statement.single.name, monotonicMs() - sentMs);
        batch.forEach((item, index) => item.resolve(rows[index]));
        this.next(statement, queue);
      },
      (error: unknown) => {
        this.retryIndividually(statement, batch, error);
        this.next(statement, queue);
      },
    );
    this.metrics.batchSent(statement.single.name, batch.length);
  }

  private retryIndividually(statement: GroupStatement, batch: readonly Item[], error: unknown): void {
    const { name } = statement.single;
    this.metrics.groupCommitFailures.inc({ statement: name });
    const { code } = error as { code?: string };
    const single = batch.length === 1;
    // Not every error of a connection has a code.
    const line = {
      msg: single ? 'statement failed, retrying it' : 'batch failed, retrying its items individually',
      statement: name,
      items: batch.length,
      code,
      detail: failureText(error),
    };
    // The current trace may be that of an earlier request, after whose batch this one was sent.
    runUntraced(() => this.logger.warn(line));
    for (const item of batch) this.retry(statement, item).then(item.resolve, item.reject);
  }

  /**
   * Runs an item of a failed batch individually. If only the result of the batch was lost, its rows are committed, and
   * `alreadyDone` finds the item's row.
   */
  private async retry(statement: GroupStatement, { values, onSend }: Item): Promise<object | undefined> {
    let sentMs: number | undefined;
    const row = await this.runSingle(statement, values, (atMs) => (sentMs = atMs));
    if (row && sentMs !== undefined) onSend?.(sentMs);
    if (row || !statement.alreadyDone) return row;
    const [done] = await this.database.query(statement.alreadyDone, values);
    return done;
  }

  /** @returns the result row of each item, if any */
  private send(statement: GroupStatement, items: readonly Item[]): Promise<readonly (object | undefined)[]> {
    const [first] = items;
    if (first && items.length < this.smallestBatch) {
      return this.query(statement.single, first.values, first.onSend);
    }
    return this.sendBatch(statement, items);
  }

  private async sendBatch(
    { batch, columns, key }: GroupStatement,
    items: readonly Item[],
  ): Promise<(object | undefined)[]> {
    const sources = items.map(({ values }, item) => sourceRow(columns, item, values));
    const rows = await this.query<Record<string, unknown>>(
      batch,
      { items: JSON.stringify(sources) },
      (atMs) => {
        for (const { onSend } of items) onSend?.(atMs);
      },
    );
    const rowFor = new Map(rows.map((row) => [row[key], row]));
    return sources.map((source) => rowFor.get(source[key]));
  }

  /** Runs one item on a connection of the requests' pool, outside of the queues. */
  private async runSingle(
    statement: GroupStatement,
    values: object,
    onSend?: OnSend,
  ): Promise<object | undefined> {
    const [row] = await this.database.query(statement.single, values, onSend);
    return row;
  }
}

/** The error of a database that cannot be opened. Its message names the variable with the database's URL. */
class UnopenedError extends Error {}

/** Rethrows an error with the variable's name, unless it names one already. */
function refuseNaming(variable: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof UnopenedError) throw error;
    throw new UnopenedError(`${variable}: the database cannot be opened: ${failureText(error)}`);
  };
}

/** An item's values as a JSON object for `json_to_recordset`; a Buffer becomes hexadecimal bytea text. */
function sourceRow(
  columns: ReadonlyMap<string, string>,
  item: number,
  values: object,
): Record<string, unknown> {
  const row: Record<string, unknown> = { item };
  for (const [name, column] of columns) {
    const value = (values as Readonly<Record<string, unknown>>)[name];
    row[column] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  }
  return row;
}
