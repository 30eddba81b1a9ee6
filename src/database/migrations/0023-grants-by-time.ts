import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/** Adds an index with which a list of the grants between two times reads no newer grants. Each step can be repeated. */
export class GrantsByTime1764000000023 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(runner, 'free_spin_grants_by_time', 'free_spin_grants (created_at, grant_no)');
  }
}
