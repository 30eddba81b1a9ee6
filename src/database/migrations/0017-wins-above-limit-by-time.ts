import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds a time with an index, so that a search can read only the latest WINs above a limit. The existing rows, which are
 * few, get the time of the migration.
 */
export class WinsAboveLimitByTime1764000000017 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE wins_above_limit ADD COLUMN created_at timestamptz NOT NULL DEFAULT statement_timestamp();
      CREATE INDEX wins_above_limit_by_time ON wins_above_limit (created_at);
    `);
  }
}
