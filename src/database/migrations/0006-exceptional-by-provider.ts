import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/** Adds the provider to the index, so that a list by state and provider does not read other providers' rows. */
export class ExceptionalByProvider1764000000006 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(INDEX);
  }
}

const INDEX = `
  DROP INDEX transactions_exceptional;
  CREATE INDEX transactions_exceptional
    ON transactions (state, operator_id, provider_id, created_at, platform_transaction_id)
    WHERE state IN ('DECLINED', 'TIMED_OUT', 'ROLLED_BACK');
`;
