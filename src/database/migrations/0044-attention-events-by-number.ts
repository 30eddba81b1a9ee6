import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which the live view finds the latest events of attention items. It is created concurrently, so that
 * items can change meanwhile. Runs without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class AttentionEventsByNumber1764000000044 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS attention_events_by_number');
    await runner.query('CREATE INDEX CONCURRENTLY attention_events_by_number ON attention_events (event_no)');
  }
}
