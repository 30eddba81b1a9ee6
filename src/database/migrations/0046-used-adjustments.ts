import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which a daily limit finds the adjustments that count towards it: undecided ones, and those
 * approved lately, whenever they were requested.
 */
export class UsedAdjustments1764000000046 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(
      runner,
      'transactions_adjustments',
      `transactions (operator_id, currency,
                         (CASE WHEN state = 'APPROVED' THEN updated_at ELSE 'infinity'::timestamptz END))
       WHERE provider_id = 'platform' AND state <> 'DECLINED'`,
    );
  }
}
