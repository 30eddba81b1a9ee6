import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SupportDesk1764000000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RESOLVER);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX transactions_undecided, transactions_parked;
      ALTER TABLE transactions DROP COLUMN parked_at;
      CREATE INDEX transactions_undecided ON transactions (updated_at) WHERE state IN ('PENDING', 'TIMED_OUT');
    `);
  }
}

/**
 * The resolver looks at each operator's share by itself, so that one dead operator's does not hide the others'.
 * The index takes the place of one that was as often written; the parked ones lie in one of their own, that a
 * transaction's usual way never touches.
 */
const RESOLVER = `
ALTER TABLE transactions ADD COLUMN parked_at timestamptz;
DROP INDEX transactions_undecided;
CREATE INDEX transactions_undecided ON transactions (operator_id, updated_at)
  WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NULL;
CREATE INDEX transactions_parked ON transactions (parked_at)
  WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NOT NULL;
`;
