import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds an index with which a list of the grants between two times reads no newer grants. Runs without a transaction,
 * because CREATE INDEX CONCURRENTLY cannot run in one. Each step can be repeated.
 */
export class GrantsByTime1764000000023 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS free_spin_grants_by_time');
    await runner.query(
      'CREATE INDEX CONCURRENTLY free_spin_grants_by_time ON free_spin_grants (created_at, grant_no)',
    );
  }
}
