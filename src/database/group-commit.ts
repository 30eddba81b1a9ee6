import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Metrics } from '../observability/metrics.js';
import { Database, type Query, queryOn, type Statement } from './database.js';
import { StatementPool } from './statement-pool.js';

/** Members of a batch: one statement's time at most is what a request waits for others. */
const LARGEST_BATCH = 64;
/** How long a batch may wait for a row that somebody else holds, in milliseconds: its members do not wait for one. */
const LOCK_TIMEOUT_MS = 50;
/** When a batch is given up and its members go alone, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 2_000;
/** When a database that says nothing any more is given up, in milliseconds. */
const SILENCE_MS = 3_000;
const CONNECTION_TIMEOUT_MS = 1_000;
/**
 * One plan of these statements serves all values for as long as its connection lives. It may be made while the tables
 * are empty, and must look up each row by its key all the same: to read a row's neighbours is said to be dear.
 */
export const PLANNER = [
  ...['plan_cache_mode=force_generic_plan', 'jit=off', 'cpu_index_tuple_cost=100'],
  ...['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off'],
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** A statement that does to many rows of values what it does to one: the same words over another source. */
export interface GroupStatement {
  readonly alone: Statement;
  readonly together: Statement;
  readonly columns: readonly string[];
  /** The column by which a row of the answer tells which member it is for. */
  readonly key: string;
  /** Finds the row of an earlier try whose commit succeeded although its answer was lost; takes the same values. */
  readonly alreadyDone: Statement | undefined;
}

export interface GroupStatementOptions {
  /** `member`, or a column of which no two members have the same value, where the answer cannot bear `member`. */
  readonly key?: string;
  /** The text of `alreadyDone` over a source of one row. */
  readonly alreadyDone?: (asked: string) => string;
}

/**
 * @param columns the values' names and types, in their order
 * @param text the statement over a source of rows that have these columns, and `member`
 */
export function groupStatement(
  name: string,
  columns: Readonly<Record<string, string>>,
  text: (asked: string) => string,
  { key = 'member', alreadyDone }: GroupStatementOptions = {},
): GroupStatement {
  const typed = Object.entries(columns);
  const one = typed.map(([column, type], index) => `$${index + 1}::${type} AS ${column}`).join(', ');
  const many = typed.map(([column, type]) => `${column} ${type}`).join(', ');
  const single = `SELECT 0 AS member, ${one}`;
  return {
    alone: { name, text: text(single) },
    together: {
      name: `${name}_together`,
      // PostgreSQL expects a hundred rows of any JSON, for which it would rather read a small table whole; after this
      // condition, which is always true, it expects one.
      text: text(`SELECT * FROM json_to_recordset($1::json) AS asked (member integer, ${many})
                   WHERE asked.member + 0 = asked.member`),
    },
    columns: typed.map(([column]) => column),
    key,
    alreadyDone: alreadyDone && { name: `${name}_already_done`, text: alreadyDone(single) },
  };
}

interface Member {
  readonly values: readonly unknown[];
  readonly resolve: (row: object | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The members that wait, whether a batch is at the database, and how many members the last one had. There are six: a BET's
 * lane and a look's, a WIN's, those of two settlements, a session's.
 */
interface Lane {
  readonly waiting: Member[];
  busy: boolean;
  lastBatch: number;
}

/**
 * Commits together what arrives together. Each statement has one lane to the database: whatever waits while a batch
 * is there goes with the next one, and everybody waits for the commit of its own. Who is alone waits for nobody.
 *
 * Invariant: each member is answered as if it had gone alone. A batch that fails has changed nothing, and its members go
 * on alone: one's bad row, lock or conflict costs the others no more than another try. A commit whose answer was lost may
 * have changed all; so whatever goes this way must bear being tried twice, by its own condition.
 */
@Injectable()
export class GroupCommit implements OnApplicationShutdown {
  /** Members from which on the statement for many is used. */
  protected readonly leastTogether: number = 2;
  private readonly logger = new BoundedLogger('GroupCommit');
  private readonly lanes = new Map<GroupStatement, Lane>();
  private readonly pool: StatementPool;
  private readonly query: Query;
  private readonly enabled: boolean;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
    configuration: Configuration,
  ) {
    this.enabled = configuration.groupCommit;
    this.pool = new StatementPool({
      connectionString: database.url,
      application_name: 'croupier-group-commit',
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      silenceMs: SILENCE_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      options: PLANNER,
    });
    this.query = queryOn(this.pool);
  }

  /** Runs the statement on one row of values, alone or with others; its one row comes back, or nothing. */
  run<Row extends object>(statement: GroupStatement, values: readonly unknown[]): Promise<Row | undefined> {
    if (!this.enabled) return this.alone(statement, values) as Promise<Row | undefined>;
    return new Promise<object | undefined>((resolve, reject) => {
      const lane = this.laneOf(statement);
      lane.waiting.push({ values, resolve, reject });
      if (lane.busy) return;
      lane.busy = true;
      // Where there is company, what the sockets have brought in this turn of the loop goes together from the start.
      if (lane.lastBatch > 1) setImmediate(() => this.drive(statement, lane));
      else this.drive(statement, lane);
    }) as Promise<Row | undefined>;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }

  private laneOf(statement: GroupStatement): Lane {
    let lane = this.lanes.get(statement);
    if (!lane) {
      lane = { waiting: [], busy: false, lastBatch: 0 };
      this.lanes.set(statement, lane);
    }
    return lane;
  }

  /** One batch after the other, until nobody waits any more; members that have to go alone are not waited for. */
  private drive(statement: GroupStatement, lane: Lane): void {
    lane.busy = lane.waiting.length > 0;
    if (!lane.busy) return;
    const batch = lane.waiting.splice(0, LARGEST_BATCH);
    lane.lastBatch = batch.length;
    void this.ask(statement, batch).then(
      (rows) => {
        batch.forEach((member, index) => member.resolve(rows[index]));
        this.drive(statement, lane);
      },
      (error: unknown) => {
        this.breakUp(statement, batch, error);
        this.drive(statement, lane);
      },
    );
    const { name } = statement.alone;
    this.metrics.later(({ groupCommitMembers }) =>
      groupCommitMembers.observe({ statement: name }, batch.length),
    );
  }

  private breakUp(statement: GroupStatement, batch: readonly Member[], error: unknown): void {
    const { name } = statement.alone;
    this.metrics.groupCommitsBroken.inc({ statement: name });
    const { code } = error as { code?: string };
    this.logger.warn({
      msg: 'a batch broke, its members go alone',
      statement: name,
      members: batch.length,
      code,
    });
    for (const { values, resolve, reject } of batch) {
      this.tryAgain(statement, values).then(resolve, reject);
    }
  }

  /** Runs a member of a failed batch by itself. The batch may have been committed if only its answer was lost. */
  private async tryAgain(statement: GroupStatement, values: readonly unknown[]): Promise<object | undefined> {
    const row = await this.alone(statement, values);
    if (row || !statement.alreadyDone) return row;
    const [done] = await this.database.query(statement.alreadyDone, values);
    return done;
  }

  /** @returns for each member its row, or nothing */
  private ask(statement: GroupStatement, batch: readonly Member[]): Promise<readonly (object | undefined)[]> {
    const [first] = batch;
    if (first && batch.length < this.leastTogether) return this.query(statement.alone, first.values);
    return this.askTogether(statement, batch);
  }

  private async askTogether(
    { together, columns, key }: GroupStatement,
    batch: readonly Member[],
  ): Promise<(object | undefined)[]> {
    const asked = batch.map(({ values }, member) => rowOf(columns, member, values));
    const rows = await this.query<Record<string, unknown>>(together, [JSON.stringify(asked)]);
    const rowFor = new Map(rows.map((row) => [row[key], row]));
    return asked.map((member) => rowFor.get(member[key]));
  }

  /** Past the lanes, on a connection of the pool that all else uses. */
  private async alone(statement: GroupStatement, values: readonly unknown[]): Promise<object | undefined> {
    const [row] = await this.database.query(statement.alone, values);
    return row;
  }
}

/** A row as PostgreSQL reads it from JSON. */
function rowOf(
  columns: readonly string[],
  member: number,
  values: readonly unknown[],
): Record<string, unknown> {
  const row: Record<string, unknown> = { member };
  columns.forEach((column, index) => {
    const value = values[index];
    row[column] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  });
  return row;
}
