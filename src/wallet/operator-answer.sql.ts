import type { Statement } from '../database/database.js';

/** Stores the body of the operator's answer to an attempt. */
export const KEEP_ANSWER: Statement = {
  name: 'operator_answer_keep',
  text: `INSERT INTO operator_answers (provider_id, transaction_id, attempt, body) VALUES ($1, $2, $3, $4)`,
};

/** Deletes the answers to the attempts after $3 and before $4. */
export const DELETE_ANSWERS_BETWEEN: Statement = {
  name: 'operator_answer_delete_between',
  text: `
    DELETE FROM operator_answers
     WHERE provider_id = $1 AND transaction_id = $2 AND attempt > $3 AND attempt < $4`,
};

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
