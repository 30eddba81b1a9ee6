import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which the grants of batches that could not be cancelled are found. It is created concurrently, so
 * that grants can be recorded meanwhile.
 */
export class FailedCancels1764000000055 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(
      runner,
      'free_spin_grants_cancel_failed',
      `free_spin_grants (updated_at, request_ref)
        WHERE batch_id IS NOT NULL AND state = 'GRANTED' AND last_cancel_error IS NOT NULL AND expiry IS NULL
          AND completed IS NOT TRUE AND duplicate_of IS NULL`,
    );
  }
}
