import type { QueryRunner } from 'typeorm';
import { dropIndexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Drops indexes that neither this release nor the previous one reads. Runs without a transaction, because
 * DROP INDEX CONCURRENTLY cannot run in one.
 */
export class UnusedIndexes1764000000056 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const name of INDEXES) await dropIndexConcurrently(runner, name);
  }
}

const INDEXES = [
  'wins_above_limit_by_time',
  // Migration 0015 no longer creates it.
  'session_revocations_undelivered',
  // free_spin_grants_to_cancel_in_turn replaces it, and migration 0013 no longer creates it.
  'free_spin_grants_to_cancel',
];
