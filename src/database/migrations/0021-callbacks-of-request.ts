import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets a search find callbacks by their request id. An index of a partitioned table cannot be built concurrently, so each
 * partition gets its own, which is then attached. Not in one transaction; each step can be repeated.
 */
export class CallbacksOfRequest1764000000021 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // A partition that is created from here on gets its index at once.
    await runner.query(`CREATE INDEX IF NOT EXISTS callbacks_of_request ON ONLY callbacks ${COLUMNS}`);
    for (const { partition } of (await runner.query(WITHOUT_INDEX)) as { partition: string }[]) {
      const index = `${partition}_of_request`;
      // An interrupted build leaves an invalid index.
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${index} ON ${partition} ${COLUMNS}`);
      await runner.query(`ALTER INDEX callbacks_of_request ATTACH PARTITION ${index}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX callbacks_of_request');
  }
}

const COLUMNS = '(request_id, created_at, callback_id) WHERE request_id IS NOT NULL';

/** The partitions of callbacks that have no index which belongs to callbacks_of_request. */
const WITHOUT_INDEX = `
SELECT p.inhrelid::regclass::text AS partition FROM pg_inherits p
 WHERE p.inhparent = 'callbacks'::regclass AND NOT EXISTS (
   SELECT FROM pg_index i JOIN pg_inherits a ON a.inhrelid = i.indexrelid
    WHERE i.indrelid = p.inhrelid AND a.inhparent = 'callbacks_of_request'::regclass)`;
