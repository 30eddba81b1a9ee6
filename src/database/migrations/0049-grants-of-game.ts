import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds an index with which a list of a game's grants reads no grants of other games. It is created concurrently, so that
 * grants can be recorded meanwhile. Runs without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one.
 */
export class GrantsOfGame1764000000049 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS free_spin_grants_of_game');
    await runner.query(
      'CREATE INDEX CONCURRENTLY free_spin_grants_of_game ON free_spin_grants (game_id, grant_no)',
    );
  }
}
