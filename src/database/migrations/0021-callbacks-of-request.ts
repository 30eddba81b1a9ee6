import type { QueryRunner } from 'typeorm';
import { indexPartitions } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/** Adds an index for searches of callbacks by request id. */
export class CallbacksOfRequest1764000000021 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const definition = '(request_id, created_at, callback_id) WHERE request_id IS NOT NULL';
    await indexPartitions(runner, 'callbacks', 'of_request', definition);
  }
}
