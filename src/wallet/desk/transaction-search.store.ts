import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { type Found, type Place, placeOf } from '../../http/lists/time-page.js';
import type { Kind, Mode, State } from '../rules/facts.js';
import type { StoredAttempt } from '../transaction.js';
import {
  FIND_FOR_DESK,
  FOLLOW_INDEXES,
  needsWindow,
  ROLLBACKS_OF,
  type TransactionFilter,
  transactionPage,
  windowEnd,
} from './transaction-search.sql.js';

/** A transaction as a list shows it; null is what it does not have. */
export interface DeskRow {
  readonly providerId: string;
  readonly transactionId: string;
  readonly platformTransactionId: string;
  /** Null: a tombstone. */
  readonly kind: Kind | 'ADJUSTMENT' | null;
  readonly state: State;
  readonly operatorId: string;
  readonly sessionId: string | null;
  readonly mode: Mode;
  readonly playerRef: string;
  readonly gameId: string | null;
  readonly roundId: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly roundClosed: boolean | null;
  readonly originalTransactionId: string | null;
  readonly freeSpinsRef: string | null;
  readonly declineReason: string | null;
  /** Why an adjustment was made. */
  readonly reason: string | null;
  readonly rollbackId: string | null;
  readonly attempt: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly parkedAt: Date | null;
  /** Whether a person entered the operator's answer, which is the last attempt then. */
  readonly settledByHand: boolean;
}

/** An attempt with the body of the operator's answer where that was no answer of the contract. */
export type AttemptWithAnswer = StoredAttempt & { readonly operatorBody?: string };

/** A transaction with all that is kept of it. */
export interface WholeRow extends DeskRow {
  readonly attempts: readonly AttemptWithAnswer[];
  readonly verdict: 'APPROVED' | 'DECLINED' | null;
  readonly responseBody: string | null;
  readonly leaseUntil: Date | null;
  readonly leaseAlive: boolean;
  /** Since the last change of the transaction, by the database's clock. */
  readonly idleSeconds: number;
}

/** ROLLBACKs of one target that are shown: ids for a target that is ROLLED_BACK have no end. */
const ROLLBACKS_SHOWN = 50;

/** What the desk reads of transactions; it writes none. */
@Injectable()
export class TransactionSearchStore {
  constructor(private readonly database: Database) {}

  /** Newest first; where a filter is served by no index, down to the end of a window. */
  async page(
    filter: TransactionFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<DeskRow & { place: string }>> {
    const downTo = needsWindow(filter) ? await this.windowEnd(filter, before) : undefined;
    const { statement, values } = transactionPage(filter, { before, downTo }, limit);
    return { rows: await this.database.query<DeskRow & { place: string }>(statement, values), downTo };
  }

  async find(providerId: string, transactionId: string): Promise<WholeRow | undefined> {
    const [row] = await this.database.query<WholeRow>(FIND_FOR_DESK, [providerId, transactionId]);
    return row;
  }

  /** The ROLLBACKs that name the transaction, newest first. */
  rollbacksOf({ providerId, transactionId, roundId, playerRef }: DeskRow): Promise<WholeRow[]> {
    const values = [providerId, transactionId, roundId, playerRef, ROLLBACKS_SHOWN];
    return this.database.query<WholeRow>(ROLLBACKS_OF, values);
  }

  /** Where a page ends that examines a bounded part; undefined if it may read to the end of the list. */
  private windowEnd(filter: TransactionFilter, before: Place | undefined): Promise<Place | undefined> {
    const { statement, values } = windowEnd(filter, before);
    return this.database.transaction(async ({ query }) => {
      await query(FOLLOW_INDEXES, []);
      const [last] = await query<{ place: string }>(statement, values);
      return last && placeOf(last.place);
    });
  }
}
