import type { Statement } from '../database/database.js';

/** The body of an invalid answer. */
export interface OperatorAnswer {
  readonly transactionId: string;
  readonly attempt: number;
  readonly body: string;
}

/**
 * The answers to the attempts of the transactions $2 of the provider $1. The caller guarantees that none of
 * them is older than $3, so PostgreSQL can skip the partitions of earlier months.
 */
export const ANSWERS_OF: Statement = {
  name: 'operator_answers_of',
  text: `
    SELECT transaction_id AS "transactionId", attempt, body FROM operator_answers
     WHERE provider_id = $1 AND transaction_id = ANY ($2::text[]) AND created_at >= $3`,
};
