import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { type Cause, partsOf } from './attention.js';
import { causeOf, type TenantPair, type RowOf, type Search } from './causes.js';
import { OPEN_ROUNDS, SEARCHES, STILL, TRADING_PAIRS } from './cause.sql.js';

/** A row of a search. */
export interface FoundCause {
  readonly cause: Cause;
  /**
   * Whether it is a cause already and has no item; for a parked transaction, no item that is closed or shows the parking.
   */
  readonly isNew: boolean;
  /** Whether it became a cause in the last 30 seconds. */
  readonly isRecent: boolean;
  /** The position of the row in the order of the search. A window begins after the position of an earlier row. */
  readonly place: readonly string[];
}

/** Numbers of rounds of an operator and provider. */
export interface CountedRounds {
  /** Rounds that have been open for more than a day. */
  readonly open: number;
  /** Rounds that began between one and eight days ago. */
  readonly ofLastWeek: number;
  readonly openOfLastWeek: number;
  /** Whether older transactions were left out, so that the true counts may be higher. */
  readonly partial: boolean;
}

/** Looks for causes in the tables of other rooms, which it only reads. */
@Injectable()
export class CauseStore {
  constructor(private readonly database: Database) {}

  /**
   * The next rows of a search.
   * @param place the place of the last row of the window before; undefined for the newest causes
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

  /** The subjects whose cause is still present. */
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

  /** @param transactions how many of the newest transactions are read */
  async rounds({ operatorId, providerId }: TenantPair, transactions: number): Promise<CountedRounds> {
    const values = [operatorId, providerId, transactions];
    const [counted] = await this.database.query<CountedRounds>(OPEN_ROUNDS, values);
    return counted!;
  }
}
