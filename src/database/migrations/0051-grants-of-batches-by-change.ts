import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds an index with which the live view finds the batches whose grants have just changed. It is created concurrently,
 * so that grants can be recorded meanwhile.
 */
export class GrantsOfBatchesByChange1764000000051 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(
      runner,
      'free_spin_grants_of_batches_changed',
      `free_spin_grants (updated_at) WHERE batch_id IS NOT NULL`,
    );
  }
}
