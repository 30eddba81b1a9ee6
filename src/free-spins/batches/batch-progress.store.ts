import { Injectable } from '@nestjs/common';
import type { ListQuery } from '../../api/lists/page.js';
import { Database } from '../../database/database.js';
import type { Place } from '../../database/place.js';
import { lookUp } from '../../database/planner.js';
import { named } from '../../database/statement.js';
import { type TimeOrderedTable, timeOrderedPage } from '../../database/time-ordered.js';
import type { UnnamedStatement } from '../../database/time-window.js';
import type { AdminBatchQuery } from '../free-spins.request.js';
import type { BatchFailure, BatchProgress } from './batch.response.js';

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

/** Maximum number of failures that are listed for a batch, the most frequent first. A batch has few different ones. */
const FAILURES_SHOWN = 100;

const FAILURES = named(
  'batch_failures',
  `SELECT failure_error AS error, count(*) AS count, outcome_unknown AS "outcomeUnknown" FROM free_spin_grants
    WHERE batch_id = :batchId AND state = 'FAILED'
    GROUP BY failure_error, outcome_unknown ORDER BY count DESC, error, "outcomeUnknown" LIMIT ${FAILURES_SHOWN}`,
);

/** Reads batches with the number of their grants in each state. */
@Injectable()
export class BatchProgressStore {
  constructor(private readonly database: Database) {}

  /**
   * The progress of a batch; undefined if there is no such batch.
   * @param operatorId undefined for any operator
   */
  async of(batchId: string, operatorId: string | undefined): Promise<BatchProgress | undefined> {
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
  page(
    filter: BatchFilter,
    before: Place | undefined,
    limit: number,
  ): Promise<(BatchProgress & { place: string })[]> {
    const { statement, values } = batchPage(filter, before, limit);
    return this.database.query(statement, values);
  }
}
