import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from './forward-migration.js';

/**
 * Marks each WIN that is flagged or may become so (contract, section 6), so that the list of flagged winnings has to
 * read only marked WINs.
 *
 * Invariant: every booked WIN of real money to which a flag applies has a row in `flaggable_wins`. Triggers write the
 * row in the transaction that claims the WIN or the ROLLBACK, or that marks the WIN as above its limit. So the row is
 * written even if the instance crashes afterwards or runs the previous release. A row does not say that its WIN is
 * flagged: the WIN may be undecided or DECLINED, and a flag may have ceased to apply. Rows are never removed.
 * test/free-spins/flaggable-wins.long.test.ts compares the rows with the flags.
 *
 * The next release can drop the indexes transactions_of_free_spins_by_time and wins_above_limit_by_time, which only the
 * lists of the previous release use.
 *
 * Runs without a transaction. Creating a trigger locks its table against writes until the commit, and marking the
 * stored WINs takes too long to hold these locks. Each step can be repeated.
 */
export class FlaggableWins1764000000022 extends ForwardMigration {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    await runner.query(FUNCTIONS);
    for (const trigger of TRIGGERS) await runner.query(trigger);
    await runner.query(MARK_STORED_WINS);
  }
}

/**
 * The columns by which the list filters or orders are copied from the transaction, where they never change. The search
 * for new causes of attention reads the latest rows by `marked_at`, not by `created_at`, because an old WIN may be
 * marked today.
 */
const TABLE = `
CREATE TABLE IF NOT EXISTS flaggable_wins (
  provider_id              text NOT NULL,
  transaction_id           text NOT NULL,
  platform_transaction_id  uuid NOT NULL,
  operator_id              text NOT NULL,
  created_at               timestamptz NOT NULL,
  marked_at                timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider_id, transaction_id)
);
CREATE INDEX IF NOT EXISTS flaggable_wins_by_time ON flaggable_wins (created_at, platform_transaction_id);
CREATE INDEX IF NOT EXISTS flaggable_wins_of_operator
  ON flaggable_wins (operator_id, created_at, platform_transaction_id);
CREATE INDEX IF NOT EXISTS flaggable_wins_by_mark ON flaggable_wins (marked_at);
`;

const COLUMNS = 'provider_id, transaction_id, platform_transaction_id, operator_id, created_at';
const columnsOf = (win: string) =>
  COLUMNS.split(', ')
    .map((column) => `${win}.${column}`)
    .join(', ');

/*
 * OFFSET 0 keeps the outer conditions out of a sub-select, so that PostgreSQL reads the table by the columns that the
 * sub-select compares. Without OFFSET 0 and without statistics, the planner could choose the index of another column,
 * and would then read all rows of an operator.
 */

/** Selects the grants of a WIN's freeSpinsRef, player and currency that satisfy the condition `live`. */
const grantOf = (win: string, live: string) => `
  SELECT FROM (SELECT * FROM free_spin_grants
                WHERE provider_id = ${win}.provider_id AND external_ref = ${win}.free_spins_ref OFFSET 0) g
   WHERE g.operator_id = ${win}.operator_id AND g.player_ref = ${win}.player_ref AND g.currency = ${win}.currency
     AND ${live}`;

/**
 * Whether the grant `g` is GRANTED and no cancel of it has been claimed. The claim of a cancel is committed before the
 * provider is called. A grant without such a claim can therefore only be cancelled later than the WIN, which is no
 * reason for a flag.
 */
const NEVER_CANCELLED = `(g.state = 'GRANTED' AND g.cancel_attempt = 0)`;

/** The transactions `t` of a round. */
const ofRound = (round: string) => `
  (SELECT * FROM transactions
    WHERE round_id = ${round}.round_id AND player_ref = ${round}.player_ref AND provider_id = ${round}.provider_id
   OFFSET 0) t
   WHERE t.game_id = ${round}.game_id AND t.operator_id = ${round}.operator_id AND t.mode = ${round}.mode`;

/**
 * Whether the round has a transaction that is or may be rolled back, and no BET that is certain to remain APPROVED.
 * Only an APPROVED BET without a claimed ROLLBACK is certain: once its round has a WIN, no ROLLBACK reverses the BET
 * (wallet/rules/rollback.ts). Any other BET may be declined or rolled back later.
 */
const mayLackBet = (round: string) => `
  (SELECT coalesce(bool_or(t.state = 'ROLLED_BACK' OR t.rollback_id IS NOT NULL), false)
          AND NOT coalesce(bool_or(t.kind = 'BET' AND t.state = 'APPROVED' AND t.rollback_id IS NULL), false)
     FROM ${ofRound(round)})`;

/** The WINs of a round that are booked or may be booked later. */
const winsOf = (round: string) => `
  SELECT ${columnsOf('t')} FROM ${ofRound(round)} AND t.kind = 'WIN' AND t.state <> 'DECLINED'`;

const FUNCTIONS = `
CREATE OR REPLACE FUNCTION mark_win_of_free_spins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind = 'WIN' AND NEW.mode = 'REAL' AND NOT EXISTS (${grantOf('NEW', NEVER_CANCELLED)}) THEN
    INSERT INTO flaggable_wins (${COLUMNS}) VALUES (${columnsOf('NEW')}) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION mark_wins_of_round() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF ${mayLackBet('NEW')} THEN
    INSERT INTO flaggable_wins (${COLUMNS}) ${winsOf('NEW')} ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION mark_win_above_limit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO flaggable_wins (${COLUMNS})
  SELECT ${columnsOf('t')} FROM transactions t
   WHERE t.provider_id = NEW.provider_id AND t.transaction_id = NEW.transaction_id
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
`;

/**
 * A BET fires none of these triggers, unless it names free spins. Each INSERT evaluates the condition of the first
 * trigger, which takes 0.7 µs, as much as the condition of a partial index. The condition has only one term, because
 * PostgreSQL prepares it again for each statement.
 *
 * The second trigger runs when a WIN or ROLLBACK updates the row of its round in `rounds`; the first WIN or ROLLBACK of
 * a round creates this row. The lock of the row orders the claims, so the later claim sees the earlier one. The claim
 * of a ROLLBACK has several statements, and this update is the first. The trigger is deferred to the commit so that it
 * sees the effects of all of them.
 */
const TRIGGERS = [
  `CREATE OR REPLACE TRIGGER transactions_flaggable AFTER INSERT ON transactions FOR EACH ROW
     WHEN (NEW.free_spins_ref IS NOT NULL) EXECUTE FUNCTION mark_win_of_free_spins()`,
  // CREATE OR REPLACE does not exist for a constraint trigger.
  `DO $$ BEGIN
     IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'rounds'::regclass AND tgname = 'rounds_flaggable') THEN
       CREATE CONSTRAINT TRIGGER rounds_flaggable AFTER UPDATE ON rounds DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
         WHEN (NEW.mode = 'REAL') EXECUTE FUNCTION mark_wins_of_round();
     END IF;
   END $$`,
  `CREATE OR REPLACE TRIGGER wins_above_limit_flaggable AFTER INSERT ON wins_above_limit FOR EACH ROW
     EXECUTE FUNCTION mark_win_above_limit()`,
] as const;

const roundsWith = (condition: string) => `
  SELECT provider_id, round_id, player_ref, game_id, operator_id, mode FROM transactions
   WHERE mode = 'REAL' AND ${condition}`;
const UNDECIDED_ROLLBACK = `kind = 'ROLLBACK' AND state IN ('PENDING', 'TIMED_OUT')`;

/**
 * Marks the WINs that were claimed before the triggers existed. The rounds are read with the partial indexes
 * transactions_exceptional, transactions_undecided and transactions_parked. UNION makes the statement find all WINs
 * before it inserts the first row. A concurrent claim that marks the same WIN therefore waits for the inserts only.
 */
export const MARK_STORED_WINS = `
INSERT INTO flaggable_wins (${COLUMNS})
SELECT ${columnsOf('t')} FROM transactions t
 WHERE t.free_spins_ref IS NOT NULL AND t.kind = 'WIN' AND t.mode = 'REAL' AND t.state <> 'DECLINED'
   AND NOT EXISTS (${grantOf('t', `(${NEVER_CANCELLED} OR g.cancelled_at > t.created_at)`)})
 UNION
SELECT w.* FROM (
    ${roundsWith(`state = 'ROLLED_BACK'`)}
     UNION ${roundsWith(`${UNDECIDED_ROLLBACK} AND parked_at IS NULL`)}
     UNION ${roundsWith(`${UNDECIDED_ROLLBACK} AND parked_at IS NOT NULL`)}
  ) r CROSS JOIN LATERAL (${winsOf('r')} OFFSET 0) w
 WHERE ${mayLackBet('r')}
 UNION
SELECT ${columnsOf('t')} FROM wins_above_limit l
  JOIN transactions t ON t.provider_id = l.provider_id AND t.transaction_id = l.transaction_id
ON CONFLICT DO NOTHING
`;
