import type { QueryRunner } from 'typeorm';
import { dropIndexConcurrently, indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Lets the index of a player's sessions at one operator begin with the operator. When it began with the player, the
 * planner could use it for all sessions of a player, and read and sort all of them. The new index is created
 * concurrently, so that sessions can be launched meanwhile. Each step can be repeated.
 */
export class SessionsAtOperatorOfPlayer1764000000050 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(
      runner,
      'sessions_at_operator_of_player',
      `sessions (operator_id, player_ref, created_at, session_id)`,
    );
    await dropIndexConcurrently(runner, 'sessions_of_player_at_operator');
  }
}
