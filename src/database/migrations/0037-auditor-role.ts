import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/** Admits keys of the role `auditor`. The previous release refuses such a key with 403 on every route. */
export class AuditorRole1764000000037 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE admin_keys DROP CONSTRAINT admin_keys_role_check,
        ADD CONSTRAINT admin_keys_role_check
          CHECK (role IN ('admin', 'operations', 'promotions', 'support', 'auditor'))`);
  }
}
