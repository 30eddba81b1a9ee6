import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the status of the last 200 that was sent without a new attempt, and the time when this status was recorded. Such
 * a 200 is a replay, or the refusal of a transaction that is rolled back. Both columns are null if no such answer is
 * known.
 *
 * The constraint is validated by a separate statement, which blocks no reads or writes.
 */
export class ReportedAnswers1764000000019 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE transactions
        ADD COLUMN IF NOT EXISTS reported_status text,
        ADD COLUMN IF NOT EXISTS reported_at timestamptz,
        DROP CONSTRAINT IF EXISTS transactions_reported,
        ADD CONSTRAINT transactions_reported CHECK (
          (reported_status IS NULL OR reported_status IN ('APPROVED', 'DECLINED'))
          AND (reported_status IS NULL) = (reported_at IS NULL)) NOT VALID
    `);
    await runner.query('ALTER TABLE transactions VALIDATE CONSTRAINT transactions_reported');
  }
}
