import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/** Adds the address at which a provider shows a round of its game. The previous release ignores it. */
export class RoundDetails1764000000032 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE games ADD COLUMN round_details_url text CHECK (length(round_details_url) <= 1000)',
    );
  }
}
