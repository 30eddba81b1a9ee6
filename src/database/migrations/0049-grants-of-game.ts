import type { QueryRunner } from 'typeorm';
import { indexConcurrently } from './concurrent-index.js';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds an index with which a list of a game's grants reads no grants of other games. It is created concurrently, so
 * that grants can be recorded meanwhile.
 */
export class GrantsOfGame1764000000049 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await indexConcurrently(runner, 'free_spin_grants_of_game', 'free_spin_grants (game_id, grant_no)');
  }
}
