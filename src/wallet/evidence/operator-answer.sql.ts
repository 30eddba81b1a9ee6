import { named } from '../../database/statement.js';

/** The body of an invalid answer. */
export interface OperatorAnswer {
  readonly transactionId: string;
  readonly attempt: number;
  readonly body: string;
}

/**
 * The answers to the attempts of a provider's transactions. The caller guarantees that none of them is older than
 * `since`, so PostgreSQL can skip the partitions of earlier months.
 */
export const ANSWERS_OF = named(
  'operator_answers_of',
  `
    SELECT transaction_id AS "transactionId", attempt, body FROM operator_answers
     WHERE provider_id = :providerId AND transaction_id = ANY (:transactionIds::text[]) AND created_at >= :since`,
);
