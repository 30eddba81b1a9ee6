import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Configuration } from '../../config/configuration.js';
import { Database, type Query } from '../../database/database.js';
import type { Place } from '../../database/place.js';
import { lookUp } from '../../database/planner.js';
import { selectList } from '../../database/select-list.js';
import { named } from '../../database/statement.js';
import { type TimeOrderedTable, timeOrderedPage } from '../../database/time-ordered.js';
import type { UnnamedStatement } from '../../database/time-window.js';
import { currentRequestId } from '../../observability/trace.js';
import type { ListQuery } from '../../api/lists/page.js';
import { callbackLeaseSeconds } from '../../provider-callback/callback-lease.js';
import type { AdminBatchQuery } from '../free-spins.request.js';
import { Grant } from '../grants/grant.entity.js';
import { HAS_NO_SUCCESSOR, LEASE_END, NOT_EXPIRED, REACHED } from '../grants/grant.sql.js';
import { type ClaimedCancel, GrantStore, type NewGrant, type Reached } from '../grants/grant.store.js';
import { Batch } from './batch.entity.js';
import type { BatchFailure, BatchProgress } from './batch.response.js';

export interface NewBatch
  extends Omit<NewGrant, 'requestRef' | 'playerRef'>, Pick<Batch, 'batchId' | 'batchRef' | 'fingerprint'> {
  readonly players: readonly { readonly requestRef: string; readonly playerRef: string }[];
}

/** A filter of batches; an absent field restricts nothing. */
export type BatchFilter = Omit<AdminBatchQuery, keyof ListQuery>;

/**
 * Selects batches with their progress, newest first.
 * @param batches a query for rows of free_spin_batches
 * @param further more columns to select, from `b`, a row of `batches`, or `c`, its counts, with a leading comma
 */
const progress = (batches: string, further = '') => `
  SELECT b.batch_id AS "batchId", b.batch_ref AS "batchRef", b.operator_id AS "operatorId", g.provider_id AS "providerId",
         g.game_id AS "gameId", g.spins, g.bet_amount_minor AS "betAmountMinor", g.currency, g.expires_at AS "expiresAt",
         c.total, c.granted, c.failed, c.pending, c.cancelled, CASE WHEN s.answers > 0 THEN s.completed END AS completed,
         CASE WHEN s.remaining <= ${Number.MAX_SAFE_INTEGER} THEN s.remaining::bigint END AS "remainingSpins",
         s.checked_at AS "statusCheckedAt", b.created_at AS "createdAt"${further}
    FROM (${batches}) AS b
   CROSS JOIN LATERAL (SELECT * FROM free_spin_grants g WHERE g.batch_id = b.batch_id ORDER BY g.grant_no LIMIT 1) AS g
   CROSS JOIN LATERAL (SELECT count(*) AS total, count(*) FILTER (WHERE state = 'GRANTED') AS granted,
                              count(*) FILTER (WHERE state = 'FAILED') AS failed,
                              count(*) FILTER (WHERE state = 'PENDING') AS pending,
                              count(*) FILTER (WHERE state = 'CANCELLED') AS cancelled,
                              count(*) FILTER (WHERE state = 'GRANTED' AND cancel_due) AS cancelling,
                              max(updated_at) AS changed_at
                         FROM free_spin_grants g WHERE g.batch_id = b.batch_id) AS c
   CROSS JOIN LATERAL (SELECT count(status_checked_at) AS answers, count(*) FILTER (WHERE completed) AS completed,
                              sum(remaining_spins) AS remaining, min(status_checked_at) AS checked_at
                         FROM free_spin_grants g WHERE g.batch_id = b.batch_id AND state = 'GRANTED') AS s
   ORDER BY b.created_at DESC, b.batch_id DESC`;

/** The progress of a batch, if it belongs to the operator or if `operatorId` is null. */
const PROGRESS = named(
  'batch_progress',
  progress(`SELECT * FROM free_spin_batches
             WHERE batch_id = :batchId AND (:operatorId::text IS NULL OR operator_id = :operatorId)`),
);

/**
 * How long a batch counts as running after its creation or the last change of its grants, so that a reading sees even a
 * change that ends between two readings.
 */
const RECENT = `interval '10 seconds'`;
/**
 * Maximum number of batches that the live view of an instance follows at once, and of grants among which each search
 * looks for them. Contract, section 9, "Live view".
 */
const RUNNING_READ = 50;
const GRANTS_SEARCHED = 5_000;

/**
 * Every batch that may run and is within the bounds: the recent ones, those of the grants that changed last, and those of
 * the first grants of the queues.
 */
const CANDIDATES = `
  (SELECT batch_id FROM free_spin_batches WHERE created_at > statement_timestamp() - ${RECENT}
    ORDER BY created_at DESC, batch_id DESC LIMIT ${RUNNING_READ})
  UNION
  (SELECT batch_id FROM (SELECT batch_id FROM free_spin_grants
                          WHERE batch_id IS NOT NULL AND updated_at > statement_timestamp() - ${RECENT}
                          ORDER BY updated_at DESC LIMIT ${GRANTS_SEARCHED}) changed)
  UNION
  (SELECT batch_id FROM (SELECT batch_id FROM free_spin_grants WHERE state = 'PENDING'
                          ORDER BY grant_no LIMIT ${GRANTS_SEARCHED}) unsent)
  UNION
  (SELECT batch_id FROM (SELECT batch_id FROM free_spin_grants WHERE state = 'GRANTED' AND cancel_due
                          ORDER BY provider_id, operator_id, grant_no LIMIT ${GRANTS_SEARCHED}) cancelling)`;

/**
 * The progress of the batches in `known`, and of the newest others that run, as far as there is room. Whether a batch
 * runs is decided by its own grants, so that the bounds of the search do not end it.
 */
export const RUNNING = named(
  'batch_running',
  progress(
    `SELECT * FROM free_spin_batches
      WHERE batch_id = ANY (:known::uuid[] || ARRAY(
        SELECT batch_id FROM (${CANDIDATES}) candidate
         WHERE batch_id IS NOT NULL AND batch_id <> ALL (:known::uuid[])
         ORDER BY ${lookUp('b.created_at', 'FROM free_spin_batches b WHERE b.batch_id = candidate.batch_id')} DESC,
                  batch_id DESC
         LIMIT greatest(0, ${RUNNING_READ} - cardinality(:known::uuid[]))))`,
    `, greatest(b.created_at, c.changed_at) > statement_timestamp() - ${RECENT} OR c.pending > 0 OR c.cancelling > 0
       AS running`,
  ),
);

const TABLE: TimeOrderedTable = { columns: 't.*', from: 'free_spin_batches', id: 'batch_id', idType: 'uuid' };

/** One page, newest first. The filters by operator and by game each have an index in this order. */
function batchPage(
  { operatorId, gameId, from, to }: BatchFilter,
  before: Place | undefined,
  limit: number,
): UnnamedStatement {
  const equal = { operator_id: operatorId, game_id: gameId };
  const { statement, values } = timeOrderedPage(TABLE, equal, { from, to, before }, limit);
  return { statement: { ...statement, text: progress(statement.text, ', b.place') }, values };
}

const IS_BATCH_RECORDED = named(
  'grant_is_batch_recorded',
  'SELECT FROM free_spin_batches WHERE batch_ref = :batchRef',
);

/** Records a batch and one unsent grant for each player, atomically. No row is returned if the batchRef is taken. */
const RECORD_BATCH = named(
  'grant_record_batch',
  `WITH batch AS (
     INSERT INTO free_spin_batches (batch_id, batch_ref, operator_id, fingerprint, game_id)
     VALUES (:batchId, :batchRef, :operatorId, :fingerprint, :gameId)
     ON CONFLICT (batch_ref) DO NOTHING
     RETURNING batch_id
   )
   INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins,
                                 bet_amount_minor, currency, expires_at, state, attempt, batch_id, request_id)
   SELECT player.request_ref, :operatorId, :providerId, player.player_ref, :gameId, :spins, :betAmountMinor, :currency,
          :expiresAt::timestamptz, 'PENDING', 0, batch.batch_id, :requestId
     FROM batch, unnest(:requestRefs::text[], :playerRefs::text[]) WITH ORDINALITY AS player (request_ref, player_ref, place)
    ORDER BY player.place
   RETURNING request_ref`,
);

/**
 * The number of a provider's first waiting grant of the next operator after `:after` that has one, or else of the first
 * operator. So the operators take turns, however many grants of one wait.
 * @param waiting the condition of a partial index by provider, operator and number
 */
const inTurn = (waiting: string) => {
  const first = (ofOperators: string) => `
    (SELECT grant_no FROM free_spin_grants g
      WHERE provider_id = :providerId AND ${ofOperators} AND ${waiting}
      ORDER BY operator_id, grant_no LIMIT 1 FOR UPDATE SKIP LOCKED)`;
  return `coalesce(${first('operator_id > :after')}, ${first('operator_id <= :after')})`;
};

/** Claims a provider's next unsent grant. The claim is committed before the call, so that no grant is sent twice. */
export const CLAIM_UNSENT = named(
  'grant_claim_unsent',
  `UPDATE free_spin_grants g
      SET attempt = attempt + 1, lease_until = ${LEASE_END}, updated_at = clock_timestamp()
    WHERE grant_no = ${inTurn("state = 'PENDING' AND lease_until IS NULL")}
   RETURNING ${selectList(Grant, 'g')}`,
);

/** Condition for a due cancel that is not claimed, or whose lease has expired. */
const CANCEL_WAITS = `state = 'GRANTED' AND cancel_due
                          AND (cancel_lease_until IS NULL OR cancel_lease_until <= clock_timestamp())`;

/**
 * Condition for a due cancel of `g` that must not be sent: it is the expiry of a grant that is now known to be completed,
 * or it would void a newer grant.
 */
const IS_MOOT = `(coalesce(completed AND expiry = 'BEGUN', false) OR NOT ${HAS_NO_SUCCESSOR})`;

/**
 * Claims a provider's next due cancel, for a grant that has expired, was voided or whose batch was cancelled. It stays due
 * until an outcome is recorded, so that another instance repeats it after a crash.
 */
export const CLAIM_DUE_CANCEL = named(
  'grant_claim_due_cancel',
  `UPDATE free_spin_grants g
      SET cancel_attempt = cancel_attempt + 1, cancel_lease_until = ${LEASE_END}, updated_at = clock_timestamp()
    WHERE grant_no = ${inTurn(`${CANCEL_WAITS} AND NOT ${IS_MOOT}`)}
   RETURNING ${selectList(Grant, 'g')}, cancel_attempt AS "cancelAttempt"`,
);

/** Ends the cancels that are due but must not be sent any more. */
const END_MOOT_CANCELS = named(
  'grant_end_moot_cancels',
  `UPDATE free_spin_grants g
      SET cancel_due = false, cancel_lease_until = NULL, expiry = nullif(expiry, 'BEGUN'), updated_at = clock_timestamp()
    WHERE ${CANCEL_WAITS} AND ${IS_MOOT}`,
);

/** Selects the providers with unsent grants, or with cancels that are due and not under way. */
const PROVIDERS_WITH_WORK = named(
  'grant_providers_with_work',
  `SELECT provider_id AS "providerId" FROM free_spin_grants WHERE state = 'PENDING' AND lease_until IS NULL
    UNION
   SELECT provider_id FROM free_spin_grants WHERE ${CANCEL_WAITS}`,
);

/**
 * Fails the unsent grants of a batch. `outcome_unknown` is kept: it is true for a grant that waits to be resent and may
 * have been booked by an earlier attempt.
 */
const FAIL_UNSENT = named(
  'grant_fail_unsent',
  `UPDATE free_spin_grants
      SET state = 'FAILED', failure_error = :error, updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND state = 'PENDING' AND lease_until IS NULL
   RETURNING ${REACHED}`,
);

/** Fails unsent grants that have expired. `outcome_unknown` is kept, as in FAIL_UNSENT. */
export const FAIL_EXPIRED = named(
  'grant_fail_expired',
  `UPDATE free_spin_grants
      SET state = 'FAILED', failure_error = :error, updated_at = clock_timestamp()
    WHERE grant_no = ANY (ARRAY(
      SELECT grant_no FROM free_spin_grants
       WHERE state = 'PENDING' AND lease_until IS NULL AND expires_at <= statement_timestamp()
       ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED))
   RETURNING ${REACHED}`,
);

/**
 * Cancels the unsent grants of a batch. One that waits to be resent and may have been booked before becomes FAILED
 * again, because its outcome is still unknown.
 */
const CANCEL_UNSENT = named(
  'grant_cancel_unsent',
  `UPDATE free_spin_grants
      SET state = CASE WHEN outcome_unknown THEN 'FAILED' ELSE 'CANCELLED' END,
          failure_error = CASE WHEN outcome_unknown THEN :error END,
          cancelled_at = CASE WHEN NOT outcome_unknown THEN clock_timestamp() END, updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND state = 'PENDING' AND lease_until IS NULL
   RETURNING ${REACHED}, request_ref AS "requestRef"`,
);

/**
 * Lets the cancel and the resend of a batch follow one another. Otherwise a cancel would see some grants as they are
 * before a concurrent resend, and others as they are after it.
 */
const LOCK = named('batch_lock', 'SELECT FROM free_spin_batches WHERE batch_id = :batchId FOR NO KEY UPDATE');

/**
 * Makes a cancel due for each grant of a batch that is GRANTED or may still become so: it is PENDING, or FAILED with an
 * unknown outcome. Grants whose cancel would void a newer one are left out. If another cancel is under way, the new number
 * keeps its failure from ending this one.
 */
const MAKE_CANCELS_DUE = named(
  'grant_make_cancels_due',
  `UPDATE free_spin_grants g
      SET cancel_due = true, cancel_request_id = :requestId, updated_at = clock_timestamp(),
          cancel_attempt = cancel_attempt + CASE WHEN cancel_lease_until IS NULL THEN 0 ELSE 1 END
    WHERE batch_id = :batchId AND NOT cancel_due AND ${HAS_NO_SUCCESSOR}
      AND (state IN ('PENDING', 'GRANTED') OR state = 'FAILED' AND outcome_unknown)
   RETURNING request_ref AS "requestRef"`,
);

/**
 * Fails the cancels of a batch that are due and not under way, when its provider counts as down. Expiries are still sent,
 * because no person repeats them.
 */
const FAIL_CANCELS = named(
  'grant_fail_cancels',
  `UPDATE free_spin_grants
      SET cancel_due = false, last_cancel_error = :error, updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND ${CANCEL_WAITS} AND expiry IS DISTINCT FROM 'BEGUN'
   RETURNING request_ref`,
);

/**
 * Queues the FAILED grants of a batch to be sent again, unless they have expired; those of unknown outcome only if
 * `includeUnknown` is true.
 */
const RESEND_BATCH = named(
  'grant_resend_batch',
  `UPDATE free_spin_grants
      SET state = 'PENDING', failure_status = NULL, failure_error = NULL, cancel_due = false, request_id = :requestId,
          carried_out_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE batch_id = :batchId AND state = 'FAILED' AND (NOT outcome_unknown OR :includeUnknown) AND ${NOT_EXPIRED}
   RETURNING request_ref`,
);

/** Maximum number of failures that are listed for a batch, the most frequent first. A batch has few different ones. */
const FAILURES_SHOWN = 100;

const FAILURES = named(
  'batch_failures',
  `SELECT failure_error AS error, count(*) AS count, outcome_unknown AS "outcomeUnknown" FROM free_spin_grants
    WHERE batch_id = :batchId AND state = 'FAILED'
    GROUP BY failure_error, outcome_unknown ORDER BY count DESC, error, "outcomeUnknown" LIMIT ${FAILURES_SHOWN}`,
);

/** Reads and writes batches and the queue of their grants; every update is conditional on the current state. */
@Injectable()
export class BatchStore {
  private readonly leaseSeconds: number;

  constructor(
    private readonly database: Database,
    @InjectRepository(Batch) private readonly batches: Repository<Batch>,
    @InjectRepository(Grant) private readonly items: Repository<Grant>,
    private readonly grants: GrantStore,
    configuration: Configuration,
  ) {
    this.leaseSeconds = callbackLeaseSeconds(configuration);
  }

  async isBatchRecorded(query: Query, batchRef: string): Promise<boolean> {
    return (await query(IS_BATCH_RECORDED, { batchRef })).length > 0;
  }

  /** @returns false if the batchRef is taken */
  async recordBatch(query: Query, batch: NewBatch): Promise<boolean> {
    const requestRefs = batch.players.map(({ requestRef }) => requestRef);
    const playerRefs = batch.players.map(({ playerRef }) => playerRef);
    const values = { ...batch, requestRefs, playerRefs, requestId: currentRequestId() };
    return (await query(RECORD_BATCH, values)).length > 0;
  }

  batchByRef(batchRef: string): Promise<Batch | null> {
    return this.batches.findOneBy({ batchRef });
  }

  /** The grants of a batch in the order of its players. */
  grantsOf(batchId: string): Promise<Grant[]> {
    return this.items.find({ where: { batchId }, order: { grantNo: 'ASC' } });
  }

  /**
   * The progress of a batch; undefined if there is no such batch.
   * @param operatorId undefined for any operator
   */
  async progress(batchId: string, operatorId: string | undefined): Promise<BatchProgress | undefined> {
    return (await this.database.query<BatchProgress>(PROGRESS, { batchId, operatorId }))[0];
  }

  /** The progress of the batches in `known`, and of others that run if there is room, newest first. */
  running(known: readonly string[]): Promise<(BatchProgress & { running: boolean })[]> {
    return this.database.query(RUNNING, { known });
  }

  /** The most frequent failures of the FAILED grants of a batch. */
  failures(batchId: string): Promise<BatchFailure[]> {
    return this.database.query(FAILURES, { batchId });
  }

  /** Newest first. */
  batchPage(
    filter: BatchFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<(BatchProgress & { place: string })[]> {
    const { statement, values } = batchPage(filter, before, limit);
    return this.database.query(statement, values);
  }

  /**
   * Cancels unsent grants, and makes a cancel due for each grant that is GRANTED or may become so.
   * @returns `changed`: the number of changed grants; `reached`: the grants with a new state, to be passed to `count`
   *   after the commit
   */
  async cancelBatch(
    query: Query,
    batchId: string,
    error: string,
  ): Promise<{ changed: number; reached: readonly Reached[] }> {
    await query(LOCK, { batchId });
    const reached = await query<Reached & { requestRef: string }>(CANCEL_UNSENT, { batchId, error });
    // Runs second, so that it also covers grants that another instance claimed before the first statement could cancel
    // them: they may still be granted, so a cancel must follow.
    const values = { batchId, requestId: currentRequestId() };
    const due = await query<{ requestRef: string }>(MAKE_CANCELS_DUE, values);
    // Both statements change the same grant if it waits to be resent and the provider may already have booked it. Such a
    // grant is counted once.
    const changed = new Set([...reached, ...due].map(({ requestRef }) => requestRef));
    return { changed: changed.size, reached };
  }

  /** @returns how many grants were queued */
  async resendBatch(query: Query, batchId: string, includeUnknown: boolean): Promise<number> {
    await query(LOCK, { batchId });
    const values = { batchId, includeUnknown, requestId: currentRequestId() };
    return (await query(RESEND_BATCH, values)).length;
  }

  async endMootCancels(): Promise<void> {
    await this.database.query(END_MOOT_CANCELS, {});
  }

  /**
   * Claims a provider's next due cancel.
   * @param after the operator that was served last; the next one has its turn
   */
  async claimDueCancel(providerId: string, after: string): Promise<ClaimedCancel | undefined> {
    const values = { providerId, after, leaseSeconds: this.leaseSeconds };
    return (await this.database.query<ClaimedCancel>(CLAIM_DUE_CANCEL, values))[0];
  }

  /** @returns the number of cancels that failed */
  async failCancels(batchId: string, error: string): Promise<number> {
    return (await this.database.query(FAIL_CANCELS, { batchId, error })).length;
  }

  async providersWithWork(): Promise<string[]> {
    const rows = await this.database.query<{ providerId: string }>(PROVIDERS_WITH_WORK, {});
    return rows.map(({ providerId }) => providerId);
  }

  /**
   * Claims the next unsent grant of a provider. Once the claim is committed, no other instance sends the grant.
   * @param after the operator that was served last; the next one has its turn
   */
  async claimUnsent(providerId: string, after: string): Promise<Grant | undefined> {
    const values = { providerId, after, leaseSeconds: this.leaseSeconds };
    return (await this.database.query<Grant>(CLAIM_UNSENT, values))[0];
  }

  /**
   * Fails unsent grants that have expired, at most `limit`.
   * @returns the number of grants that failed
   */
  async failExpired(error: string, limit: number): Promise<number> {
    return this.grants.count(await this.database.query<Reached>(FAIL_EXPIRED, { error, limit })).length;
  }

  /** @returns the number of grants that failed */
  async failUnsent(batchId: string, error: string): Promise<number> {
    const failed = await this.database.query<Reached>(FAIL_UNSENT, { batchId, error });
    return this.grants.count(failed).length;
  }
}
