import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { type Cause, partsOf } from './attention.js';
import { causeOf, type TenantPair, type RowOf, type Search } from './causes.js';
import { OPEN_ROUNDS, SEARCHES, STILL, TRADING_PAIRS } from './cause.sql.js';

/** A row of a search. */
export interface FoundCause {
  readonly cause: Cause;
  /**
   * Whether the row is a cause without an item. The item of a parked transaction only counts if it is closed or says
   * that the transaction is parked.
   */
  readonly isNew: boolean;
  /** Whether the row became a cause within the last 30 seconds. */
  readonly isRecent: boolean;
  /** The sort key of the row. A window begins after the place of an earlier row. */
  readonly place: readonly string[];
}

/** Counts of the rounds of an operator and a provider, among the transactions that were read. */
export interface CountedRounds {
  /** Rounds that have been open for more than a day. */
  readonly open: number;
  /** Rounds that began between one and eight days ago. */
  readonly ofLastWeek: number;
  readonly openOfLastWeek: number;
  /** Whether there may be older transactions, which were not read. The true counts may then be higher. */
  readonly partial: boolean;
}

/** Looks for causes in the tables of other rooms, which it only reads. */
@Injectable()
export class CauseStore {
  constructor(private readonly database: Database) {}

  /**
   * Reads the next window of a search: at most `limit` rows.
   * @param place the place of the last row of the previous window; undefined to begin with the newest row
   */
  async window(search: Search, place: readonly string[] | undefined, limit: number): Promise<FoundCause[]> {
    const { statement, begin } = SEARCHES[search];
    // The cast is safe: both lookups use the same search, whose rows have the type that its mapping expects.
    const toCause = causeOf[search] as (row: RowOf[Search]) => Cause;
    const rows = await this.database.query<RowOf[Search]>(statement, [limit, ...(place ?? begin)]);
    return rows.map((row) => ({
      isNew: row.due && !row.known,
      isRecent: row.recent,
      place: row.place,
      cause: toCause(row),
    }));
  }

  /** Returns those of the subjects whose cause is still present. */
  async still(kind: keyof typeof STILL, subjects: readonly string[]): Promise<Set<string>> {
    if (subjects.length === 0) return new Set();
    const parts = subjects.map(partsOf);
    const rows = await this.database.query<{ subject: string }>(STILL[kind], [
      subjects,
      parts.map(({ providerId }) => providerId),
      parts.map(({ id }) => id),
    ]);
    return new Set(rows.map(({ subject }) => subject));
  }

  /** Ordered by provider, then operator. */
  tradingPairs(): Promise<TenantPair[]> {
    return this.database.query(TRADING_PAIRS, []);
  }

  /** @param transactions maximum number of transactions to read, newest first */
  async rounds({ operatorId, providerId }: TenantPair, transactions: number): Promise<CountedRounds> {
    const values = [operatorId, providerId, transactions];
    const [counted] = await this.database.query<CountedRounds>(OPEN_ROUNDS, values);
    return counted!;
  }
}
