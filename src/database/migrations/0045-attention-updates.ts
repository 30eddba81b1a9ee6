import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Admits the event `updated` of attention items, by which the live view finds an item whose count or summary has
 * changed. The previous release shows it in an item's history.
 */
export class AttentionUpdates1764000000045 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE attention_events DROP CONSTRAINT attention_events_event_check,
        ADD CONSTRAINT attention_events_event_check
          CHECK (event IN ('opened', 'assigned', 'unassigned', 'snoozed', 'woken', 'commented', 'closed', 'updated'))`);
  }
}
