import type { Statement } from '../database/database.js';
import { groupStatement } from '../database/group-commit.js';
import { endedSecondsAgo } from '../session/session.sql.js';

/**
 * The session behind a token and what its game and operator allow, now. Joins the tables of other rooms, so that a
 * fresh BET or WIN costs two round trips in all.
 */
const sessionBehind = (tokenHash: string) => `
  SELECT s.session_id AS "sessionId", s.operator_id AS "operatorId", s.provider_id AS "providerId",
         s.player_ref AS "playerRef", s.game_id AS "gameId", s.currency, s.mode,
         ${endedSecondsAgo('s')} AS "endedSecondsAgo",
         (g.status = 'ACTIVE' AND g.provider_id = s.provider_id) AS "gameActive",
         o.status = 'ACTIVE' AS "operatorActive"
    FROM sessions s
    JOIN games g ON g.game_id = s.game_id
    JOIN tenants o ON o.id = s.operator_id
   WHERE s.token_hash = ${tokenHash}`;

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

/** What is stored under an id, as JSON. */
const storedUnder = (providerId: string, transactionId: string) => `
  (SELECT row_to_json(stored) FROM (
     SELECT ${STORED_COLUMNS} FROM transactions t
      WHERE t.provider_id = ${providerId} AND t.transaction_id = ${transactionId}) stored)`;

/** What happened in the round that `a` asks for, in the session `s`. */
const ROUND_OF_SESSION = `
  SELECT coalesce(bool_or(t.kind = 'WIN' AND t.state = 'APPROVED'), false) AS "winApproved",
         coalesce(bool_or(t.kind = 'WIN' AND t.state IN ('PENDING', 'TIMED_OUT')), false) AS "winUndecided",
         coalesce(bool_or(t.kind = 'BET' AND t.state = 'APPROVED' AND t.rollback_id IS NULL), false)
           AS "betStands",
         coalesce(bool_or(t.kind = 'BET' AND (t.state IN ('PENDING', 'TIMED_OUT')
                          OR (t.state = 'APPROVED' AND t.rollback_id IS NOT NULL))), false) AS "betUndecided",
         coalesce(bool_or(t.kind = 'BET' AND t.state = 'ROLLED_BACK'), false) AS "betRolledBack",
         coalesce(bool_or(t.kind = 'BET' AND t.state <> 'DECLINED' AND t.session_id = s."sessionId"), false)
           AS "betOfSession",
         coalesce((SELECT r.version FROM rounds r
                    WHERE r.provider_id = a.provider_id AND r.operator_id = s."operatorId"
                      AND r.player_ref = a.player_ref AND r.game_id = a.game_id AND r.round_id = a.round_id
                      AND r.mode = s.mode), 0) AS version
    FROM transactions t
   WHERE t.provider_id = a.provider_id AND t.round_id = a.round_id AND t.player_ref = a.player_ref
     AND t.game_id = a.game_id AND t.operator_id = s."operatorId" AND t.mode = s.mode`;

/** The values of a BET's or a WIN's claim. */
const SUBMITTED = {
  provider_id: 'text',
  transaction_id: 'text',
  token_hash: 'bytea',
  player_ref: 'text',
  game_id: 'text',
  round_id: 'text',
  platform_transaction_id: 'uuid',
  currency: 'text',
  amount_minor: 'bigint',
  round_closed: 'boolean',
  original_transaction_id: 'text',
  free_spins_ref: 'text',
  lease_seconds: 'integer',
};

/** Whether what `a` asks for is asked in a session of its own that lives. */
const inOwnLiveSession = (session: string) => `
  ${session}."providerId" = a.provider_id AND ${session}."endedSecondsAgo" IS NULL
  AND ${session}."playerRef" = a.player_ref AND ${session}."gameId" = a.game_id AND ${session}.currency = a.currency`;

/** Claims what `a` asks for in the session, unless somebody has its id. */
const claimOf = (kind: 'BET' | 'WIN', session: string, from: string) => `
  INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id,
                            session_id, mode, player_ref, game_id, currency, amount_minor, round_id,
                            round_closed, original_transaction_id, free_spins_ref, attempt, lease_until)
  SELECT a.provider_id, a.transaction_id, a.platform_transaction_id, '${kind}', 'PENDING', ${session}."operatorId",
         ${session}."sessionId", ${session}.mode, a.player_ref, a.game_id, a.currency, a.amount_minor, a.round_id,
         a.round_closed, a.original_transaction_id, a.free_spins_ref, 1,
         clock_timestamp() + make_interval(secs => a.lease_seconds)
    FROM ${from}
  ON CONFLICT DO NOTHING
  RETURNING platform_transaction_id, operator_id AS "operatorId", session_id AS "sessionId", mode`;

/**
 * Moves the round's version if it still is what the decision saw: the round's lock, for two settling claims
 * that saw the same version cannot both pass.
 */
function moveRound(round: string, versionSeen: string, from = ''): string {
  return `
  INSERT INTO rounds AS r (provider_id, operator_id, player_ref, game_id, round_id, mode, version)
  SELECT ${round}, ${versionSeen} + 1 ${from}
  ON CONFLICT (provider_id, round_id, player_ref, game_id, operator_id, mode)
    DO UPDATE SET version = excluded.version WHERE r.version = excluded.version - 1
  RETURNING r.provider_id, r.operator_id, r.player_ref, r.game_id, r.round_id, r.mode`;
}

const ROUND_KEY = `
  a.provider_id, (a.session)."operatorId", a.player_ref, a.game_id, a.round_id, (a.session).mode`;

/**
 * Claims a BET where nobody has its id and its session, game and operator allow it: the one condition of rules/attempt.ts
 * under which a BET is booked, so that a fresh one has its claim without a look before. Two members with one id make one
 * claim, and only one of them bears the claim's own id.
 */
export const CLAIM_BET = groupStatement(
  'transaction_claim_bet',
  SUBMITTED,
  (asked) =>
    claimOf(
      'BET',
      's',
      // By its token, whatever else is asked of it: OFFSET 0 keeps the conditions, and their indexes, out of the look-up.
      `(${asked}) a JOIN LATERAL (${sessionBehind('a.token_hash')} OFFSET 0) s ON true
        WHERE ${inOwnLiveSession('s')} AND s."gameActive" AND s."operatorActive"`,
    ),
  'platform_transaction_id',
);

/** Reads what stands against a BET that was not claimed. */
export const LOOK_AT_BET = groupStatement(
  'transaction_look_at_bet',
  { provider_id: 'text', transaction_id: 'text', token_hash: 'bytea' },
  (asked) => `
    SELECT a.member, row_to_json(s) AS session, ${storedUnder('a.provider_id', 'a.transaction_id')} AS stored
      FROM (${asked}) a LEFT JOIN LATERAL (${sessionBehind('a.token_hash')}) s ON true`,
);

/**
 * Reads what a WIN finds, and claims it where it finds nothing and it stands on a BET, on no BET at all, or on free spins:
 * the condition of rules/win.ts. The claim takes the round's lock, and neither is taken where another claim moved the
 * round since it was looked at.
 */
export const OPEN_WIN = groupStatement(
  'transaction_open_win',
  SUBMITTED,
  (asked) => `
    WITH looked AS MATERIALIZED (
      SELECT a.*, s AS session, r AS round, ${storedUnder('a.provider_id', 'a.transaction_id')} AS stored
        FROM (${asked}) a
        LEFT JOIN LATERAL (${sessionBehind('a.token_hash')}) s ON true
        LEFT JOIN LATERAL (${ROUND_OF_SESSION}) r ON true
    ), bookable AS MATERIALIZED (
      SELECT a.* FROM looked a
       WHERE a.stored IS NULL AND ${inOwnLiveSession('(a.session)')}
         AND (a.free_spins_ref IS NOT NULL OR (a.round)."betStands"
              OR NOT ((a.round)."betUndecided" OR (a.round)."betRolledBack"))
    ), round AS (
      ${moveRound(ROUND_KEY, '(a.round).version', 'FROM bookable a')}
    ), claim AS (
      ${claimOf('WIN', '(a.session)', `bookable a WHERE (${ROUND_KEY}) IN (SELECT * FROM round)`)}
    )
    SELECT a.member, row_to_json(a.session) AS session, a.stored, row_to_json(a.round) AS round,
           a.platform_transaction_id IN (SELECT platform_transaction_id FROM claim) AS claimed
      FROM looked a`,
);

/**
 * Reads what a ROLLBACK finds: $1 provider, $2 transaction, $3 token's hash, $4 player, $5 game, $6 round, $7 the id
 * that it names.
 */
export const OPEN_ROLLBACK: Statement = {
  name: 'transaction_open_rollback',
  text: `
    SELECT row_to_json(s) AS session, row_to_json(r) AS round,
           ${storedUnder('a.provider_id', 'a.transaction_id')} AS stored,
           ${storedUnder('a.provider_id', 'a.target_id')} AS target
      FROM (SELECT $1::text AS provider_id, $2::text AS transaction_id, $4::text AS player_ref, $5::text AS game_id,
                   $6::text AS round_id, $7::text AS target_id) a
      LEFT JOIN LATERAL (${sessionBehind('$3')}) s ON true
      LEFT JOIN LATERAL (${ROUND_OF_SESSION}) r ON true`,
};

/** $1 … $6 are the round, $7 is the version that the decision saw. */
export const MOVE_ROUND: Statement = {
  name: 'transaction_move_round',
  text: moveRound('$1, $2, $3, $4, $5, $6', '$7::bigint'),
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
    WITH round AS (${moveRound('$1, $5, $8, $9, $12, $7', '$19::bigint')})
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

const settled = (asked: string) => `
  UPDATE transactions t
     SET state = a.state, response_body = a.response_body,
         decline_reason = coalesce(a.decline_reason, t.decline_reason),
         attempts = CASE WHEN jsonb_array_length(t.attempts) < ${ATTEMPTS_KEPT} THEN t.attempts
                         ELSE t.attempts - ${FIRST_ATTEMPTS_KEPT} END || a.record::jsonb,
         lease_until = NULL, updated_at = clock_timestamp()
    FROM (${asked}) a
   WHERE t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id AND t.attempt = a.attempt
     AND t.state = 'PENDING' AND t.rollback_id IS NULL`;

/** An attempt and what it came to. */
const SETTLEMENT = {
  provider_id: 'text',
  transaction_id: 'text',
  attempt: 'integer',
  state: 'text',
  response_body: 'text',
  decline_reason: 'text',
  record: 'text',
};

/** Settles an attempt, only while it is still ours. */
export const SETTLE = groupStatement(
  'transaction_settle',
  SETTLEMENT,
  (asked) => `${settled(asked)} RETURNING a.member`,
);

/** Settles a ROLLBACK and, in the same step, its target: reversed where it is APPROVED, free where DECLINED. */
export const SETTLE_ROLLBACK = groupStatement(
  'transaction_settle_rollback',
  SETTLEMENT,
  (asked) => `
    WITH settled AS (
      ${settled(asked)}
      RETURNING a.member, t.provider_id, t.transaction_id, t.original_transaction_id, t.state
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
    SELECT member FROM settled`,
);
