import type { MigrationInterface, QueryRunner } from 'typeorm';
import { indexPartitions } from './partitioned-index.js';

/**
 * Adds an index for searches of callbacks by request id. Runs without a transaction, because CREATE INDEX CONCURRENTLY
 * cannot run in one.
 */
export class CallbacksOfRequest1764000000021 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const definition = '(request_id, created_at, callback_id) WHERE request_id IS NOT NULL';
    await indexPartitions(runner, 'callbacks', 'of_request', definition);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX callbacks_of_request');
  }
}
