import { groupStatement } from '../database/group-statement.js';
import { leading } from '../database/planner.js';
import { named } from '../database/statement.js';
import { endedSecondsAgo } from '../session/session.sql.js';
import { PRIZES } from './rules/win-kind.js';

/**
 * The session behind a token, and whether its game and operator are active. It joins tables of other rooms, so that one
 * statement reads everything that decides a request.
 */
export const sessionBehind = (tokenHash: string) => `
  SELECT s.session_id AS "sessionId", s.operator_id AS "operatorId", s.provider_id AS "providerId",
         s.player_ref AS "playerRef", s.game_id AS "gameId", s.currency, s.mode,
         s.max_bet_minor AS "maxBetMinor", ${endedSecondsAgo('s')} AS "endedSecondsAgo",
         (g.status = 'ACTIVE' AND g.provider_id = s.provider_id) AS "gameActive",
         o.status = 'ACTIVE' AS "operatorActive"
    FROM sessions s
    JOIN games g ON g.game_id = s.game_id
    JOIN tenants o ON o.id = s.operator_id
   WHERE s.token_hash = ${tokenHash}`;

/**
 * The outcome that the provider received last; NULL if it received none. It is the status of the recorded 200 that was
 * sent without an attempt, else the outcome of the last settled attempt that the provider caused. `t` is the table's
 * alias.
 */
export const REPORTED = `
  coalesce(t.reported_status, (
    SELECT attempt ->> 'outcome' FROM jsonb_array_elements(t.attempts) WITH ORDINALITY AS made (attempt, n)
     WHERE attempt ->> 'outcome' <> 'LEASE_OVER' AND coalesce(attempt ->> 'driver', 'provider') = 'provider'
     ORDER BY n DESC LIMIT 1))`;

/** The kind of a WIN, with the default as in rules/win-kind.ts; NULL for other transactions. `t` is the table's alias. */
export const WIN_KIND = `
  CASE WHEN t.kind = 'WIN'
       THEN coalesce(t.win_kind, CASE WHEN t.free_spins_ref IS NULL THEN 'GAME' ELSE 'FREE_SPINS' END) END`;

/** Whether a transaction is a WIN that settles its round, as in rules/win-kind.ts. `table` is the table's alias. */
export const settlingWin = (table: string) => `
  ${table}.kind = 'WIN' AND coalesce(${table}.win_kind, '') NOT IN (${PRIZES.map((kind) => `'${kind}'`).join(', ')})`;

/** Whether an attempt is in progress. `t` is the table's alias. */
export const LEASE_ALIVE = `(t.state = 'PENDING' AND t.lease_until > clock_timestamp())`;

/** Whether a transaction is undecided, and no attempt of it is in progress. `table` is the table's alias. */
export const mayBeTakenOver = (table: string) => `
  (${table}.state = 'TIMED_OUT' OR (${table}.state = 'PENDING' AND ${table}.lease_until <= clock_timestamp()))`;

/** The list of transactions by time. */
export const BY_TIME = { id: 'platform_transaction_id', idType: 'uuid' } as const;

/** The columns of a transaction for the rules. `t` is the table's alias. */
export const STORED_COLUMNS = `
  t.transaction_id AS "transactionId", t.kind, t.state, t.operator_id AS "operatorId", t.mode,
  t.player_ref AS "playerRef", t.game_id AS "gameId", t.currency, t.amount_minor AS "amountMinor",
  t.round_id AS "roundId", t.original_transaction_id AS "originalTransactionId", t.attempt,
  t.free_spins_ref AS "freeSpinsRef", t.win_kind AS "winKind", t.promotion_ref AS "promotionRef",
  t.verdict IS NOT NULL AS "ownVerdict", t.platform_transaction_id AS "platformTransactionId", t.response_body AS "responseBody",
  ${REPORTED} AS "reported",
  ${LEASE_ALIVE} AS "leaseAlive", t.rollback_id AS "rollbackId",
  EXISTS (SELECT FROM transactions r
           WHERE r.provider_id = t.provider_id AND r.original_transaction_id = t.transaction_id
             AND r.kind = 'ROLLBACK' AND r.state IN ('PENDING', 'TIMED_OUT')) AS "rollbackUndecided"`;

/** The transaction that is stored under an id, as JSON. */
const storedUnder = (providerId: string, transactionId: string) => `
  (SELECT row_to_json(stored) FROM (
     SELECT ${STORED_COLUMNS} FROM transactions t
      WHERE t.provider_id = ${providerId} AND t.transaction_id = ${transactionId}) stored)`;

/** The transactions `t` of the round of request `a` in session `s`. */
export const FROM_ROUND = `
    FROM transactions t
   WHERE t.provider_id = a.provider_id AND t.round_id = a.round_id AND t.player_ref = a.player_ref
     AND t.game_id = a.game_id AND t.operator_id = s."operatorId" AND t.mode = s.mode`;

/** The version of that round. */
export const ROUND_VERSION = `
  coalesce((SELECT r.version FROM rounds r
             WHERE r.provider_id = a.provider_id AND r.operator_id = s."operatorId" AND r.player_ref = a.player_ref
               AND r.game_id = a.game_id AND r.round_id = a.round_id AND r.mode = s.mode), 0)`;

/** Whether the transaction `t` is a BET that is APPROVED and not being rolled back. */
export const IS_STANDING_BET = `t.kind = 'BET' AND t.state = 'APPROVED' AND t.rollback_id IS NULL`;

/** The state of the round of request `a` in session `s`. No rule for a BET depends on it, and a round may have many. */
const ROUND_OF_SESSION = `
  SELECT coalesce(bool_or(${settlingWin('t')} AND t.state = 'APPROVED'), false) AS "winApproved",
         coalesce(bool_or(${settlingWin('t')} AND t.state IN ('PENDING', 'TIMED_OUT')), false) AS "winUndecided",
         coalesce(bool_or(${IS_STANDING_BET}), false) AS "betStands",
         coalesce(bool_or(t.kind = 'BET' AND (t.state IN ('PENDING', 'TIMED_OUT')
                          OR (t.state = 'APPROVED' AND t.rollback_id IS NOT NULL))), false) AS "betUndecided",
         coalesce(bool_or(t.kind = 'BET' AND t.state = 'ROLLED_BACK'), false) AS "betRolledBack",
         coalesce(bool_or(t.kind = 'BET' AND t.state <> 'DECLINED' AND t.session_id = s."sessionId"), false)
           AS "betOfSession",
         ${ROUND_VERSION} AS version
  ${FROM_ROUND} AND a.kind <> 'BET'`;

/**
 * Reads everything that decides a request: the session behind its token, what is stored under its id and under the id
 * that a ROLLBACK names, and its round.
 */
export const LOAD = groupStatement(
  'transaction_load',
  {
    providerId: 'text',
    transactionId: 'text',
    kind: 'text',
    tokenHash: 'bytea',
    playerRef: 'text',
    gameId: 'text',
    roundId: 'text',
    targetId: 'text',
  },
  (items) => `
    SELECT a.item, row_to_json(s) AS session, row_to_json(r) AS round,
           ${storedUnder('a.provider_id', 'a.transaction_id')} AS stored,
           ${storedUnder('a.provider_id', 'a.target_id')} AS target
      FROM (${items}) a
      LEFT JOIN LATERAL (${sessionBehind('a.token_hash')}) s ON true
      LEFT JOIN LATERAL (${ROUND_OF_SESSION}) r ON true`,
);

/** A history has at most ATTEMPTS_KEPT attempts: the first FIRST_ATTEMPTS_KEPT, and the latest of the others. */
export const ATTEMPTS_KEPT = 200;
export const FIRST_ATTEMPTS_KEPT = 20;

/** The history of the transaction `t` with one more attempt. */
export const historyWith = (attempt: string) => `
  CASE WHEN jsonb_array_length(t.attempts) < ${ATTEMPTS_KEPT} THEN t.attempts
       ELSE t.attempts - ${FIRST_ATTEMPTS_KEPT} END || ${attempt}`;

/** When an attempt in a history ended. */
export const endOf = (attempt: string) => `
  (${attempt} ->> 'startedAt')::timestamptz + make_interval(secs => (${attempt} ->> 'durationMs')::float8 / 1000)`;

/** Number of a player's newest transactions that are searched for the last balance. */
const BALANCE_SEARCHED = 50;
/** Maximum number of transactions read to find them. Other operators may have players with the same playerRef. */
const BALANCE_READ = 1_000;

/**
 * The balance in the answer that the operator gave last for the player, with this currency and mode, among the player's
 * newest transactions. A ROLLBACK changes its BET's row, but the BET's answer keeps its age.
 */
export const LAST_BALANCE = named(
  'transaction_last_balance',
  `
    SELECT (recent.response_body::json ->> 'balance')::bigint AS balance
      FROM (SELECT * FROM (
              SELECT * FROM transactions t WHERE ${leading({ 't.player_ref': ':playerRef' })}
               ORDER BY t.player_ref DESC, t.created_at DESC, t.platform_transaction_id DESC LIMIT ${BALANCE_READ}) named
             WHERE named.operator_id = :operatorId AND named.mode = :mode
             ORDER BY named.created_at DESC, named.platform_transaction_id DESC LIMIT ${BALANCE_SEARCHED}) recent
     WHERE recent.currency = :currency AND recent.response_body IS NOT NULL
     ORDER BY ${endOf('recent.attempts -> -1')} DESC NULLS LAST LIMIT 1`,
);

/**
 * Records that the provider receives a 200 with this status without an attempt. A recorded DECLINED is never replaced,
 * because the provider receives nothing but DECLINED from then on. A later APPROVED can only come from a replay that
 * was decided before the transaction was rolled back.
 */
export const RECORD_REPORTED = named(
  'transaction_record_reported',
  `
    UPDATE transactions SET reported_status = :status, reported_at = clock_timestamp()
     WHERE provider_id = :providerId AND transaction_id = :transactionId
       AND coalesce(reported_status, '') NOT IN ('DECLINED', :status)`,
);

/** Marks a WIN above its limit, once: a repeated attempt keeps the first mark. */
export const MARK_ABOVE_LIMIT = named(
  'transaction_mark_above_limit',
  `
    INSERT INTO wins_above_limit (provider_id, transaction_id, limit_minor) VALUES (:providerId, :transactionId, :limitMinor)
    ON CONFLICT (provider_id, transaction_id) DO NOTHING`,
);
