import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which a daily limit finds the adjustments that count towards it: undecided ones, and those approved
 * lately, whenever they were requested. Runs without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class UsedAdjustments1764000000046 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS transactions_adjustments');
    await runner.query(`
      CREATE INDEX CONCURRENTLY transactions_adjustments
        ON transactions (operator_id, currency,
                         (CASE WHEN state = 'APPROVED' THEN updated_at ELSE 'infinity'::timestamptz END))
       WHERE provider_id = 'platform' AND state <> 'DECLINED'`);
  }
}
