import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../database/database.js';
import type { OperatorAnswer } from './operator-answer.sql.js';
import { ATTEMPTS_KEPT, FIRST_ATTEMPTS_KEPT } from './transaction.sql.js';

/** Stores the body of the operator's answer to an attempt. */
const KEEP_ANSWER: Statement = {
  name: 'operator_answer_keep',
  text: `INSERT INTO operator_answers (provider_id, transaction_id, attempt, body) VALUES ($1, $2, $3, $4)`,
};

/** Deletes the answers to the attempts after $3 and before $4. */
const DELETE_ANSWERS_BETWEEN: Statement = {
  name: 'operator_answer_delete_between',
  text: `
    DELETE FROM operator_answers
     WHERE provider_id = $1 AND transaction_id = $2 AND attempt > $3 AND attempt < $4`,
};

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
}
