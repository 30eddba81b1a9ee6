import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class SoundRows1764000000007 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(DROP_SOUND);
    await runner.query(SOUND);
  }
}

const DROP_SOUND = `
ALTER TABLE transactions DROP CONSTRAINT transactions_sound;
DROP FUNCTION transaction_is_sound;
`;

/**
 * The CHECK passes the whole row to the function instead of sixteen columns. PostgreSQL parses a CHECK from its
 * catalogue for every statement that writes. With sixteen columns, parsing the CHECK costs as much as evaluating it.
 * The function has several statements instead of one expression, because PostgreSQL prepares each expression again in
 * every transaction, including the parts that it does not evaluate.
 *
 * A row is refused only if the result is false, as in a CHECK: a condition on a NULL is NULL and does not refuse the
 * row. Stored rows met these conditions when they were written, so they are not validated again under the table's lock.
 */
const SOUND = `
CREATE FUNCTION transaction_is_sound(t transactions) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
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
END $$;
ALTER TABLE transactions
  ADD CONSTRAINT transactions_sound CHECK (transaction_is_sound(transactions)) NOT VALID;
`;
