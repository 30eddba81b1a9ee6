import type { Statement } from '../../database/database.js';
import { selectList } from '../../database/select-list.js';
import { Grant } from './grant.entity.js';

/** The end of a lease that begins now, by the database's clock. `seconds` is the placeholder of its length. */
const lease = (seconds: string) => `clock_timestamp() + make_interval(secs => ${seconds})`;

/** The operator and provider of a grant, for the metrics. */
const TENANTS = 'operator_id AS "operatorId", provider_id AS "providerId"';

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

export const IS_BATCH_RECORDED: Statement = {
  name: 'grant_is_batch_recorded',
  text: 'SELECT FROM free_spin_batches WHERE batch_ref = $1',
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

/** Records a batch and one unsent grant for each player, atomically. No row is returned if the batchRef is taken. */
export const RECORD_BATCH: Statement = {
  name: 'grant_record_batch',
  text: `
    WITH batch AS (
      INSERT INTO free_spin_batches (batch_id, batch_ref, operator_id, fingerprint, game_id) VALUES ($1, $2, $3, $4, $6)
      ON CONFLICT (batch_ref) DO NOTHING
      RETURNING batch_id
    )
    INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins,
                                  bet_amount_minor, currency, state, attempt, batch_id, request_id)
    SELECT player.request_ref, $3, $5, player.player_ref, $6, $7, $8, $9, 'PENDING', 0, batch.batch_id, $12
      FROM batch, unnest($10::text[], $11::text[]) WITH ORDINALITY AS player (request_ref, player_ref, place)
     ORDER BY player.place
    RETURNING request_ref`,
};

/** Claims a provider's next unsent grant. The claim is committed before the call, so that no grant is sent twice. */
export const CLAIM_UNSENT: Statement = {
  name: 'grant_claim_unsent',
  text: `
    UPDATE free_spin_grants g
       SET attempt = attempt + 1, lease_until = ${lease('$2')}, updated_at = clock_timestamp()
     WHERE grant_no = (SELECT grant_no FROM free_spin_grants
                        WHERE provider_id = $1 AND state = 'PENDING' AND lease_until IS NULL
                        ORDER BY grant_no LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ${selectList(Grant, 'g')}`,
};

/** Condition for a due cancel that is not claimed, or whose lease has expired. */
const CANCEL_WAITS = `state = 'GRANTED' AND cancel_due
                          AND (cancel_lease_until IS NULL OR cancel_lease_until <= clock_timestamp())`;

/**
 * Claims a provider's next due cancel, for a grant that was voided or whose batch was cancelled. The cancel stays due
 * until an outcome is recorded, so that another instance repeats it after a crash.
 */
export const CLAIM_DUE_CANCEL: Statement = {
  name: 'grant_claim_due_cancel',
  text: `
    UPDATE free_spin_grants g
       SET cancel_attempt = cancel_attempt + 1, cancel_lease_until = ${lease('$2')}, updated_at = clock_timestamp()
     WHERE grant_no = (SELECT grant_no FROM free_spin_grants
                        WHERE provider_id = $1 AND ${CANCEL_WAITS}
                        ORDER BY grant_no LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ${selectList(Grant, 'g')}, cancel_attempt AS "cancelAttempt"`,
};

/** Selects the providers with unsent grants, or with cancels that are due and not under way. */
export const PROVIDERS_WITH_WORK: Statement = {
  name: 'grant_providers_with_work',
  text: `
    SELECT provider_id AS "providerId" FROM free_spin_grants WHERE state = 'PENDING' AND lease_until IS NULL
     UNION
    SELECT provider_id FROM free_spin_grants WHERE ${CANCEL_WAITS}`,
};

/**
 * Fails the unsent grants of a batch. `outcome_unknown` is kept: it is true for a grant that waits to be resent and may
 * have been booked by an earlier attempt.
 */
export const FAIL_UNSENT: Statement = {
  name: 'grant_fail_unsent',
  text: `
    UPDATE free_spin_grants
       SET state = 'FAILED', failure_error = $2, updated_at = clock_timestamp()
     WHERE batch_id = $1 AND state = 'PENDING' AND lease_until IS NULL
    RETURNING ${TENANTS}`,
};

/** Counts PENDING grants by operator and provider. The index by state finds them without reading any others. */
export const PENDING: Statement = {
  name: 'grant_pending',
  text: `
    SELECT ${TENANTS}, count(*) AS count FROM free_spin_grants
     WHERE state = 'PENDING' GROUP BY operator_id, provider_id`,
};

/**
 * Cancels the unsent grants of a batch. One that waits to be resent and may have been booked before becomes FAILED
 * again, because its outcome is still unknown.
 */
export const CANCEL_UNSENT: Statement = {
  name: 'grant_cancel_unsent',
  text: `
    UPDATE free_spin_grants
       SET state = CASE WHEN outcome_unknown THEN 'FAILED' ELSE 'CANCELLED' END,
           failure_error = CASE WHEN outcome_unknown THEN $2 END,
           cancelled_at = CASE WHEN NOT outcome_unknown THEN clock_timestamp() END, updated_at = clock_timestamp()
     WHERE batch_id = $1 AND state = 'PENDING' AND lease_until IS NULL
    RETURNING ${TENANTS}, state, request_ref AS "requestRef"`,
};

/**
 * Makes a cancel due for each grant of a batch that is GRANTED or may still become so: it is PENDING, or FAILED with an
 * unknown outcome.
 */
export const MAKE_CANCELS_DUE: Statement = {
  name: 'grant_make_cancels_due',
  text: `
    UPDATE free_spin_grants
       SET cancel_due = true, cancel_request_id = $2, updated_at = clock_timestamp()
     WHERE batch_id = $1 AND NOT cancel_due
       AND (state IN ('PENDING', 'GRANTED') OR state = 'FAILED' AND outcome_unknown)
    RETURNING request_ref AS "requestRef"`,
};

/** Fails the cancels of a batch that are due and not under way, when its provider counts as down. */
export const FAIL_CANCELS: Statement = {
  name: 'grant_fail_cancels',
  text: `
    UPDATE free_spin_grants
       SET cancel_due = false, last_cancel_error = $2, updated_at = clock_timestamp()
     WHERE batch_id = $1 AND ${CANCEL_WAITS}
    RETURNING request_ref`,
};

/** Queues the FAILED grants of a batch to be sent again; those of unknown outcome only if $2 is true. */
export const RESEND_BATCH: Statement = {
  name: 'grant_resend_batch',
  text: `
    UPDATE free_spin_grants
       SET state = 'PENDING', failure_status = NULL, failure_error = NULL, cancel_due = false, request_id = $3,
           carried_out_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE batch_id = $1 AND state = 'FAILED' AND (NOT outcome_unknown OR $2)
    RETURNING request_ref`,
};
