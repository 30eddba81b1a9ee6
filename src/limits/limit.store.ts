import { Injectable } from '@nestjs/common';
import { Database, type Query, type Statement } from '../database/database.js';
import type { PageAfter } from '../api/lists/page.js';
import type { Limit, LimitInUse } from './limit.js';

const COLUMNS = `
  l.operator_id AS "operatorId", l.currency, l.max_grant_minor AS "maxGrantMinor", l.max_batch_minor AS "maxBatchMinor",
  l.max_adjustment_minor AS "maxAdjustmentMinor", l.daily_minor AS "dailyMinor", l.max_win_minor AS "maxWinMinor",
  l.updated_at AS "updatedAt"`;

/**
 * The used amount of the row `l` of `limits`: the stakes of grants and the absolute amounts of adjustments in the last
 * 24 hours, except those that are known to have failed. Capped at 2^53−1.
 */
const USED = `
  (SELECT least(coalesce(sum(amount), 0), 9007199254740991)::bigint
     FROM (SELECT g.spins * g.bet_amount_minor::numeric AS amount
             FROM free_spin_grants g
            WHERE g.operator_id = l.operator_id AND g.currency = l.currency
              AND coalesce(g.carried_out_at, g.created_at) > statement_timestamp() - interval '24 hours'
              AND (g.state <> 'FAILED' OR g.outcome_unknown)
            UNION ALL
           SELECT abs(t.amount_minor)
             FROM transactions t
            WHERE t.operator_id = l.operator_id AND t.provider_id = 'platform' AND t.currency = l.currency
              AND t.created_at > statement_timestamp() - interval '24 hours' AND t.state <> 'DECLINED') AS actions)`;

/** Serialises the database transactions that judge actions by the same limit. */
const LOCK: Statement = {
  name: 'limit_lock',
  text: 'SELECT FROM limits l WHERE operator_id = $1 AND currency = $2 FOR UPDATE',
};

export const FIND: Statement = {
  name: 'limit_find',
  text: `SELECT ${COLUMNS}, ${USED} AS "usedMinor" FROM limits l WHERE operator_id = $1 AND currency = $2`,
};

const PAGE: Statement = {
  name: 'limit_page',
  text: `
    SELECT ${COLUMNS}, ${USED} AS "usedMinor" FROM limits l
     WHERE (operator_id || '/' || currency) COLLATE "C" > $1
     ORDER BY (operator_id || '/' || currency) COLLATE "C" LIMIT $2`,
};

const PUT: Statement = {
  name: 'limit_put',
  text: `
    INSERT INTO limits AS l (operator_id, currency, max_grant_minor, max_batch_minor, max_adjustment_minor, daily_minor,
                             max_win_minor, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, statement_timestamp())
    ON CONFLICT (operator_id, currency) DO UPDATE
       SET max_grant_minor = $3, max_batch_minor = $4, max_adjustment_minor = $5, daily_minor = $6, max_win_minor = $7,
           updated_at = statement_timestamp()`,
};

const REMOVE: Statement = {
  name: 'limit_remove',
  text: `DELETE FROM limits l WHERE operator_id = $1 AND currency = $2 RETURNING ${COLUMNS}`,
};

/** Reads and writes limits. Used amounts are computed from grants and transactions, so that nothing is stored twice. */
@Injectable()
export class LimitStore {
  constructor(private readonly database: Database) {}

  async find(
    operatorId: string,
    currency: string,
    query: Query = this.database.query,
  ): Promise<LimitInUse | undefined> {
    return (await query<LimitInUse>(FIND, [operatorId, currency]))[0];
  }

  /** Locks the limit until the transaction ends, so that no other action under it is judged meanwhile. */
  async lock(query: Query, operatorId: string, currency: string): Promise<LimitInUse | undefined> {
    const found = await query(LOCK, [operatorId, currency]);
    // Read after locking, so that it sees what the previous holder of the lock has committed.
    return found.length === 0 ? undefined : this.find(operatorId, currency, query);
  }

  /** Ordered by `operatorId/currency`, in byte order. */
  page({ after, limit }: PageAfter): Promise<LimitInUse[]> {
    return this.database.query<LimitInUse>(PAGE, [after, limit]);
  }

  async put(query: Query, limit: Omit<Limit, 'updatedAt'>): Promise<void> {
    await query(PUT, [
      limit.operatorId,
      limit.currency,
      limit.maxGrantMinor,
      limit.maxBatchMinor,
      limit.maxAdjustmentMinor,
      limit.dailyMinor,
      limit.maxWinMinor,
    ]);
  }

  async remove(query: Query, operatorId: string, currency: string): Promise<Limit | undefined> {
    return (await query<Limit>(REMOVE, [operatorId, currency]))[0];
  }
}
