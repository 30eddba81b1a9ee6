import type { QueryRunner } from 'typeorm';
import { indexPartitions } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds an index for searches of the audit log by actor and action. Without this index, a search for an action that the
 * actor never took reads all entries of the actor.
 */
export class AuditByActorAndAction1764000000020 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexPartitions(runner, 'audit_entries', 'actor_action', '(actor, action, day, position)');
  }
}
