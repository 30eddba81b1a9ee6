import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Adds what an operator may demand of a session: the highest stake of a BET, the jurisdiction, and the interval of
 * reality checks. The previous release ignores them.
 *
 * The constraint is validated by a separate statement, which blocks no reads or writes.
 */
export class SessionLimits1764000000031 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE sessions
        ADD COLUMN IF NOT EXISTS max_bet_minor bigint,
        ADD COLUMN IF NOT EXISTS jurisdiction text,
        ADD COLUMN IF NOT EXISTS reality_check_seconds integer,
        DROP CONSTRAINT IF EXISTS sessions_limits,
        ADD CONSTRAINT sessions_limits CHECK (
          max_bet_minor BETWEEN 1 AND 9007199254740991
          AND length(jurisdiction) BETWEEN 1 AND 32
          AND reality_check_seconds BETWEEN 60 AND 86400) NOT VALID
    `);
    await runner.query('ALTER TABLE sessions VALIDATE CONSTRAINT sessions_limits');
  }
}
