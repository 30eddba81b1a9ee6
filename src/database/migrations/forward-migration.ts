import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration that cannot be reverted. */
export abstract class ForwardMigration implements MigrationInterface {
  abstract up(runner: QueryRunner): Promise<void>;

  down(): Promise<never> {
    return Promise.reject(new Error('Migrations are forward only: write another one.'));
  }
}
