import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/** Stores when a key expires. The previous release accepts an expired key, so it should not run for longer than needed. */
export class ExpiringKeys1764000000038 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE admin_keys ADD COLUMN expires_at timestamptz');
  }
}
