import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

export class SupportDesk1764000000004 extends ForwardMigration {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RESOLVER);
    await runner.query(SEARCH);
    await runner.query(ADJUSTMENTS);
    await runner.query(SESSIONS);
  }
}

/**
 * The resolver takes up each operator's transactions separately, so that one failing operator does not hold up the
 * others. The new index is written as often as the one it replaces. Parked transactions have an index of their own,
 * which a normal transaction never writes.
 */
const RESOLVER = `
ALTER TABLE transactions ADD COLUMN parked_at timestamptz;
DROP INDEX transactions_undecided;
CREATE INDEX transactions_undecided ON transactions (operator_id, updated_at)
  WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NULL;
CREATE INDEX transactions_parked ON transactions (parked_at)
  WHERE state IN ('PENDING', 'TIMED_OUT') AND parked_at IS NOT NULL;
`;

/**
 * Each index is written twice per transaction, by the claim and by the settlement. Therefore only three indexes serve
 * the lists. One more serves the exceptional states; a normal transaction does not write it. The index by round now
 * begins with the round, so that a search for a round does not have to name the provider.
 */
const SEARCH = `
CREATE INDEX transactions_by_time ON transactions (created_at, platform_transaction_id);
CREATE INDEX transactions_of_tenants ON transactions (operator_id, provider_id, created_at, platform_transaction_id);
CREATE INDEX transactions_of_player ON transactions (player_ref, created_at, platform_transaction_id);
CREATE INDEX transactions_exceptional ON transactions (state, operator_id, created_at, platform_transaction_id)
  WHERE state IN ('DECLINED', 'TIMED_OUT', 'ROLLED_BACK');
DROP INDEX transactions_of_round;
CREATE INDEX transactions_of_round ON transactions (round_id, player_ref, provider_id);
`;

/** An adjustment belongs to the platform, is in real money, has no session, game or round, and needs a reason. */
const ADJUSTMENTS = `
ALTER TABLE transactions
  ADD COLUMN reason text,
  ADD CHECK (reason IS NULL OR kind = 'ADJUSTMENT'),
  ADD CHECK (kind <> 'ADJUSTMENT' OR (
    reason IS NOT NULL AND provider_id = 'platform' AND mode = 'REAL' AND amount_minor <> 0
    AND session_id IS NULL AND game_id IS NULL AND round_id IS NULL)),
  ADD CHECK (provider_id <> 'platform' OR kind = 'ADJUSTMENT');
`;

/** Sessions are written rarely, so each filter has an index. */
const SESSIONS = `
CREATE INDEX sessions_by_time ON sessions (created_at, session_id);
CREATE INDEX sessions_of_operator ON sessions (operator_id, created_at, session_id);
CREATE INDEX sessions_of_provider ON sessions (provider_id, created_at, session_id);
CREATE INDEX sessions_of_player ON sessions (player_ref, created_at, session_id);
CREATE INDEX sessions_of_game ON sessions (game_id, created_at, session_id);
CREATE INDEX sessions_revoked ON sessions (created_at, session_id) WHERE revoked_at IS NOT NULL;

DROP INDEX callbacks_of_reference;
CREATE INDEX callbacks_of_reference ON callbacks (reference, created_at, callback_id);
`;
