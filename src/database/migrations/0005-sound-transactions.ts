import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class SoundTransactions1764000000005 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(DROP_SINGLE_CHECKS);
    await runner.query(SOUND);
  }
}

/**
 * PostgreSQL reads each CHECK from its catalogue and plans it again for every statement that writes: sixteen of them
 * cost more than the write itself. One function is planned once per connection.
 */
const DROP_SINGLE_CHECKS = `
DO $$
DECLARE
  single text;
BEGIN
  FOR single IN SELECT conname FROM pg_constraint WHERE conrelid = 'transactions'::regclass AND contype = 'c' LOOP
    EXECUTE format('ALTER TABLE transactions DROP CONSTRAINT %I', single);
  END LOOP;
END $$;
`;

/**
 * A row is refused only if the result is false, as in a CHECK: a condition on a NULL is NULL and does not refuse the
 * row.
 */
const SOUND = `
CREATE FUNCTION transaction_is_sound(
  provider_id text, kind text, state text, session_id uuid, mode text, game_id text, currency text, amount_minor bigint,
  round_id text, original_transaction_id text, attempt integer, lease_until timestamptz, verdict text,
  rollback_id text, response_body text, reason text
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN kind IN ('BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT')
    AND state IN ('PENDING', 'APPROVED', 'DECLINED', 'TIMED_OUT', 'ROLLED_BACK')
    AND mode IN ('REAL', 'DEMO')
    AND currency ~ '^[A-Z]{3}$'
    AND abs(amount_minor) <= 9007199254740991
    AND (amount_minor >= 0 OR kind = 'ADJUSTMENT')
    AND attempt >= 0
    AND verdict IN ('APPROVED', 'DECLINED')
    AND (kind <> 'ROLLBACK' OR original_transaction_id IS NOT NULL)
    -- A row without a kind is a tombstone.
    AND (kind IS NOT NULL OR state = 'ROLLED_BACK')
    AND (state = 'PENDING') = (lease_until IS NOT NULL)
    AND (state IN ('APPROVED', 'DECLINED')) <= (response_body IS NOT NULL)
    AND (state <> 'ROLLED_BACK' OR kind IS NULL OR (kind = 'BET' AND rollback_id IS NOT NULL))
    AND (reason IS NULL OR kind = 'ADJUSTMENT')
    AND (kind <> 'ADJUSTMENT' OR (
      reason IS NOT NULL AND provider_id = 'platform' AND mode = 'REAL' AND amount_minor <> 0
      AND session_id IS NULL AND game_id IS NULL AND round_id IS NULL))
    AND (provider_id <> 'platform' OR kind = 'ADJUSTMENT');
END $$;
ALTER TABLE transactions ADD CONSTRAINT transactions_sound CHECK (transaction_is_sound(
  provider_id, kind, state, session_id, mode, game_id, currency, amount_minor, round_id, original_transaction_id,
  attempt, lease_until, verdict, rollback_id, response_body, reason));
`;
