import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds an index with which the live view finds the batches whose grants have just changed. It is created concurrently, so
 * that grants can be recorded meanwhile. Runs without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class GrantsOfBatchesByChange1764000000051 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS free_spin_grants_of_batches_changed');
    await runner.query(
      `CREATE INDEX CONCURRENTLY free_spin_grants_of_batches_changed
         ON free_spin_grants (updated_at) WHERE batch_id IS NOT NULL`,
    );
  }
}
