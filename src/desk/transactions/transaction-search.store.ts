import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../../database/database.js';
import type { Place } from '../../database/place.js';
import { type Found, readWindowEnd } from '../../database/time-window.js';
import type { RowOf } from '../../api/lists/item.js';
import { isIdentifier } from '../../api/validation/identifier.js';
import { ANSWERS_OF, type OperatorAnswer } from '../../wallet/evidence/operator-answer.sql.js';
import type { WinKind } from '../../wallet/rules/facts.js';
import type { StoredAttempt, TransactionKey } from '../../wallet/transaction.js';
import type { TransactionItem, TransactionStory } from './transaction.admin.response.js';
import {
  FIND_FOR_DESK,
  needsWindow,
  ROLLBACKS_OF,
  type TransactionFilter,
  transactionPage,
  windowEnd,
} from './transaction-search.sql.js';

/** A transaction in a list. `settledByHand` says whether the last attempt has an answer that a person entered. */
export interface DeskRow extends RowOf<Omit<TransactionItem, 'roundDetailsUrl'>> {
  /** The `roundDetailsUrl` of the game, still with its placeholders. */
  readonly roundDetailsTemplate: string | null;
  /** The language of the session. */
  readonly language: string | null;
}

/** An attempt with the body of the operator's answer if that answer was invalid. */
export type AttemptWithAnswer = StoredAttempt & { readonly operatorBody?: string };

/** A transaction with all its columns. */
export interface WholeRow
  extends DeskRow, RowOf<Pick<TransactionStory, 'verdict' | 'responseBody' | 'leaseUntil'>> {
  readonly attempts: readonly AttemptWithAnswer[];
  /** The `winKind` of the request; null if it had none. `winKind` has the default. */
  readonly requestedWinKind: WinKind | null;
  /** The outcome that the provider received last; null if it received none. */
  readonly reported: string | null;
  /**
   * The status in the last recorded 200 with which the service answered the provider without a new attempt, for example
   * with a replay; null if there is none. A 200 with the same outcome as `reported` is not recorded.
   */
  readonly reportedStatus: 'APPROVED' | 'DECLINED' | null;
  /** When the provider first received `reportedStatus` in such a 200. */
  readonly reportedAt: Date | null;
  readonly leaseAlive: boolean;
  /** Seconds since the last change of the transaction, by the database's clock. */
  readonly idleSeconds: number;
}

/** Maximum number of ROLLBACKs shown for one target. Any number of ROLLBACKs may name a target. */
const ROLLBACKS_SHOWN = 50;

/** Reads transactions for the desk. */
@Injectable()
export class TransactionSearchStore {
  constructor(private readonly database: Database) {}

  /** One page, newest first. If `needsWindow` is true, the page examines only its window, and may be short or empty. */
  async page(
    filter: TransactionFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<Found<DeskRow & { place: string }>> {
    const downTo = needsWindow(filter)
      ? await readWindowEnd(this.database.query, windowEnd(filter, before))
      : undefined;
    const { statement, values } = transactionPage(filter, { before, downTo }, limit);
    return { rows: await this.database.query<DeskRow & { place: string }>(statement, values), downTo };
  }

  async find(key: TransactionKey, query: Query = this.database.query): Promise<WholeRow | undefined> {
    if (!isIdentifier(key.providerId) || !isIdentifier(key.transactionId)) return undefined;
    const [row] = await query<WholeRow>(FIND_FOR_DESK, key);
    return row;
  }

  /** The ROLLBACKs that name the transaction, newest first. */
  rollbacksOf(target: DeskRow): Promise<WholeRow[]> {
    return this.database.query<WholeRow>(ROLLBACKS_OF, { ...target, limit: ROLLBACKS_SHOWN });
  }

  /**
   * Reads the stored bodies of the operator's invalid answers to the attempts of a provider's transactions.
   * @param since a time at or before the first attempt of each of these transactions
   */
  operatorAnswers(providerId: string, transactionIds: string[], since: Date): Promise<OperatorAnswer[]> {
    return this.database.query<OperatorAnswer>(ANSWERS_OF, { providerId, transactionIds, since });
  }
}
