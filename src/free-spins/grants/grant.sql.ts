import { selectList } from '../../database/select-list.js';
import { lookUp } from '../../database/planner.js';
import { named } from '../../database/statement.js';
import { Grant } from './grant.entity.js';

/** The end of a lease that begins now, by the database's clock. */
export const LEASE_END = 'clock_timestamp() + make_interval(secs => :leaseSeconds)';

/** What the metrics count of a grant in a new state. */
export const REACHED = 'operator_id AS "operatorId", provider_id AS "providerId", state';

const GRANT = selectList(Grant, 'g');

/** Records a grant and its first attempt. No row is returned if the requestRef is taken. */
export const RECORD = named(
  'grant_record',
  `INSERT INTO free_spin_grants AS g (request_ref, operator_id, provider_id, player_ref, game_id, spins,
                                      bet_amount_minor, currency, expires_at, state, attempt, lease_until)
   VALUES (:requestRef, :operatorId, :providerId, :playerRef, :gameId, :spins, :betAmountMinor, :currency, :expiresAt,
           'PENDING', 1, ${LEASE_END})
   ON CONFLICT (request_ref) DO NOTHING
   RETURNING ${GRANT}`,
);

/** Records a grant that is not sent yet. No row is returned if the requestRef is taken. */
export const RECORD_UNSENT = named(
  'grant_record_unsent',
  `INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins,
                                 bet_amount_minor, currency, expires_at, request_id, state, attempt)
   VALUES (:requestRef, :operatorId, :providerId, :playerRef, :gameId, :spins, :betAmountMinor, :currency, :expiresAt,
           :requestId, 'PENDING', 0)
   ON CONFLICT (request_ref) DO NOTHING
   RETURNING request_ref`,
);

export const IS_RECORDED = named(
  'grant_is_recorded',
  'SELECT FROM free_spin_grants WHERE request_ref = :requestRef',
);

/** Condition for a grant that waits to be sent. */
export const UNSENT = "state = 'PENDING' AND lease_until IS NULL";

/** Claims the unsent grant of a requestRef. No row is returned if it was claimed before. */
export const CLAIM = named(
  'grant_claim',
  `UPDATE free_spin_grants g
      SET attempt = attempt + 1, lease_until = ${LEASE_END}, updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND ${UNSENT}
   RETURNING ${GRANT}`,
);

/** Condition for a grant that has not expired. */
export const NOT_EXPIRED = '(expires_at IS NULL OR expires_at > clock_timestamp())';

/**
 * Begins a new attempt of a FAILED grant that has not expired. The grant counts towards the daily limit for 24 hours
 * from now. `outcome_unknown` is kept, because an earlier attempt may have been booked. A person who resends a grant
 * wants it to be live, so no cancel of it is due any more.
 */
export const RESEND = named(
  'grant_resend',
  `UPDATE free_spin_grants g
      SET state = 'PENDING', attempt = attempt + 1, lease_until = ${LEASE_END}, cancel_due = false,
          carried_out_at = clock_timestamp(), failure_status = NULL, failure_error = NULL,
          updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND state = 'FAILED' AND ${NOT_EXPIRED}
   RETURNING ${GRANT}`,
);

/**
 * Begins a new attempt of a FAILED grant of unknown outcome, only to learn its externalRef and cancel it. The cancel is
 * due from now on, so that after a crash another instance cancels what this attempt has granted. `carried_out_at` is
 * kept, because the attempt gives away no spins that count towards the daily limit.
 */
export const VOID = named(
  'grant_void',
  `UPDATE free_spin_grants g
      SET state = 'PENDING', attempt = attempt + 1, lease_until = ${LEASE_END}, cancel_due = true,
          cancel_request_id = :requestId, failure_status = NULL, failure_error = NULL, updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND state = 'FAILED' AND outcome_unknown
   RETURNING ${GRANT}`,
);

/** First of the two keys of an advisory lock on an externalRef of a player. The number is arbitrary. */
const EXTERNAL_REF_LOCKS = 7_300_025;

/**
 * Locks an externalRef of a player until the end of the transaction. `owner` names the provider, operator, player and
 * externalRef. The lock does not depend on a row, because the first grant with the externalRef has none to lock.
 */
export const LOCK_EXTERNAL_REF = named(
  'grant_lock_external_ref',
  `SELECT pg_advisory_xact_lock(${EXTERNAL_REF_LOCKS}, hashtext(:owner))`,
);

/** Condition for the grant `o` that is live, is no duplicate, and has an externalRef of the player of `g`. */
const isLiveOf = (externalRef: string) =>
  `o.provider_id = g.provider_id AND o.external_ref = ${externalRef}
     AND o.operator_id = g.operator_id AND o.player_ref = g.player_ref
     AND o.state = 'GRANTED' AND o.completed IS NOT TRUE AND o.duplicate_of IS NULL`;

/**
 * Makes a grant GRANTED after a 200, however late it arrives, because the provider has booked it. If `claimsCancel` is
 * true, a cancel that is due is claimed as well.
 *
 * Invariant: of the GRANTED grants of a player that share an externalRef and are not known to be completed, this
 * statement leaves at most one that is no duplicate. Its transaction must hold the lock of `LOCK_EXTERNAL_REF` before
 * this statement begins, so that it sees the grants that others have made GRANTED.
 */
export const GRANTED = named(
  'grant_granted',
  `UPDATE free_spin_grants g
      SET state = 'GRANTED', external_ref = :externalRef, lease_until = NULL, failure_status = NULL, failure_error = NULL,
          outcome_unknown = false, cancel_attempt = cancel_attempt + CASE WHEN cancel_due AND :claimsCancel THEN 1 ELSE 0 END,
          cancel_lease_until = CASE WHEN cancel_due AND :claimsCancel THEN ${LEASE_END} END, updated_at = clock_timestamp(),
          granted_at = clock_timestamp(),
          duplicate_of = (SELECT o.request_ref FROM free_spin_grants o WHERE ${isLiveOf(':externalRef')}
                           ORDER BY o.grant_no LIMIT 1)
    WHERE request_ref = :requestRef AND state IN ('PENDING', 'FAILED')
   RETURNING ${GRANT}, CASE WHEN cancel_lease_until IS NOT NULL THEN cancel_attempt END AS "cancelAttempt"`,
);

/**
 * Records the failure of an attempt, unless a later attempt has begun. The failure replaces one that `grant_expire` has
 * recorded for the same attempt. It clears `outcome_unknown` only if it is a refusal, which proves that no attempt was
 * booked, or belongs to the first attempt, whose `outcome_unknown` is true only because `grant_expire` ran before the
 * answer arrived. An attempt whose call could not be made counts here, too. `stateBefore`, from the statement's snapshot,
 * lets the failure be counted once.
 */
export const FAILED = named(
  'grant_failed',
  `UPDATE free_spin_grants g
      SET state = 'FAILED', failure_status = :status, failure_error = :error,
          outcome_unknown = :outcomeUnknown OR (outcome_unknown AND attempt > 1 AND NOT :refused), lease_until = NULL,
          updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND attempt = :attempt AND (lease_until IS NOT NULL OR state = 'FAILED')
   RETURNING ${GRANT}, ${lookUp('b.state', 'FROM free_spin_grants b WHERE b.grant_no = g.grant_no')} AS "stateBefore"`,
);

/**
 * Ends the claim of an attempt whose call could not be made, so that the grant waits to be sent again. If its cancel was
 * requested meanwhile, it is not sent again. The number of the attempt is not used again, so that a repetition of this
 * statement cannot end a later claim.
 */
export const UNCLAIM = named(
  'grant_unclaim',
  `UPDATE free_spin_grants
      SET lease_until = NULL, updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND lease_until IS NOT NULL AND attempt = :attempt AND NOT cancel_due
   RETURNING request_ref`,
);

/** Fails grants whose lease expired before an outcome was recorded, such as those of a crashed instance. */
export const EXPIRE = named(
  'grant_expire',
  `UPDATE free_spin_grants
      SET state = 'FAILED', failure_error = :error, outcome_unknown = true, lease_until = NULL,
          updated_at = clock_timestamp()
    WHERE grant_no = ANY (ARRAY(
      SELECT grant_no FROM free_spin_grants WHERE lease_until <= statement_timestamp() FOR UPDATE SKIP LOCKED))
   RETURNING request_ref AS "requestRef", ${REACHED}`,
);

/**
 * Stores the provider's answer to a status call; the state does not change. The provider may already use the `externalRef`
 * of a completed grant for other spins. So a grant stays completed, with its remaining spins: a later answer that says
 * otherwise is about those other spins, or was delayed.
 */
export const SNAPSHOT = named(
  'grant_snapshot',
  `UPDATE free_spin_grants
      SET remaining_spins = CASE WHEN completed THEN remaining_spins ELSE :remainingSpins END,
          completed = completed IS TRUE OR :completed, status_checked_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND state IN ('GRANTED', 'CANCELLED')`,
);

/** The value of `expiry` after the cancel that is due has failed. */
const EXPIRY_AFTER_FAILURE = `CASE WHEN expiry = 'BEGUN' THEN 'FAILED' ELSE expiry END`;

/**
 * Selects the newer grant whose spins a cancel of `g` would void: the grant that has the externalRef of `g` now, because
 * `g` is known to be completed, or is a duplicate of a grant that is over. A live grant and its duplicates have none.
 */
const SUCCESSOR = lookUp(
  'o.request_ref',
  `FROM free_spin_grants o
    WHERE ${isLiveOf('g.external_ref')} AND o.request_ref <> g.request_ref
      AND o.request_ref IS DISTINCT FROM g.duplicate_of AND (g.completed OR g.duplicate_of IS NOT NULL) LIMIT 1`,
);

/** Condition for a grant `g` that a cancel would end alone, or together with its duplicates. */
export const HAS_NO_SUCCESSOR = `${SUCCESSOR} IS NULL`;

export const SUCCESSOR_OF = named(
  'grant_successor_of',
  `SELECT ${SUCCESSOR} AS "requestRef" FROM free_spin_grants g WHERE g.request_ref = :requestRef`,
);

/**
 * Claims a cancel of a GRANTED grant, unless another cancel of it is under way, or it would void a newer grant; if
 * `onlyDue` is true, only a cancel that is due. The claim of a crashed instance ends with its lease. A due cancel stays
 * due until an outcome is recorded.
 */
export const CLAIM_CANCEL = named(
  'grant_claim_cancel',
  `UPDATE free_spin_grants g
      SET cancel_attempt = cancel_attempt + 1, cancel_lease_until = ${LEASE_END},
          updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND state = 'GRANTED' AND (cancel_due OR NOT :onlyDue) AND ${HAS_NO_SUCCESSOR}
      AND (cancel_lease_until IS NULL OR cancel_lease_until <= clock_timestamp())
   RETURNING ${GRANT}, cancel_attempt AS "cancelAttempt"`,
);

/**
 * Makes a grant CANCELLED after a 200, even if a later cancel has been claimed, because the provider has voided the
 * spins.
 */
export const CANCELLED = named(
  'grant_cancelled',
  `UPDATE free_spin_grants g
      SET state = 'CANCELLED', cancelled_at = clock_timestamp(), cancel_lease_until = NULL, cancel_due = false,
          remaining_spins = CASE WHEN status_checked_at IS NOT NULL THEN 0 END, last_cancel_error = NULL,
          updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND state = 'GRANTED'
   RETURNING ${GRANT}`,
);

/**
 * Records the failure of a cancel, unless a later one was claimed. Only a person can have the cancel sent again. The
 * condition on the lease keeps a repetition of this statement from ending a cancel that became due after the failure.
 */
export const CANCEL_FAILED = named(
  'grant_cancel_failed',
  `UPDATE free_spin_grants g
      SET last_cancel_error = :error, cancel_lease_until = NULL, cancel_due = false, expiry = ${EXPIRY_AFTER_FAILURE},
          updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND cancel_attempt = :cancelAttempt AND state = 'GRANTED'
      AND cancel_lease_until IS NOT NULL
   RETURNING ${GRANT}`,
);

/** Ends the claim of a due cancel whose call could not be made. The cancel stays due. */
export const UNCLAIM_CANCEL = named(
  'grant_unclaim_cancel',
  `UPDATE free_spin_grants
      SET cancel_lease_until = NULL, updated_at = clock_timestamp()
    WHERE request_ref = :requestRef AND state = 'GRANTED' AND cancel_due AND cancel_attempt = :cancelAttempt
   RETURNING request_ref`,
);

/** Counts PENDING grants for the gauge. The index by state finds them without reading any others. */
export const PENDING = named(
  'grant_pending',
  `SELECT operator_id AS operator, provider_id AS provider, count(*) AS value FROM free_spin_grants
    WHERE state = 'PENDING' GROUP BY operator_id, provider_id`,
);

/**
 * The stakes that count towards the daily limit `l`: those of the grants that were first sent, or sent again, in the
 * last 24 hours, except grants that are known to have failed.
 */
export const USED_STAKES = `
  SELECT g.spins * g.bet_amount_minor::numeric AS amount
    FROM free_spin_grants g
   WHERE g.operator_id = l.operator_id AND g.currency = l.currency
     AND coalesce(g.carried_out_at, g.created_at) > statement_timestamp() - interval '24 hours'
     AND (g.state <> 'FAILED' OR g.outcome_unknown)`;
