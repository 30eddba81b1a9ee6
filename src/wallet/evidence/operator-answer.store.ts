import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { named } from '../../database/statement.js';
import type { OperatorAnswer } from './operator-answer.sql.js';
import { ATTEMPTS_KEPT, FIRST_ATTEMPTS_KEPT } from '../transaction.sql.js';

const KEEP_ANSWER = named(
  'operator_answer_keep',
  `
    INSERT INTO operator_answers (provider_id, transaction_id, attempt, body)
    VALUES (:providerId, :transactionId, :attempt, :body)`,
);

const DELETE_ANSWERS_BETWEEN = named(
  'operator_answer_delete_between',
  `
    DELETE FROM operator_answers
     WHERE provider_id = :providerId AND transaction_id = :transactionId AND attempt > :after AND attempt < :before`,
);

@Injectable()
export class OperatorAnswerStore {
  constructor(private readonly database: Database) {}

  /** Stores an answer, and deletes the answers to attempts that are no longer in the transaction's history. */
  async keep(providerId: string, answer: OperatorAnswer): Promise<void> {
    const { transactionId, attempt } = answer;
    await this.database.query(KEEP_ANSWER, { providerId, ...answer });
    if (attempt <= ATTEMPTS_KEPT) return;
    const firstOfLatest = attempt - (ATTEMPTS_KEPT - FIRST_ATTEMPTS_KEPT) + 1;
    const between = { after: FIRST_ATTEMPTS_KEPT, before: firstOfLatest };
    await this.database.query(DELETE_ANSWERS_BETWEEN, { providerId, transactionId, ...between });
  }
}
