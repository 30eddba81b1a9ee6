import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Checks a row's last reported answer in the function that checks the rest of the row, in place of a CHECK of its own.
 * PostgreSQL parses and plans the expression of a CHECK again for every statement that writes; the function is planned
 * once per connection.
 *
 * Both changes are made in one transaction, so every row is checked at every time.
 */
export class SoundReportedAnswers1764000000048 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE transactions DROP CONSTRAINT transactions_reported;
      ${SOUND};
    `);
  }
}

/** 0007-sound-rows.ts says why a condition on a NULL does not refuse a row, and why there are several statements. */
const SOUND = `
CREATE OR REPLACE FUNCTION transaction_is_sound(t transactions) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF NOT (
    t.state IN ('PENDING', 'APPROVED', 'DECLINED', 'TIMED_OUT', 'ROLLED_BACK')
    AND (t.state = 'PENDING') = (t.lease_until IS NOT NULL)
    AND (t.state IN ('APPROVED', 'DECLINED')) <= (t.response_body IS NOT NULL)
    AND t.mode IN ('REAL', 'DEMO')
    AND t.currency ~ '^[A-Z]{3}$'
    AND abs(t.amount_minor) <= 9007199254740991
    AND t.attempt >= 0
    AND t.verdict IN ('APPROVED', 'DECLINED')
    AND t.reported_status IN ('APPROVED', 'DECLINED')
    AND (t.reported_status IS NULL) = (t.reported_at IS NULL)
  ) THEN
    RETURN false;
  END IF;
  IF t.kind = 'ADJUSTMENT' THEN
    RETURN t.provider_id = 'platform' AND t.reason IS NOT NULL AND t.mode = 'REAL' AND t.amount_minor <> 0
      AND t.session_id IS NULL AND t.game_id IS NULL AND t.round_id IS NULL AND t.state <> 'ROLLED_BACK';
  END IF;
  RETURN t.provider_id <> 'platform' AND t.reason IS NULL AND t.amount_minor >= 0
    AND t.kind IN ('BET', 'WIN', 'ROLLBACK')
    AND (t.kind <> 'ROLLBACK' OR t.original_transaction_id IS NOT NULL)
    -- A row without a kind is a tombstone.
    AND (t.kind IS NOT NULL OR t.state = 'ROLLED_BACK')
    AND (t.state <> 'ROLLED_BACK' OR t.kind IS NULL OR (t.kind = 'BET' AND t.rollback_id IS NOT NULL));
END $$`;
