import pg from 'pg';
import { Connection } from '../database/connection.js';
import { refuseUnopened } from '../database/data-source.js';
import { queryOn } from '../database/database.js';
import { named } from '../database/statement.js';
import type { ComparedPair, PlatformRecord, NumberedLine, Target } from './rules/compare.js';
import type { StatementLine } from './statement.js';

/** The transactions to compare: those of an operator with `from` ≤ time < `to`. */
export interface Range {
  readonly operatorId: string;
  readonly from: Date;
  readonly to: Date;
}

/** Of a pair without a record, and of a record without a target, the columns are null. */
type Row = (NumberedLine | { readonly line: null }) &
  Target &
  Pick<PlatformRecord, 'state' | 'ownVerdict' | 'answered' | 'createdAt'> & {
    readonly recordId: string | null;
    readonly recordProviderId: string;
    readonly recordKind: string | null;
    readonly recordOriginal: string | null;
    readonly recordPlayerRef: string;
    readonly recordCurrency: string;
    readonly recordAmountMinor: number;
    readonly recordInRange: boolean;
    readonly hasTarget: boolean;
  };

const OPERATOR = named(
  'reconciliation_operator',
  `SELECT id FROM tenants WHERE id = :operatorId AND kind = 'OPERATOR'`,
);

/**
 * A lock of the connection. Its key is not that of `lockReconciliations`, for which the transaction that records, on
 * another connection, would wait until this one is closed.
 */
const TRY_LOCK_RECORDING = named(
  'reconciliation_try_lock_recording',
  `SELECT pg_try_advisory_lock(hashtextextended('reconciliation-recording/' || :operatorId, 0)) AS locked`,
);

/** A temporary table of the connection for the lines of the operator's statement. */
const CREATE_LINES = `
  CREATE TEMPORARY TABLE statement_lines (
    line                     integer NOT NULL,
    provider_id              text NOT NULL,
    transaction_id           text NOT NULL,
    kind                     text NOT NULL,
    original_transaction_id  text NOT NULL,
    player_ref               text NOT NULL,
    currency                 text NOT NULL,
    amount_minor             bigint NOT NULL,
    status                   text NOT NULL,
    booked_at                text NOT NULL,
    booked_at_ms             bigint
  )`;

/** Inserts lines. Each parameter is the array of one column's values. */
const INSERT = named(
  'reconciliation_insert',
  `
  INSERT INTO pg_temp.statement_lines
  SELECT * FROM unnest(:line::integer[], :providerId::text[], :transactionId::text[], :kind::text[],
                       :originalTransactionId::text[], :playerRef::text[], :currency::text[], :amountMinor::bigint[],
                       :status::text[], :bookedAt::text[], :bookedAtMs::bigint[])`,
);

const INDEX_LINES = `
  CREATE INDEX ON pg_temp.statement_lines (provider_id, transaction_id, line);
  ANALYZE pg_temp.statement_lines`;

/**
 * Columns of the platform's record and, for a ROLLBACK, of its target. `recordInRange` means from ≤ `created_at` < to.
 * The `kind` of a tombstone is null.
 */
const RECORD = `
  p.transaction_id AS "recordId", p.provider_id AS "recordProviderId", p.kind AS "recordKind",
  p.original_transaction_id AS "recordOriginal", p.player_ref AS "recordPlayerRef", p.currency AS "recordCurrency",
  p.amount_minor AS "recordAmountMinor", p.state, p.verdict IS NOT NULL AS "ownVerdict",
  p.response_body IS NOT NULL AS answered, p.created_at AS "createdAt",
  (p.created_at >= :from AND p.created_at < :to) AS "recordInRange",
  target.transaction_id IS NOT NULL AS "hasTarget", target.kind IS NOT NULL AS known,
  (target.kind = 'BET' AND target.response_body IS NOT NULL) AS booked,
  target_line.amount_minor AS "lineAmountMinor"`;

/** Joins the target of a ROLLBACK: its record on the platform, and its first APPROVED line in the statement. */
const TARGET = `
  LEFT JOIN transactions target
    ON p.kind = 'ROLLBACK' AND target.provider_id = p.provider_id
   AND target.transaction_id = p.original_transaction_id
  LEFT JOIN LATERAL (
    SELECT l.amount_minor FROM pg_temp.statement_lines l
     WHERE p.kind = 'ROLLBACK' AND l.provider_id = p.provider_id AND l.transaction_id = p.original_transaction_id
       AND l.status = 'APPROVED'
     ORDER BY l.line LIMIT 1
  ) target_line ON true`;

/** Each line with the platform's record of the same id for the operator, even if the record is outside the range. */
const PAIRS = `
  SELECT l.line, l.provider_id AS "providerId", l.transaction_id AS "transactionId", l.kind,
         l.original_transaction_id AS "originalTransactionId", l.player_ref AS "playerRef", l.currency,
         l.amount_minor AS "amountMinor", l.status, l.booked_at AS "bookedAt", l.first_line AS "firstLine",
         (l.booked_at_ms >= :fromMs AND l.booked_at_ms < :toMs) AS "inRange", ${RECORD}
    FROM (SELECT s.*, min(s.line) OVER (PARTITION BY s.provider_id, s.transaction_id) AS first_line
            FROM pg_temp.statement_lines s) l
    LEFT JOIN transactions p
      ON p.provider_id = l.provider_id AND p.transaction_id = l.transaction_id
     AND p.operator_id = :operatorId AND p.mode = 'REAL'
    ${TARGET}
   ORDER BY l.line`;

/** The platform's records without a line, for the operator in the range, except tombstones. */
const RECORDS_WITHOUT_LINE = `
  SELECT NULL AS line, ${RECORD}
    FROM transactions p
    ${TARGET}
   WHERE p.operator_id = :operatorId AND p.mode = 'REAL' AND p.kind IS NOT NULL
     AND p.created_at >= :from AND p.created_at < :to
     AND NOT EXISTS (SELECT FROM pg_temp.statement_lines l
                      WHERE l.provider_id = p.provider_id AND l.transaction_id = p.transaction_id)
   ORDER BY p.created_at, p.provider_id, p.transaction_id`;

/** Number of rows in one FETCH: few, because the service reads them between other requests. */
const FETCH_ROWS = 250;
/** Maximum number of lines in one INSERT. */
const INSERT_ROWS = 2000;

/**
 * Settings of the connection: no time-out of statements (`pairs` sets its own), more memory for sorting and temporary
 * tables, and no JIT compilation, which takes longer than it saves. If this machine is lost while the connection is idle,
 * PostgreSQL notices within 25 seconds and releases the lock, instead of after the two hours of most systems. Behind
 * PgBouncer, its settings decide.
 */
const SESSION =
  '-c statement_timeout=0 -c work_mem=64MB -c temp_buffers=64MB -c jit=off ' +
  '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';

/** PostgreSQL's error code for a statement that has exceeded its time-out. */
export const QUERY_CANCELED = '57014';

/**
 * Loads an operator's statement into a temporary table and joins it with the platform's records, over a connection of
 * its own. Writes nothing permanent. Reads the tables of the wallet and of tenancy.
 */
export class ReconciliationStore {
  private constructor(private readonly client: Connection) {}

  static async open(url: string): Promise<ReconciliationStore> {
    // Every bigint that is read is bounded by 2^53-1, so a number holds it exactly.
    const types = new pg.TypeOverrides();
    types.setTypeParser(pg.types.builtins.INT8, Number);
    const client = new Connection({
      connectionString: url,
      application_name: 'croupier-reconcile',
      connectionTimeoutMillis: 5000,
      // Most statements have no time-out, so only the system notices that the database's machine is gone.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      options: SESSION,
      types,
    });
    await client.connect().catch(refuseUnopened);
    return new ReconciliationStore(client);
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  async hasOperator(operatorId: string): Promise<boolean> {
    return (await queryOn(this.client)(OPERATOR, { operatorId })).length === 1;
  }

  /**
   * Lets one run of the operator at a time record its findings, over all instances and commands. A run takes the lock
   * before it reads its statement and holds it until it has recorded them: otherwise, an older run that ends later
   * would undo what a newer one has recorded. The lock ends with the connection.
   * @returns false if another run holds it
   */
  async tryLockRecording(operatorId: string): Promise<boolean> {
    const [row] = await queryOn(this.client)<{ locked: boolean }>(TRY_LOCK_RECORDING, { operatorId });
    return row!.locked;
  }

  /**
   * Loads the whole statement.
   * @returns the number of lines
   * @throws CsvError if the statement is invalid, or the error of reading its file
   */
  async load(statement: AsyncIterable<StatementLine[]>): Promise<number> {
    await this.client.query(CREATE_LINES);
    let loaded = 0;
    for await (const lines of statement) {
      for (let at = 0; at < lines.length; at += INSERT_ROWS) {
        await this.insert(lines.slice(at, at + INSERT_ROWS));
      }
      loaded += lines.length;
    }
    await this.client.query(INDEX_LINES);
    return loaded;
  }

  /**
   * Yields all pairs in batches, from one snapshot: first each line in order, then the records without a line.
   * @param remainingMs the time for the next statement, in milliseconds; without it, statements have no time-out
   * @throws DatabaseError with the code QUERY_CANCELED if a statement takes longer
   */
  async *pairs(range: Range, remainingMs?: () => number): AsyncGenerator<ComparedPair[]> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const values = { ...range, fromMs: range.from.getTime(), toMs: range.to.getTime() };
    const limitNext = async () => {
      if (remainingMs) await this.client.query(`SET LOCAL statement_timeout = ${remainingMs()}`);
    };
    for (const select of [PAIRS, RECORDS_WITHOUT_LINE]) {
      await limitNext();
      await queryOn(this.client)(named('', `DECLARE pairs NO SCROLL CURSOR FOR ${select}`), values);
      for (;;) {
        await limitNext();
        const { rows } = await this.client.query<Row>(`FETCH ${FETCH_ROWS} FROM pairs`);
        if (rows.length === 0) break;
        yield rows.map(pairOf);
      }
      await this.client.query('CLOSE pairs');
    }
    await this.client.query('COMMIT');
  }

  private async insert(lines: readonly StatementLine[]): Promise<void> {
    const column = <K extends keyof StatementLine>(name: K) => lines.map((line) => line[name]);
    await queryOn(this.client)(INSERT, {
      line: column('line'),
      providerId: column('providerId'),
      transactionId: column('transactionId'),
      kind: column('kind'),
      originalTransactionId: column('originalTransactionId'),
      playerRef: column('playerRef'),
      currency: column('currency'),
      amountMinor: column('amountMinor'),
      status: column('status'),
      bookedAt: column('bookedAt'),
      bookedAtMs: column('bookedAtMs'),
    });
  }
}

function pairOf(row: Row): ComparedPair {
  // A row has the fields of a line and of a target.
  return { line: row.line === null ? null : row, record: recordOf(row), target: row.hasTarget ? row : null };
}

function recordOf(row: Row): PlatformRecord | null {
  if (row.recordId === null) return null;
  return {
    providerId: row.recordProviderId,
    transactionId: row.recordId,
    kind: row.recordKind,
    originalTransactionId: row.recordOriginal,
    playerRef: row.recordPlayerRef,
    currency: row.recordCurrency,
    amountMinor: row.recordAmountMinor,
    state: row.state,
    ownVerdict: row.ownVerdict,
    answered: row.answered,
    createdAt: row.createdAt,
    inRange: row.recordInRange,
  };
}
