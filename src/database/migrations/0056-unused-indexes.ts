import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Drops indexes that neither this release nor the previous one reads. Runs without a transaction, because
 * DROP INDEX CONCURRENTLY cannot run in one.
 */
export class UnusedIndexes1764000000056 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name, definition] of Object.entries(INDEXES))
      await runner.query(`CREATE INDEX ${name} ON ${definition}`);
  }
}

const INDEXES = {
  wins_above_limit_by_time: 'wins_above_limit (created_at)',
  session_revocations_undelivered: `session_revocations (created_at, session_id)
     WHERE sent AND delivered IS NOT TRUE`,
  // free_spin_grants_to_cancel_in_turn replaces it.
  free_spin_grants_to_cancel:
    "free_spin_grants (provider_id, grant_no) WHERE state = 'GRANTED' AND cancel_due",
};
