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

/** The state of the round of request `a` in session `s`. */
export const ROUND_OF_SESSION = `
  SELECT coalesce(bool_or(${settlingWin('t')} AND t.state = 'APPROVED'), false) AS "winApproved",
         coalesce(bool_or(${settlingWin('t')} AND t.state IN ('PENDING', 'TIMED_OUT')), false) AS "winUndecided",
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

/**
 * Reads everything that decides a request: the session behind its token, what is stored under its id and under the id
 * that a ROLLBACK names, and its round.
 */
export const LOAD = groupStatement(
  'transaction_load',
  {
    providerId: 'text',
    transactionId: 'text',
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

/**
 * Increments the round's version if it is still the one that the decision read. The version is the round's optimistic
 * lock: of two statements that read the same version, only one succeeds.
 */
function moveRound(round: string, versionRead: string, from = ''): string {
  return `
  INSERT INTO rounds AS r (provider_id, operator_id, player_ref, game_id, round_id, mode, version)
  SELECT ${round}, ${versionRead} + 1 ${from}
  ON CONFLICT (provider_id, round_id, player_ref, game_id, operator_id, mode)
    DO UPDATE SET version = excluded.version WHERE r.version = excluded.version - 1
  RETURNING r.provider_id, r.operator_id, r.player_ref, r.game_id, r.round_id, r.mode, r.version`;
}

export const MOVE_ROUND = named(
  'transaction_move_round',
  moveRound(':providerId, :operatorId, :playerRef, :gameId, :roundId, :mode', ':roundVersion::bigint'),
);

/** The columns from which a claim is restored. `t` is the table's alias. */
const CLAIMED = `
  t.attempt, t.platform_transaction_id AS "platformTransactionId", t.operator_id AS "operatorId",
  t.session_id AS "sessionId", t.mode, t.provider_id AS "providerId", t.transaction_id AS "transactionId", t.kind,
  t.player_ref AS "playerRef", t.game_id AS "gameId", t.currency, t.amount_minor AS "amountMinor",
  t.round_id AS "roundId", t.round_closed AS "roundClosed", t.original_transaction_id AS "originalTransactionId",
  t.free_spins_ref AS "freeSpinsRef", t.win_kind AS "winKind", t.promotion_ref AS "promotionRef", t.verdict,
  t.decline_reason AS "declineReason"`;

const NEW_TRANSACTION = {
  providerId: 'text',
  transactionId: 'text',
  platformTransactionId: 'uuid',
  kind: 'text',
  operatorId: 'text',
  sessionId: 'uuid',
  mode: 'text',
  playerRef: 'text',
  gameId: 'text',
  currency: 'text',
  amountMinor: 'bigint',
  roundId: 'text',
  roundClosed: 'boolean',
  originalTransactionId: 'text',
  freeSpinsRef: 'text',
  winKind: 'text',
  promotionRef: 'text',
  verdict: 'text',
  declineReason: 'text',
  leaseSeconds: 'integer',
};

/**
 * Claims the unused ids among the items, a subquery with the columns of `NEW_TRANSACTION`. Of two items with the same
 * id, one is claimed: that whose row is returned.
 */
export const claimOf = (items: string) => `
  INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, session_id,
                            mode, player_ref, game_id, currency, amount_minor, round_id, round_closed,
                            original_transaction_id, free_spins_ref, win_kind, promotion_ref, verdict, decline_reason,
                            attempt, lease_until)
  SELECT a.provider_id, a.transaction_id, a.platform_transaction_id, a.kind, 'PENDING', a.operator_id, a.session_id,
         a.mode, a.player_ref, a.game_id, a.currency, a.amount_minor, a.round_id, a.round_closed,
         a.original_transaction_id, a.free_spins_ref, a.win_kind, a.promotion_ref, a.verdict, a.decline_reason,
         1, clock_timestamp() + make_interval(secs => a.lease_seconds)
    FROM (${items}) a
  ON CONFLICT DO NOTHING
  RETURNING platform_transaction_id, operator_id AS "operatorId", session_id AS "sessionId", mode`;

/** Finds the claim of the item `a` if an earlier execution of the statement committed it, but the result was lost. */
const claimAlreadyMade = (items: string) => `
  SELECT t.platform_transaction_id, t.operator_id AS "operatorId", t.session_id AS "sessionId", t.mode
    FROM (${items}) a
    JOIN transactions t ON t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id
   WHERE t.platform_transaction_id = a.platform_transaction_id AND t.attempt = 1
     AND ${LEASE_ALIVE}`;

/** Identifies the results of a claim by the platform's ids, because two items may have the same id of the provider. */
export const BY_PLATFORM_ID = { key: 'platform_transaction_id', alreadyDone: claimAlreadyMade };

/** Claims an unused id; returns no row if the id is taken. */
export const CLAIM = groupStatement('transaction_claim', NEW_TRANSACTION, claimOf, BY_PLATFORM_ID);

/** The key of the round of item `a`. */
const ROUND_KEY = 'a.provider_id, a.operator_id, a.player_ref, a.game_id, a.round_id, a.mode';

/**
 * Increments the version of each round of the WINs if it is still `round_version`. WINs of one round do not depend on
 * each other, so one statement may claim several that read the same version.
 * @param wins the name of a WITH query
 */
export const moveRoundsOf = (wins: string) =>
  moveRound(ROUND_KEY, 'max(a.round_version)', `FROM ${wins} a GROUP BY ${ROUND_KEY}`);

/** Claims the WINs whose `round_version` led to the one that `moveRoundsOf` returned, in a WITH query `round`. */
export const claimOfWins = (wins: string) =>
  claimOf(`SELECT * FROM ${wins} a WHERE (${ROUND_KEY}, a.round_version + 1) IN (SELECT * FROM round)`);

/** Claims a WIN and increments its round's version if it is still `roundVersion`. */
export const CLAIM_WIN = groupStatement(
  'transaction_claim_win',
  { ...NEW_TRANSACTION, roundVersion: 'bigint' },
  (items) => `
    WITH item AS MATERIALIZED (${items}), round AS (${moveRoundsOf('item')})
    ${claimOfWins('item')}`,
  BY_PLATFORM_ID,
);

export const CLAIM_ADJUSTMENT = named(
  'transaction_claim_adjustment',
  `
    INSERT INTO transactions AS t (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
                                   player_ref, currency, amount_minor, reason, attempt, lease_until)
    VALUES (:providerId, :adjustmentId, :platformTransactionId, 'ADJUSTMENT', 'PENDING', :operatorId, 'REAL',
            :playerRef, :currency, :amountMinor, :reason, 1,
            clock_timestamp() + make_interval(secs => :leaseSeconds))
    ON CONFLICT DO NOTHING
    RETURNING ${CLAIMED}`,
);

/**
 * Marks the target of a ROLLBACK, a BET, as being reversed, if `targetAttempt` is still the BET's latest attempt, and
 * neither this attempt nor another ROLLBACK is in progress. A BET that was undecided when the ROLLBACK was judged must
 * not be APPROVED now: by its approval, the ROLLBACK may have to be declined, and the platform's own must not be sent.
 */
const MARK_BET = named(
  'transaction_mark_target',
  `
    UPDATE transactions SET rollback_id = :transactionId, updated_at = clock_timestamp()
     WHERE provider_id = :providerId AND transaction_id = :originalTransactionId AND kind = 'BET'
       AND attempt = :targetAttempt AND (state = 'APPROVED') = :targetApproved AND rollback_id IS NULL
       AND (state IN ('APPROVED', 'TIMED_OUT') OR (state = 'PENDING' AND lease_until <= clock_timestamp()))
    RETURNING attempt`,
);

/** Assigns its target, a tombstone, to a ROLLBACK, unless another ROLLBACK that is not DECLINED holds it. */
const MARK_TOMBSTONE = named(
  'transaction_mark_tombstone',
  `
    UPDATE transactions SET rollback_id = :transactionId, updated_at = clock_timestamp()
     WHERE provider_id = :providerId AND transaction_id = :originalTransactionId AND kind IS NULL
       AND rollback_id IS NULL
    RETURNING attempt`,
);

/** Stores a tombstone as the target of a ROLLBACK: a later transaction with the target's id is declined. */
const PLACE_TOMBSTONE = named(
  'transaction_place_tombstone',
  `
    INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, state, operator_id, session_id,
                              mode, player_ref, game_id, currency, amount_minor, round_id, attempt, rollback_id)
    VALUES (:providerId, :originalTransactionId, :tombstoneId, 'ROLLED_BACK', :operatorId, :sessionId,
            :mode, :playerRef, :gameId, :currency, :amountMinor, :roundId, 0, :transactionId)
    ON CONFLICT DO NOTHING
    RETURNING attempt`,
);

/** Takes the target of a ROLLBACK, depending on what was found under the target's id. */
export const TAKE_TARGET = { bet: MARK_BET, tombstone: MARK_TOMBSTONE, nothing: PLACE_TOMBSTONE };

/** A history has at most ATTEMPTS_KEPT attempts: the first FIRST_ATTEMPTS_KEPT, and the latest of the others. */
export const ATTEMPTS_KEPT = 200;
export const FIRST_ATTEMPTS_KEPT = 20;

/** The history of the transaction `t` with one more attempt. */
const historyWith = (attempt: string) => `
  CASE WHEN jsonb_array_length(t.attempts) < ${ATTEMPTS_KEPT} THEN t.attempts
       ELSE t.attempts - ${FIRST_ATTEMPTS_KEPT} END || ${attempt}`;

const LEASE_OVER = `
  jsonb_build_object('attempt', t.attempt, 'outcome', 'LEASE_OVER',
                     'startedAt', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/**
 * Takes over an undecided transaction with a new attempt if `attempt` is still its latest one, unless its lease is alive
 * or a ROLLBACK of the transaction is in progress. The previous attempt can then no longer settle.
 */
export const RETRY = named(
  'transaction_retry',
  `
    UPDATE transactions t
       SET state = 'PENDING', attempt = t.attempt + 1, updated_at = clock_timestamp(),
           lease_until = clock_timestamp() + make_interval(secs => :leaseSeconds),
           attempts = CASE WHEN t.state = 'TIMED_OUT' THEN t.attempts ELSE ${historyWith(LEASE_OVER)} END
     WHERE t.provider_id = :providerId AND t.transaction_id = :transactionId AND t.attempt = :attempt AND t.rollback_id IS NULL
       AND ${mayBeTakenOver('t')}
    RETURNING ${CLAIMED}`,
);

/** When an attempt in a history ended. */
const endOf = (attempt: string) => `
  (${attempt} ->> 'startedAt')::timestamptz + make_interval(secs => (${attempt} ->> 'durationMs')::float8 / 1000)`;

/** Number of a player's newest transactions that are searched for the last balance. */
const BALANCE_SEARCHED = 50;
/** Maximum number of transactions that are read to find them, among those of other operators' players of this name. */
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

const settled = (items: string) => `
  UPDATE transactions t
     SET state = a.state, response_body = a.response_body,
         decline_reason = coalesce(a.decline_reason, t.decline_reason),
         attempts = ${historyWith('a.record')},
         lease_until = NULL, updated_at = clock_timestamp()
    FROM (${items}) a
   WHERE t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id AND t.attempt = a.attempt
     AND t.state = 'PENDING' AND t.rollback_id IS NULL`;

const SETTLEMENT = {
  providerId: 'text',
  transactionId: 'text',
  attempt: 'integer',
  state: 'text',
  responseBody: 'text',
  declineReason: 'text',
  record: 'jsonb',
};

/** Finds the settlement of item `a` if an earlier execution of the statement committed it, but its result was lost. */
const alreadySettled = (items: string) => `
  SELECT a.item FROM (${items}) a
    JOIN transactions t ON t.provider_id = a.provider_id AND t.transaction_id = a.transaction_id
   WHERE t.attempt = a.attempt AND t.state = a.state AND t.attempts -> -1 = a.record`;

/** Settles an attempt if it is still the current one and no ROLLBACK of its transaction is in progress. */
export const SETTLE = groupStatement(
  'transaction_settle',
  SETTLEMENT,
  (items) => `${settled(items)} RETURNING a.item`,
  { alreadyDone: alreadySettled },
);

/**
 * Settles a ROLLBACK. Its target becomes ROLLED_BACK if the ROLLBACK is APPROVED, and loses its mark if the ROLLBACK is
 * DECLINED. Returns the amount of a BET that was APPROVED and is now ROLLED_BACK, and when the BET was settled: only a
 * BET that was APPROVED has a response.
 */
export const SETTLE_ROLLBACK = groupStatement(
  'transaction_settle_rollback',
  SETTLEMENT,
  (items) => `
    WITH settled AS (
      ${settled(items)}
      RETURNING a.item, t.provider_id, t.transaction_id, t.original_transaction_id, t.state
    ), target AS (
      UPDATE transactions t
         SET state = CASE WHEN settled.state = 'APPROVED' THEN 'ROLLED_BACK' ELSE t.state END,
             lease_until = CASE WHEN settled.state = 'APPROVED' THEN NULL ELSE t.lease_until END,
             rollback_id = CASE WHEN settled.state = 'DECLINED' THEN NULL ELSE t.rollback_id END,
             updated_at = clock_timestamp()
        FROM settled
       WHERE t.provider_id = settled.provider_id AND t.transaction_id = settled.original_transaction_id
         AND t.rollback_id = settled.transaction_id AND settled.state <> 'TIMED_OUT'
      RETURNING settled.item, t.state, t.response_body, t.amount_minor, t.attempts -> -1 AS attempt
    )
    SELECT settled.item, target.amount_minor AS "reversedMinor", ${endOf('target.attempt')} AS "reversedAt"
      FROM settled
      LEFT JOIN target ON target.item = settled.item AND target.state = 'ROLLED_BACK'
                      AND target.response_body IS NOT NULL`,
  { alreadyDone: alreadySettled },
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
