import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the index by which a list of a player's sessions at one operator reads no sessions of other operators, whose
 * players may have the same reference. It is created concurrently, so that sessions can be launched meanwhile. Runs
 * without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class SessionsOfPlayerAtOperator1764000000047 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS sessions_of_player_at_operator');
    await runner.query(
      `CREATE INDEX CONCURRENTLY sessions_of_player_at_operator
         ON sessions (player_ref, operator_id, created_at, session_id)`,
    );
  }
}
