import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds the kind of a WIN and its promotion, both NULL unless the provider named them. The previous release writes
 * neither.
 *
 * No constraint checks the columns: each condition on a transaction costs every insert time, and these two decide nothing
 * about money.
 */
export class WinKinds1764000000030 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE transactions ADD COLUMN win_kind text, ADD COLUMN promotion_ref text');
  }
}
