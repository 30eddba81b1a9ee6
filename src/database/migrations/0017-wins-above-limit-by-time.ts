import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds a time with an index, so that a search can read only the latest WINs above a limit. The existing rows, which are
 * few, get the time of the migration.
 */
export class WinsAboveLimitByTime1764000000017 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE wins_above_limit ADD COLUMN created_at timestamptz NOT NULL DEFAULT statement_timestamp();
      CREATE INDEX wins_above_limit_by_time ON wins_above_limit (created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE wins_above_limit DROP COLUMN created_at');
  }
}
