import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Lets the index of a player's sessions at one operator begin with the operator. When it began with the player, the
 * planner could use it for all sessions of a player, and read and sort all of them. The new index is created
 * concurrently, so that sessions can be launched meanwhile. Runs without a transaction, because CREATE INDEX
 * CONCURRENTLY cannot run in one. Each step can be repeated.
 */
export class SessionsAtOperatorOfPlayer1764000000050 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS sessions_at_operator_of_player');
    await runner.query(
      `CREATE INDEX CONCURRENTLY sessions_at_operator_of_player
         ON sessions (operator_id, player_ref, created_at, session_id)`,
    );
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS sessions_of_player_at_operator');
  }
}
