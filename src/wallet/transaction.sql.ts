import type { Statement } from '../database/database.js';

/**
 * The session behind a token and what its game and operator allow: $1 provider, $3 token's hash, $4 now.
 * Joins the tables of other rooms, so that a fresh BET costs two round trips in all.
 */
const SESSION = `
  session AS MATERIALIZED (
    SELECT s.session_id AS "sessionId", s.operator_id AS "operatorId", s.provider_id AS "providerId",
           s.player_ref AS "playerRef", s.game_id AS "gameId", s.currency, s.mode,
           CASE WHEN least(s.expires_at, s.revoked_at) <= $4
                THEN extract(epoch FROM $4 - least(s.expires_at, s.revoked_at))::float8 END AS "endedSecondsAgo",
           (g.status = 'ACTIVE' AND g.provider_id = s.provider_id) AS "gameActive",
           o.status = 'ACTIVE' AS "operatorActive"
      FROM sessions s
      JOIN games g ON g.game_id = s.game_id
      JOIN tenants o ON o.id = s.operator_id
     WHERE s.token_hash = $3
  )`;

/** A transaction as the rules see it; the table is `t`. */
export const STORED_COLUMNS = `
  t.transaction_id AS "transactionId", t.kind, t.state, t.operator_id AS "operatorId", t.mode,
  t.player_ref AS "playerRef", t.game_id AS "gameId", t.currency, t.amount_minor AS "amountMinor",
  t.round_id AS "roundId", t.original_transaction_id AS "originalTransactionId", t.attempt,
  t.platform_transaction_id AS "platformTransactionId", t.response_body AS "responseBody",
  (t.state = 'PENDING' AND t.lease_until > clock_timestamp()) AS "leaseAlive", t.rollback_id AS "rollbackId",
  EXISTS (SELECT FROM transactions r
           WHERE r.provider_id = t.provider_id AND r.original_transaction_id = t.transaction_id
             AND r.kind = 'ROLLBACK' AND r.state IN ('PENDING', 'TIMED_OUT')) AS "rollbackUndecided"`;

/** What is stored under the id: $1 provider, $2 transaction. */
const STORED = `
  stored AS (
    SELECT ${STORED_COLUMNS} FROM transactions t WHERE t.provider_id = $1 AND t.transaction_id = $2
  )`;

/**
 * Reads what a BET finds, and claims it where it finds nothing and its session, game and operator allow it:
 * one statement, so that a fresh BET has its claim after one round trip.
 */
export const OPEN_BET: Statement = {
  name: 'transaction_open_bet',
  text: `
    WITH ${SESSION}, ${STORED}, claim AS (
      INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id,
                                session_id, mode, player_ref, game_id, currency, amount_minor, round_id,
                                round_closed, original_transaction_id, free_spins_ref, attempt, lease_until)
      SELECT $1, $2, $5, 'BET', 'PENDING', s."operatorId", s."sessionId", s.mode, $6, $7, $8, $9, $10,
             $11, $12, $13, 1, clock_timestamp() + make_interval(secs => $14)
        FROM session s
       WHERE s."providerId" = $1 AND s."endedSecondsAgo" IS NULL AND s."playerRef" = $6 AND s."gameId" = $7
         AND s.currency = $8 AND s."gameActive" AND s."operatorActive"
      ON CONFLICT DO NOTHING
      RETURNING 1
    )
    SELECT (SELECT row_to_json(session) FROM session) AS session,
           (SELECT row_to_json(stored) FROM stored) AS stored,
           EXISTS (SELECT FROM claim) AS claimed`,
};

/** Reads what a WIN or a ROLLBACK finds: $5 player, $6 game, $7 round, $8 the id that a ROLLBACK names. */
export const OPEN_SETTLING: Statement = {
  name: 'transaction_open_settling',
  text: `
    WITH ${SESSION}, ${STORED}, target AS (
      SELECT ${STORED_COLUMNS} FROM transactions t WHERE t.provider_id = $1 AND t.transaction_id = $8
    ), round AS (
      SELECT coalesce(bool_or(t.kind = 'WIN' AND t.state = 'APPROVED'), false) AS "winApproved",
             coalesce(bool_or(t.kind = 'WIN' AND t.state IN ('PENDING', 'TIMED_OUT')), false) AS "winUndecided",
             coalesce(bool_or(t.kind = 'BET' AND t.state = 'APPROVED' AND t.rollback_id IS NULL), false)
               AS "betStands",
             coalesce(bool_or(t.kind = 'BET' AND (t.state IN ('PENDING', 'TIMED_OUT')
                              OR (t.state = 'APPROVED' AND t.rollback_id IS NOT NULL))), false) AS "betUndecided",
             coalesce(bool_or(t.kind = 'BET' AND t.state = 'ROLLED_BACK'), false) AS "betRolledBack",
             coalesce(bool_or(t.kind = 'BET' AND t.state <> 'DECLINED' AND t.session_id = s."sessionId"), false)
               AS "betOfSession",
             coalesce((SELECT r.version FROM rounds r, session s
                        WHERE r.provider_id = $1 AND r.operator_id = s."operatorId" AND r.player_ref = $5
                          AND r.game_id = $6 AND r.round_id = $7 AND r.mode = s.mode), 0) AS version
        FROM session s
        JOIN transactions t ON t.provider_id = $1 AND t.round_id = $7 AND t.player_ref = $5 AND t.game_id = $6
                           AND t.operator_id = s."operatorId" AND t.mode = s.mode
    )
    SELECT (SELECT row_to_json(session) FROM session) AS session,
           (SELECT row_to_json(stored) FROM stored) AS stored,
           (SELECT row_to_json(target) FROM target) AS target,
           (SELECT row_to_json(round) FROM round) AS round`,
};

/**
 * Moves the round's version if it still is what the decision saw: the round's lock, for two settling claims
 * that saw the same version cannot both pass.
 */
const moveRound = (round: string, versionSeen: string) => `
  INSERT INTO rounds AS r (provider_id, operator_id, player_ref, game_id, round_id, mode, version)
  VALUES (${round}, 1)
  ON CONFLICT (provider_id, round_id, player_ref, game_id, operator_id, mode)
    DO UPDATE SET version = r.version + 1 WHERE r.version = ${versionSeen}
  RETURNING r.version`;

/** $1 … $6 are the round, $7 is the version that the decision saw. */
export const MOVE_ROUND: Statement = {
  name: 'transaction_move_round',
  text: moveRound('$1, $2, $3, $4, $5, $6', '$7'),
};

const CLAIM_COLUMNS = `
  provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, session_id, mode, player_ref,
  game_id, currency, amount_minor, round_id, round_closed, original_transaction_id, free_spins_ref, verdict,
  decline_reason, attempt, lease_until`;

const CLAIM_VALUES = `
  $1, $2, $3, $4, 'PENDING', $5, $6::uuid, $7, $8, $9, $10, $11::bigint, $12, $13::boolean, $14, $15, $16, $17, 1,
  clock_timestamp() + make_interval(secs => $18)`;

/** Claims an id that nobody has; nothing comes back where somebody was faster. */
export const CLAIM: Statement = {
  name: 'transaction_claim',
  text: `
    INSERT INTO transactions (${CLAIM_COLUMNS}) VALUES (${CLAIM_VALUES})
    ON CONFLICT DO NOTHING
    RETURNING attempt`,
};

/** Claims a WIN together with its round's lock; $19 is the version that the decision saw. */
export const CLAIM_WIN: Statement = {
  name: 'transaction_claim_win',
  text: `
    WITH round AS (${moveRound('$1, $5, $8, $9, $12, $7', '$19')})
    INSERT INTO transactions (${CLAIM_COLUMNS}) SELECT ${CLAIM_VALUES} FROM round
    ON CONFLICT DO NOTHING
    RETURNING attempt`,
};

/** Claims an adjustment: $1 is the platform, $8 the reason that a person gave for it. */
export const CLAIM_ADJUSTMENT: Statement = {
  name: 'transaction_claim_adjustment',
  text: `
    INSERT INTO transactions AS t (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
                                   player_ref, currency, amount_minor, reason, attempt, lease_until)
    VALUES ($1, $2, $3, 'ADJUSTMENT', 'PENDING', $4, 'REAL', $5, $6, $7, $8, 1,
            clock_timestamp() + make_interval(secs => $9))
    ON CONFLICT DO NOTHING
    RETURNING t.*`,
};

/** Marks a BET as being reversed by $3, if it still is the attempt that the decision saw. */
export const MARK_TARGET: Statement = {
  name: 'transaction_mark_target',
  text: `
    UPDATE transactions SET rollback_id = $3, updated_at = clock_timestamp()
     WHERE provider_id = $1 AND transaction_id = $2 AND kind = 'BET' AND attempt = $4 AND rollback_id IS NULL
       AND (state IN ('APPROVED', 'TIMED_OUT') OR (state = 'PENDING' AND lease_until <= clock_timestamp()))
    RETURNING attempt`,
};

/** Gives a tombstone, whose first ROLLBACK was DECLINED, to the ROLLBACK $3. */
export const MARK_TOMBSTONE: Statement = {
  name: 'transaction_mark_tombstone',
  text: `
    UPDATE transactions SET rollback_id = $3, updated_at = clock_timestamp()
     WHERE provider_id = $1 AND transaction_id = $2 AND kind IS NULL AND rollback_id IS NULL
    RETURNING attempt`,
};

/** Stores a tombstone: whatever comes with this id later is declined, from now on. */
export const PLACE_TOMBSTONE: Statement = {
  name: 'transaction_place_tombstone',
  text: `
    INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, state, operator_id, session_id,
                              mode, player_ref, game_id, currency, amount_minor, round_id, attempt, rollback_id)
    VALUES ($1, $2, $3, 'ROLLED_BACK', $4, $5, $6, $7, $8, $9, $10, $11, 0, $12)
    ON CONFLICT DO NOTHING
    RETURNING attempt`,
};

/** Takes over attempt $3 that nobody decided, unless its ROLLBACK is under way; the old holder is fenced off. */
export const RETRY: Statement = {
  name: 'transaction_retry',
  text: `
    UPDATE transactions t
       SET state = 'PENDING', attempt = t.attempt + 1, updated_at = clock_timestamp(),
           lease_until = clock_timestamp() + make_interval(secs => $4),
           attempts = CASE WHEN t.state = 'TIMED_OUT' THEN t.attempts ELSE
             t.attempts || jsonb_build_object('attempt', t.attempt, 'outcome', 'LEASE_OVER',
               'startedAt', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END
     WHERE t.provider_id = $1 AND t.transaction_id = $2 AND t.attempt = $3 AND t.rollback_id IS NULL
       AND (t.state = 'TIMED_OUT' OR (t.state = 'PENDING' AND t.lease_until <= clock_timestamp()))
    RETURNING t.*`,
};

/** How much of a history is kept, in attempts: its beginning and its end tell the story of one that never ends. */
const ATTEMPTS_KEPT = 200;
const FIRST_ATTEMPTS_KEPT = 20;

const SETTLE_SET = `
  state = $4, response_body = $5, decline_reason = coalesce($6, t.decline_reason),
  attempts = CASE WHEN jsonb_array_length(t.attempts) < ${ATTEMPTS_KEPT} THEN t.attempts
                  ELSE t.attempts - ${FIRST_ATTEMPTS_KEPT} END || $7::jsonb,
  lease_until = NULL, updated_at = clock_timestamp()`;

const STILL_OURS = `
  t.provider_id = $1 AND t.transaction_id = $2 AND t.attempt = $3 AND t.state = 'PENDING' AND t.rollback_id IS NULL`;

/** Settles an attempt, only while it is still ours. */
export const SETTLE: Statement = {
  name: 'transaction_settle',
  text: `UPDATE transactions t SET ${SETTLE_SET} WHERE ${STILL_OURS} RETURNING t.attempt`,
};

/** Settles a ROLLBACK and, in the same step, its target: reversed where it is APPROVED, free where DECLINED. */
export const SETTLE_ROLLBACK: Statement = {
  name: 'transaction_settle_rollback',
  text: `
    WITH settled AS (
      UPDATE transactions t SET ${SETTLE_SET} WHERE ${STILL_OURS}
      RETURNING t.provider_id, t.transaction_id, t.original_transaction_id, t.state
    ), target AS (
      UPDATE transactions t
         SET state = CASE WHEN settled.state = 'APPROVED' THEN 'ROLLED_BACK' ELSE t.state END,
             lease_until = CASE WHEN settled.state = 'APPROVED' THEN NULL ELSE t.lease_until END,
             rollback_id = CASE WHEN settled.state = 'DECLINED' THEN NULL ELSE t.rollback_id END,
             updated_at = clock_timestamp()
        FROM settled
       WHERE t.provider_id = settled.provider_id AND t.transaction_id = settled.original_transaction_id
         AND t.rollback_id = settled.transaction_id AND settled.state <> 'TIMED_OUT'
    )
    SELECT transaction_id FROM settled`,
};
