import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replaces the index by which the daily limit of an operator sums the stakes of grants. It now begins with the currency:
 * with the operator first, PostgreSQL preferred it for lists of an operator's grants, and then read and sorted all of them
 * for a page. Indexes are built and dropped concurrently, so that grants can be recorded meanwhile. Runs without a
 * transaction, because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class SearchesOfGrants1764000000058 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES)) {
      // An interrupted build leaves an invalid index.
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON free_spin_grants ${definition}`);
    }
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS free_spin_grants_carried_out');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX free_spin_grants_carried_out
      ON free_spin_grants (operator_id, currency, coalesce(carried_out_at, created_at))`);
    for (const name of Object.keys(INDEXES)) await runner.query(`DROP INDEX ${name}`);
  }
}

const INDEXES = {
  free_spin_grants_of_currency: '(currency, operator_id, coalesce(carried_out_at, created_at))',
};
