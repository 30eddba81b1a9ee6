import type { Statement } from '../../database/database.js';
import { type Place, placeColumn, START_OF_LIST } from '../../http/lists/time-page.js';

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
