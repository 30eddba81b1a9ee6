import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds indexes with which the searches for causes of attention items read the newest causes first. Adds columns for
 * the times at which an item's transaction was parked and a revocation's notification failed. Each step can be
 * repeated.
 */
export class DeskByCause1764000000018 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
    await runner.query(SAID_TO_BE_PARKED);
    for (const [name, definition] of INDEXES) {
      await indexConcurrently(runner, name, definition);
    }
  }
}

const COLUMNS = `
ALTER TABLE attention_items ADD COLUMN IF NOT EXISTS parked_at timestamptz;
ALTER TABLE session_revocations ADD COLUMN IF NOT EXISTS failed_at timestamptz;
`;

/**
 * An item whose summary says that the resolver has given up was opened after its transaction was parked. Therefore
 * the item's creation time becomes its `parked_at`.
 */
const SAID_TO_BE_PARKED = `
UPDATE attention_items SET parked_at = created_at
 WHERE kind = 'transaction' AND cause_present AND parked_at IS NULL AND summary LIKE '%: the resolver has given up'
`;

/**
 * These indexes have only TIMED_OUT transactions that are not parked, FAILED grants, and revocations whose notification
 * is under way or has failed.
 */
const INDEXES: readonly (readonly [string, string])[] = [
  [
    'transactions_timed_out',
    `transactions (greatest(created_at AT TIME ZONE 'UTC' + interval '5 minutes', updated_at AT TIME ZONE 'UTC'),
                   provider_id, transaction_id)
       WHERE CASE WHEN state = 'TIMED_OUT' AND parked_at IS NULL THEN true END`,
  ],
  ['free_spin_grants_failed', `free_spin_grants (updated_at, request_ref) WHERE state = 'FAILED'`],
  [
    'session_revocations_failed',
    `session_revocations (coalesce(lease_until, failed_at, created_at), session_id)
       WHERE sent AND delivered IS NOT TRUE`,
  ],
];
