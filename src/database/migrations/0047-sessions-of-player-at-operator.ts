import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which a list of a player's sessions at one operator reads no sessions of other operators, whose
 * players may have the same reference. It is created concurrently, so that sessions can be launched meanwhile.
 */
export class SessionsOfPlayerAtOperator1764000000047 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(
      runner,
      'sessions_of_player_at_operator',
      `sessions (player_ref, operator_id, created_at, session_id)`,
    );
  }
}
