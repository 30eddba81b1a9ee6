import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which the live view finds the latest events of attention items. It is created concurrently, so
 * that items can change meanwhile.
 */
export class AttentionEventsByNumber1764000000044 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(runner, 'attention_events_by_number', 'attention_events (event_no)');
  }
}
