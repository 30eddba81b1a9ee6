import { groupStatement } from '../database/group-statement.js';
import { named } from '../database/statement.js';
import { historyWith, LEASE_ALIVE, mayBeTakenOver } from './transaction.sql.js';

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
 * neither this attempt nor another ROLLBACK is in progress. If the BET was undecided when the ROLLBACK was judged but is
 * APPROVED now, no row is returned: the rules must judge again, and may decline a provider's ROLLBACK; the platform's own
 * must not be sent.
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
