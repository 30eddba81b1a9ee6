import pg from 'pg';
import { Connection } from '../database/connection.js';
import * as sql from './reconciliation.sql.js';
import type { ComparedPair, PlatformRecord, NumberedLine } from './rules/compare.js';
import type { StatementLine } from './statement.js';

/** The transactions to compare: those of an operator with `from` ≤ time < `to`. */
export interface Range {
  readonly operatorId: string;
  readonly from: Date;
  readonly to: Date;
}

/** The line's columns are null if there is no line. The record's columns are null if there is no record. */
interface Row extends Omit<NumberedLine, 'line' | 'inRange'> {
  readonly line: number | null;
  readonly bookedAtMs: number | null;
  readonly recordId: string | null;
  readonly recordProviderId: string;
  readonly recordKind: string | null;
  readonly recordOriginal: string | null;
  readonly recordPlayerRef: string;
  readonly recordCurrency: string;
  readonly recordAmountMinor: number;
  readonly state: PlatformRecord['state'];
  readonly ownVerdict: boolean;
  readonly answered: boolean;
  readonly createdAt: Date;
  readonly recordInRange: boolean;
  readonly hasTarget: boolean;
  readonly targetKnown: boolean;
  readonly targetBooked: boolean;
  readonly targetLineAmountMinor: number | null;
}

/** Number of rows in one FETCH. */
const FETCH_ROWS = 2000;
/** Maximum number of lines in one INSERT. */
const INSERT_LINES = 2000;

/** Settings of the connection: no time-out of statements, and more memory for sorting and temporary tables. */
const SESSION = '-c statement_timeout=0 -c work_mem=64MB -c temp_buffers=64MB';

const UNDEFINED_TABLE = '42P01';

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
      options: SESSION,
      types,
    });
    await client.connect();
    return new ReconciliationStore(client);
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  /** @throws Error if the database has no tables of this service */
  async hasOperator(operatorId: string): Promise<boolean> {
    try {
      const text = `SELECT FROM tenants WHERE id = $1 AND kind = 'OPERATOR'`;
      return (await this.client.query(text, [operatorId])).rowCount === 1;
    } catch (error) {
      if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) throw error;
      throw new Error('the database has no tables of this service: start the service on it first', {
        cause: error,
      });
    }
  }

  /**
   * Loads the whole statement.
   * @returns the number of lines
   * @throws CsvError if the statement is invalid, or the error of reading its file
   */
  async load(statement: AsyncIterable<StatementLine[]>): Promise<number> {
    await this.client.query(sql.CREATE_LINES);
    let loaded = 0;
    for await (const lines of statement) {
      for (let at = 0; at < lines.length; at += INSERT_LINES) {
        await this.insert(lines.slice(at, at + INSERT_LINES));
      }
      loaded += lines.length;
    }
    await this.client.query(sql.INDEX_LINES);
    return loaded;
  }

  /** Yields all pairs in batches, from one snapshot: first each line in order, then the records without a line. */
  async *pairs(range: Range): AsyncGenerator<ComparedPair[]> {
    await this.client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    for (const select of [sql.PAIRS, sql.RECORDS_WITHOUT_LINE]) {
      const values = [range.operatorId, range.from, range.to];
      await this.client.query(`DECLARE pairs NO SCROLL CURSOR FOR ${select}`, values);
      for (;;) {
        const { rows } = await this.client.query<Row>(`FETCH ${FETCH_ROWS} FROM pairs`);
        if (rows.length === 0) break;
        yield rows.map((row) => pairOf(row, range));
      }
      await this.client.query('CLOSE pairs');
    }
    await this.client.query('COMMIT');
  }

  private async insert(lines: readonly StatementLine[]): Promise<void> {
    const column = <K extends keyof StatementLine>(name: K) => lines.map((line) => line[name]);
    await this.client.query({
      name: 'reconciliation_insert',
      text: sql.INSERT_LINES,
      values: [
        column('line'),
        column('providerId'),
        column('transactionId'),
        column('kind'),
        column('originalTransactionId'),
        column('playerRef'),
        column('currency'),
        column('amountMinor'),
        column('status'),
        column('bookedAt'),
        column('bookedAtMs'),
      ],
    });
  }
}

function pairOf(row: Row, range: Range): ComparedPair {
  return { line: lineOf(row, range), record: recordOf(row), target: targetOf(row) };
}

function lineOf(row: Row, { from, to }: Range): NumberedLine | null {
  const { line, bookedAtMs } = row;
  if (line == null) return null;
  const inRange = bookedAtMs === null ? null : bookedAtMs >= from.getTime() && bookedAtMs < to.getTime();
  const { providerId, transactionId, kind, originalTransactionId, playerRef } = row;
  const { currency, amountMinor, status, bookedAt, firstLine } = row;
  return {
    line,
    firstLine,
    inRange,
    providerId,
    transactionId,
    kind,
    originalTransactionId,
    playerRef,
    currency,
    amountMinor,
    status,
    bookedAt,
  };
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

function targetOf(row: Row): ComparedPair['target'] {
  if (!row.hasTarget) return null;
  return {
    booked: row.targetBooked,
    known: row.targetKnown,
    lineAmountMinor: row.targetLineAmountMinor,
  };
}
