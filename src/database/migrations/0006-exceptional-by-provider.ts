import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the provider to the index, so that a list by state and provider does not read other providers' rows. */
export class ExceptionalByProvider1764000000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(indexOf('state, operator_id, provider_id, created_at, platform_transaction_id'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(indexOf('state, operator_id, created_at, platform_transaction_id'));
  }
}

const indexOf = (columns: string) => `
  DROP INDEX transactions_exceptional;
  CREATE INDEX transactions_exceptional ON transactions (${columns})
    WHERE state IN ('DECLINED', 'TIMED_OUT', 'ROLLED_BACK');
`;
