import type { QueryRunner } from 'typeorm';
import { dropIndexConcurrently, indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Replaces the index by which the daily limit of an operator sums the stakes of grants. It now begins with the currency:
 * with the operator first, PostgreSQL preferred it for lists of an operator's grants, and then read and sorted all of them
 * for a page. Adds an index of the due cancels that may have become moot.
 *
 * Indexes are built and dropped concurrently, so that grants can be recorded meanwhile. Runs without a transaction,
 * because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class SearchesOfGrants1764000000057 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) {
      await indexConcurrently(runner, name, `free_spin_grants ${definition}`);
    }
    // Migration 0013 no longer creates it.
    await dropIndexConcurrently(runner, 'free_spin_grants_carried_out');
  }
}

const INDEXES = {
  free_spin_grants_of_currency: '(currency, operator_id, coalesce(carried_out_at, created_at))',
  free_spin_grants_moot_cancels: `(grant_no)
     WHERE state = 'GRANTED' AND cancel_due AND (completed OR duplicate_of IS NOT NULL)`,
};
