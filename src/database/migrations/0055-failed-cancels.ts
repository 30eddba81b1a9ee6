import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which the grants of batches that could not be cancelled are found. It is created concurrently, so
 * that grants can be recorded meanwhile. Runs without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class FailedCancels1764000000055 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS free_spin_grants_cancel_failed');
    await runner.query(
      `CREATE INDEX CONCURRENTLY free_spin_grants_cancel_failed ON free_spin_grants (updated_at, request_ref)
        WHERE batch_id IS NOT NULL AND state = 'GRANTED' AND last_cancel_error IS NOT NULL AND expiry IS NULL
          AND completed IS NOT TRUE AND duplicate_of IS NULL`,
    );
  }
}
