import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SupportDesk1764000000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RESOLVER);
    await runner.query(SEARCH);
    await runner.query(ADJUSTMENTS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX transactions_undecided, transactions_parked, transactions_by_time, transactions_of_tenants,
                 transactions_of_player, transactions_exceptional, transactions_of_round;
      CREATE INDEX transactions_of_round ON transactions (provider_id, round_id, player_ref);
      ALTER TABLE transactions DROP COLUMN parked_at, DROP COLUMN reason;
      CREATE INDEX transactions_undecided ON transactions (updated_at) WHERE state IN ('PENDING', 'TIMED_OUT');
    `);
  }
}

/**
 * The resolver looks at each operator's share by itself, so that one dead operator's does not hide the others'.
 * The index takes the place of one that was as often written; the parked ones lie in one of their own, that a
 * transaction's usual way never touches.
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
 * An index costs each transaction twice, when it is claimed and when it is settled. So three for the lists, each of
 * which serves several filters; one for the exceptional states, which the usual way does not write; and the round's
 * begins with the round now, so that it can be looked for without its provider.
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

/** An adjustment is the platform's own, in real money, in no session, game or round, and somebody says why. */
const ADJUSTMENTS = `
ALTER TABLE transactions
  ADD COLUMN reason text,
  ADD CHECK (reason IS NULL OR kind = 'ADJUSTMENT'),
  ADD CHECK (kind <> 'ADJUSTMENT' OR (
    reason IS NOT NULL AND provider_id = 'platform' AND mode = 'REAL' AND amount_minor <> 0
    AND session_id IS NULL AND game_id IS NULL AND round_id IS NULL)),
  ADD CHECK (provider_id <> 'platform' OR kind = 'ADJUSTMENT');
`;
