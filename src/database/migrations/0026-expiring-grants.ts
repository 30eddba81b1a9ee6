import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Stores when a grant expires and what became of its expiry, and which batches have a status run (contract, section 6).
 * The previous release ignores all these columns: a grant that it records never expires. If it sends the cancel of an
 * expiry and the cancel fails, the grant stays GRANTED and BEGUN with `last_cancel_error`, and a person can cancel it.
 *
 * Each step can be repeated. Migration 0025 says why `free_spin_grants` is only locked for a moment.
 */
export class ExpiringGrants1764000000026 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(EXPIRY);
    await runner.query('ALTER TABLE free_spin_grants VALIDATE CONSTRAINT free_spin_grants_expiry');
    await runner.query(STATUS_RUNS);
    for (const [name, definition] of INDEXES) {
      await indexConcurrently(runner, name, definition);
    }
  }
}

/**
 * `expiry` is NULL until `expires_at` has passed. BEGUN: the cancel that is due, under way or carried out is the grant's
 * expiry. FAILED: the provider did not answer it with 200, and only a person can cancel the grant.
 */
const EXPIRY = `
ALTER TABLE free_spin_grants
  ADD COLUMN IF NOT EXISTS expires_at timestamptz,
  ADD COLUMN IF NOT EXISTS expiry text,
  DROP CONSTRAINT IF EXISTS free_spin_grants_expiry,
  ADD CONSTRAINT free_spin_grants_expiry CHECK (
    expiry IS NULL OR (expiry IN ('BEGUN', 'FAILED') AND expires_at IS NOT NULL AND state IN ('GRANTED', 'CANCELLED'))) NOT VALID
`;

/**
 * A status run asks the provider about each GRANTED grant of a batch. `status_due_since` is the time of its request, and
 * NULL if no run is due. `status_run` numbers the claims of runs, so that an instance notices that it has lost its claim.
 */
const STATUS_RUNS = `
ALTER TABLE free_spin_batches
  ADD COLUMN IF NOT EXISTS status_due_since timestamptz,
  ADD COLUMN IF NOT EXISTS status_request_id text,
  ADD COLUMN IF NOT EXISTS status_run integer NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS status_lease_until timestamptz
`;

/** Each index has few rows: grants that have not expired yet, those that need a person, and batches with a status run. */
const INDEXES: readonly (readonly [string, string])[] = [
  [
    'free_spin_grants_expiring',
    `free_spin_grants (expires_at)
       WHERE state = 'GRANTED' AND expires_at IS NOT NULL AND expiry IS NULL AND completed IS NOT TRUE
         AND duplicate_of IS NULL`,
  ],
  [
    'free_spin_grants_expiry_failed',
    `free_spin_grants (updated_at, request_ref) WHERE state = 'GRANTED' AND expiry = 'FAILED'`,
  ],
  [
    'free_spin_grants_failed_of_batch',
    `free_spin_grants (batch_id) WHERE state = 'FAILED' AND batch_id IS NOT NULL`,
  ],
  ['free_spin_batches_status_due', 'free_spin_batches (status_due_since) WHERE status_due_since IS NOT NULL'],
];
