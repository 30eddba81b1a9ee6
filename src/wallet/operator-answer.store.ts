import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { ANSWERS_OF, DELETE_ANSWERS_BETWEEN, KEEP_ANSWER } from './operator-answer.sql.js';
import { ATTEMPTS_KEPT, FIRST_ATTEMPTS_KEPT } from './transaction.sql.js';

/** The body of an invalid answer. */
export interface OperatorAnswer {
  readonly transactionId: string;
  readonly attempt: number;
  readonly body: string;
}

@Injectable()
export class OperatorAnswerStore {
  constructor(private readonly database: Database) {}

  /** Stores an answer, and deletes the answers to attempts that are no longer in the transaction's history. */
  async keep(providerId: string, { transactionId, attempt, body }: OperatorAnswer): Promise<void> {
    await this.database.query(KEEP_ANSWER, [providerId, transactionId, attempt, body]);
    if (attempt <= ATTEMPTS_KEPT) return;
    const firstOfLatest = attempt - (ATTEMPTS_KEPT - FIRST_ATTEMPTS_KEPT) + 1;
    const between = [FIRST_ATTEMPTS_KEPT, firstOfLatest];
    await this.database.query(DELETE_ANSWERS_BETWEEN, [providerId, transactionId, ...between]);
  }

  /**
   * Reads the stored answers to the attempts of a provider's transactions.
   * @param since a time at or before the first attempt of each of these transactions
   */
  of(providerId: string, transactionIds: readonly string[], since: Date): Promise<OperatorAnswer[]> {
    return this.database.query<OperatorAnswer>(ANSWERS_OF, [providerId, transactionIds, since]);
  }
}
