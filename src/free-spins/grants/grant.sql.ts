import type { Statement } from '../../database/database.js';
import { selectList } from '../../database/select-list.js';
import { Grant } from './grant.entity.js';

/** The end of a lease that begins now, by the database's clock. `seconds` is the placeholder of its length. */
export const lease = (seconds: string) => `clock_timestamp() + make_interval(secs => ${seconds})`;

/** The operator and provider of a grant, for the metrics. */
export const TENANTS = 'operator_id AS "operatorId", provider_id AS "providerId"';

/** Records a grant and its first attempt, with a lease of $9 seconds. No row is returned if the requestRef is taken. */
export const RECORD: Statement = {
  name: 'grant_record',
  text: `
    INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins,
                                  bet_amount_minor, currency, state, attempt, lease_until)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'PENDING', 1, ${lease('$9')})
    ON CONFLICT (request_ref) DO NOTHING
    RETURNING attempt`,
};

/** Records a grant that is not sent yet. No row is returned if the requestRef is taken. */
export const RECORD_UNSENT: Statement = {
  name: 'grant_record_unsent',
  text: `
    INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins,
                                  bet_amount_minor, currency, request_id, state, attempt)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'PENDING', 0)
    ON CONFLICT (request_ref) DO NOTHING
    RETURNING request_ref`,
};

export const IS_RECORDED: Statement = {
  name: 'grant_is_recorded',
  text: 'SELECT FROM free_spin_grants WHERE request_ref = $1',
};

/** Claims the unsent grant of a requestRef. No row is returned if it was claimed before. */
export const CLAIM: Statement = {
  name: 'grant_claim',
  text: `
    UPDATE free_spin_grants g
       SET attempt = attempt + 1, lease_until = ${lease('$2')}, updated_at = clock_timestamp()
     WHERE request_ref = $1 AND state = 'PENDING' AND lease_until IS NULL
    RETURNING ${selectList(Grant, 'g')}`,
};

/**
 * Begins a new attempt of a FAILED grant. The grant counts towards the daily limit for 24 hours from now.
 * `outcome_unknown` is kept, because an earlier attempt may have been booked. A person who resends a grant wants it to
 * be live, so no cancel of it is due any more.
 */
export const RESEND: Statement = {
  name: 'grant_resend',
  text: `
    UPDATE free_spin_grants
       SET state = 'PENDING', attempt = attempt + 1, lease_until = ${lease('$2')}, cancel_due = false,
           carried_out_at = clock_timestamp(), failure_status = NULL, failure_error = NULL,
           updated_at = clock_timestamp()
     WHERE request_ref = $1 AND state = 'FAILED'
    RETURNING attempt`,
};

/**
 * Begins a new attempt of a FAILED grant of unknown outcome, only to learn its externalRef and cancel it. The cancel is
 * due from now on, so that after a crash another instance cancels what this attempt has granted. `carried_out_at` is
 * kept, because the attempt gives away no spins that count towards the daily limit.
 */
export const VOID: Statement = {
  name: 'grant_void',
  text: `
    UPDATE free_spin_grants
       SET state = 'PENDING', attempt = attempt + 1, lease_until = ${lease('$2')}, cancel_due = true,
           cancel_request_id = $3, failure_status = NULL, failure_error = NULL, updated_at = clock_timestamp()
     WHERE request_ref = $1 AND state = 'FAILED' AND outcome_unknown
    RETURNING attempt`,
};

/** First of the two keys of an advisory lock on an externalRef of a player. The number is arbitrary. */
const EXTERNAL_REF_LOCKS = 7_300_025;

/**
 * Locks an externalRef of a player until the end of the transaction. $1 names the provider, operator, player and
 * externalRef. The lock does not depend on a row, because the first grant with the externalRef has none to lock.
 */
export const LOCK_EXTERNAL_REF: Statement = {
  name: 'grant_lock_external_ref',
  text: `SELECT pg_advisory_xact_lock(${EXTERNAL_REF_LOCKS}, hashtext($1))`,
};

/**
 * Makes a grant GRANTED after a 200, however late it arrives, because the provider has booked it. If $3 is true, a
 * cancel that is due is claimed as well, with a lease of $4 seconds.
 *
 * Invariant: of the GRANTED grants of a player that share an externalRef and are not known to be completed, this
 * statement leaves at most one that is no duplicate. Its transaction must hold the lock of `LOCK_EXTERNAL_REF` before
 * this statement begins, so that it sees the grants that others have made GRANTED.
 */
export const GRANTED: Statement = {
  name: 'grant_granted',
  text: `
    UPDATE free_spin_grants g
       SET state = 'GRANTED', external_ref = $2, lease_until = NULL, failure_status = NULL, failure_error = NULL,
           outcome_unknown = false, cancel_attempt = cancel_attempt + CASE WHEN cancel_due AND $3 THEN 1 ELSE 0 END,
           cancel_lease_until = CASE WHEN cancel_due AND $3 THEN ${lease('$4')} END, updated_at = clock_timestamp(),
           granted_at = clock_timestamp(),
           duplicate_of = (SELECT o.request_ref FROM free_spin_grants o
                            WHERE o.provider_id = g.provider_id AND o.external_ref = $2
                              AND o.operator_id = g.operator_id AND o.player_ref = g.player_ref
                              AND o.state = 'GRANTED' AND o.completed IS NOT TRUE AND o.duplicate_of IS NULL
                            ORDER BY o.grant_no LIMIT 1)
     WHERE request_ref = $1 AND state IN ('PENDING', 'FAILED')
    RETURNING duplicate_of AS "duplicateOf",
              CASE WHEN cancel_lease_until IS NOT NULL THEN cancel_attempt END AS "cancelAttempt"`,
};

/**
 * Records the failure of attempt $2, unless a later attempt has begun. The failure replaces one that `grant_expire` has
 * recorded for the same attempt. $5: whether the provider may have booked this attempt. $6: whether the provider
 * refused it, which proves that no earlier attempt was booked either. A failure clears `outcome_unknown` only if it is
 * a refusal or belongs to the first attempt. In the first attempt, `outcome_unknown` is true only because
 * `grant_expire` ran before the answer arrived.
 */
export const FAILED: Statement = {
  name: 'grant_failed',
  text: `
    UPDATE free_spin_grants
       SET state = 'FAILED', failure_status = $3, failure_error = $4,
           outcome_unknown = $5 OR (outcome_unknown AND attempt > 1 AND NOT $6), lease_until = NULL, updated_at = clock_timestamp()
     WHERE request_ref = $1 AND attempt = $2 AND (lease_until IS NOT NULL OR state = 'FAILED')
    RETURNING ${TENANTS}`,
};

/** Fails grants whose lease expired before an outcome was recorded, such as those of a crashed instance. */
export const EXPIRE: Statement = {
  name: 'grant_expire',
  text: `
    UPDATE free_spin_grants
       SET state = 'FAILED', failure_error = $1, outcome_unknown = true, lease_until = NULL,
           updated_at = clock_timestamp()
     WHERE grant_no IN (SELECT grant_no FROM free_spin_grants
                         WHERE lease_until <= clock_timestamp() FOR UPDATE SKIP LOCKED)
    RETURNING request_ref AS "requestRef", ${TENANTS}`,
};

/** Stores the provider's answer to a status call; the state does not change. */
export const SNAPSHOT: Statement = {
  name: 'grant_snapshot',
  text: `
    UPDATE free_spin_grants
       SET remaining_spins = $2, completed = $3, status_checked_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE request_ref = $1 AND state IN ('GRANTED', 'CANCELLED')`,
};

/**
 * Claims a cancel of a GRANTED grant, unless another cancel of it is under way. The claim of a crashed instance ends
 * with its lease. A due cancel stays due until an outcome is recorded.
 */
export const CLAIM_CANCEL: Statement = {
  name: 'grant_claim_cancel',
  text: `
    UPDATE free_spin_grants
       SET cancel_attempt = cancel_attempt + 1, cancel_lease_until = ${lease('$2')},
           updated_at = clock_timestamp()
     WHERE request_ref = $1 AND state = 'GRANTED'
       AND (cancel_lease_until IS NULL OR cancel_lease_until <= clock_timestamp())
    RETURNING cancel_attempt AS "cancelAttempt"`,
};

/**
 * Makes a grant CANCELLED after a 200, even if a later cancel has been claimed, because the provider has voided the
 * spins.
 */
export const CANCELLED: Statement = {
  name: 'grant_cancelled',
  text: `
    UPDATE free_spin_grants
       SET state = 'CANCELLED', cancelled_at = clock_timestamp(), cancel_lease_until = NULL, cancel_due = false,
           remaining_spins = CASE WHEN status_checked_at IS NOT NULL THEN 0 END, last_cancel_error = NULL,
           updated_at = clock_timestamp()
     WHERE request_ref = $1 AND state = 'GRANTED'
    RETURNING ${TENANTS}`,
};

/** Records the failure of cancel $2, unless a later one was claimed. Only a person can have the cancel sent again. */
export const CANCEL_FAILED: Statement = {
  name: 'grant_cancel_failed',
  text: `
    UPDATE free_spin_grants
       SET last_cancel_error = $3, cancel_lease_until = NULL, cancel_due = false, updated_at = clock_timestamp()
     WHERE request_ref = $1 AND cancel_attempt = $2 AND state = 'GRANTED'`,
};

/** Counts PENDING grants by operator and provider. The index by state finds them without reading any others. */
export const PENDING: Statement = {
  name: 'grant_pending',
  text: `
    SELECT ${TENANTS}, count(*) AS count FROM free_spin_grants
     WHERE state = 'PENDING' GROUP BY operator_id, provider_id`,
};
