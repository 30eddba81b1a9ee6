import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/** Number of partitions created here, from the current month on; `npm run partitions` creates the later ones. */
const FIRST_MONTHS = 4;

export class AttemptEvidence1764000000014 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(OPERATOR_ANSWERS);
    await runner.query(ATTEMPT_IDS);
  }
}

/**
 * The bodies of invalid answers from operators' wallets, partitioned by month. `transactions` has only the HTTP status
 * of an answer, because each attempt rewrites the whole row of its transaction.
 */
const OPERATOR_ANSWERS = `
CREATE TABLE operator_answers (
  provider_id     text NOT NULL,
  transaction_id  text NOT NULL,
  attempt         integer NOT NULL CHECK (attempt > 0),
  body            text NOT NULL CHECK (length(body) <= 4096),
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider_id, transaction_id, attempt, created_at)
) PARTITION BY RANGE (created_at);
SELECT make_partition('operator_answers', (date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')
                                           + make_interval(months => month))::date)
  FROM generate_series(0, ${FIRST_MONTHS - 1}) month;
CREATE TABLE operator_answers_default PARTITION OF operator_answers DEFAULT;
SELECT close_partition('operator_answers', 'operator_answers_default');
`;

/**
 * The ids by which an attempt can be found for seven days. They are not on `transactions`, where each index is written
 * twice for every transaction before its request is answered. These rows are written once, in batches that no request
 * waits for.
 */
const ATTEMPT_IDS = `
CREATE TABLE attempt_ids (
  provider_id              text NOT NULL,
  transaction_id           text NOT NULL,
  platform_transaction_id  uuid NOT NULL,
  request_id               text COLLATE "C",
  operator_transaction_id  text COLLATE "C",
  created_at               timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX attempt_ids_by_time ON attempt_ids (created_at);
CREATE INDEX attempt_ids_of_platform ON attempt_ids (platform_transaction_id, created_at);
CREATE INDEX attempt_ids_of_request ON attempt_ids (request_id, created_at) WHERE request_id IS NOT NULL;
CREATE INDEX attempt_ids_of_operator ON attempt_ids (operator_transaction_id, created_at)
  WHERE operator_transaction_id IS NOT NULL;
`;
