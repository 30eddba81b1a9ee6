import type { Statement } from '../../database/database.js';
import { selectList } from '../../database/select-list.js';
import { Grant } from '../grants/grant.entity.js';
import { lease, TENANTS } from '../grants/grant.sql.js';
import { type Place, placeColumn, START_OF_LIST } from '../../database/place.js';

/** A batch with the fields that its grants share, and the number of grants in each state. */
export interface BatchProgress {
  readonly batchId: string;
  readonly batchRef: string | null;
  readonly operatorId: string;
  readonly providerId: string;
  readonly gameId: string;
  readonly spins: number;
  /** Minor units. */
  readonly betAmountMinor: number;
  readonly currency: string;
  readonly total: number;
  readonly granted: number;
  readonly failed: number;
  readonly pending: number;
  readonly cancelled: number;
  readonly createdAt: Date;
}

/** A filter of batches; an absent field restricts nothing. */
export interface BatchFilter {
  readonly operatorId?: string;
  readonly gameId?: string;
  /** from ≤ createdAt < to, ISO 8601. */
  readonly from?: string;
  readonly to?: string;
}

/**
 * Selects batches with their progress, newest first.
 * @param batches a query for rows of free_spin_batches
 * @param further more columns to select from `b`, a row of `batches`, with a leading comma
 */
const progress = (batches: string, further = '') => `
  SELECT b.batch_id AS "batchId", b.batch_ref AS "batchRef", b.operator_id AS "operatorId", g.provider_id AS "providerId",
         g.game_id AS "gameId", g.spins, g.bet_amount_minor AS "betAmountMinor", g.currency, c.total, c.granted, c.failed,
         c.pending, c.cancelled, b.created_at AS "createdAt"${further}
    FROM (${batches}) AS b
   CROSS JOIN LATERAL (SELECT * FROM free_spin_grants g WHERE g.batch_id = b.batch_id ORDER BY g.grant_no LIMIT 1) AS g
   CROSS JOIN LATERAL (SELECT count(*) AS total, count(*) FILTER (WHERE state = 'GRANTED') AS granted,
                              count(*) FILTER (WHERE state = 'FAILED') AS failed,
                              count(*) FILTER (WHERE state = 'PENDING') AS pending,
                              count(*) FILTER (WHERE state = 'CANCELLED') AS cancelled
                         FROM free_spin_grants g WHERE g.batch_id = b.batch_id) AS c
   ORDER BY b.created_at DESC, b.batch_id DESC`;

/** The progress of batch $1, if it belongs to operator $2 or if $2 is null. */
export const PROGRESS: Statement = {
  name: 'batch_progress',
  text: progress(`SELECT * FROM free_spin_batches
                   WHERE batch_id = $1 AND ($2::text IS NULL OR operator_id = $2)`),
};

/** One page, newest first. The filters by operator and by game each have an index in this order. */
export function batchPage(
  { operatorId, gameId, from, to }: BatchFilter,
  before: Place = START_OF_LIST,
  limit: number,
): { statement: Statement; values: unknown[] } {
  const values: unknown[] = [before.at, before.id, limit];
  const comparisons = {
    'operator_id =': operatorId,
    'game_id =': gameId,
    'created_at >=': from,
    'created_at <': to,
  };
  const conditions = Object.entries(comparisons)
    .filter(([, value]) => value !== undefined)
    .map(([comparison, value]) => ` AND ${comparison} $${values.push(value)}`);
  const batches = `
    SELECT * FROM free_spin_batches
     WHERE (created_at, batch_id) < ($1::timestamptz, $2::uuid)${conditions.join('')}
     ORDER BY created_at DESC, batch_id DESC LIMIT $3`;
  return {
    statement: { name: '', text: progress(batches, `, ${placeColumn('b.created_at', 'b.batch_id')}`) },
    values,
  };
}

export const IS_BATCH_RECORDED: Statement = {
  name: 'grant_is_batch_recorded',
  text: 'SELECT FROM free_spin_batches WHERE batch_ref = $1',
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
