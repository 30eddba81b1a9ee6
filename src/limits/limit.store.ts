import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database/database.js';
import { named } from '../database/statement.js';
import type { PageAfter } from '../api/lists/page.js';
import type { LimitInUse } from './limit.request.js';

export type LimitKey = Pick<LimitInUse, 'operatorId' | 'currency'>;
export type Limit = Omit<LimitInUse, 'usedMinor'>;

const COLUMNS = `
  l.operator_id AS "operatorId", l.currency, l.max_grant_minor AS "maxGrantMinor", l.max_batch_minor AS "maxBatchMinor",
  l.max_adjustment_minor AS "maxAdjustmentMinor", l.daily_minor AS "dailyMinor", l.max_win_minor AS "maxWinMinor",
  l.updated_at AS "updatedAt"`;

/**
 * The statements that return the used amount of a limit, which is capped at 2^53−1.
 * @param amounts the amounts that count towards it, see `LimitsService.countTowardsDay`
 */
function statementsOf(amounts: readonly string[]) {
  const columns = `${COLUMNS},
    (SELECT least(coalesce(sum(amount), 0), 9007199254740991)::bigint
       FROM (${amounts.join(' UNION ALL ')}) AS actions) AS "usedMinor"`;
  return {
    find: named(
      'limit_find',
      `SELECT ${columns} FROM limits l WHERE operator_id = :operatorId AND currency = :currency`,
    ),
    page: named(
      'limit_page',
      `SELECT ${columns} FROM limits l
        WHERE (operator_id || '/' || currency) COLLATE "C" > :after
        ORDER BY (operator_id || '/' || currency) COLLATE "C" LIMIT :limit`,
    ),
    put: named(
      'limit_put',
      `INSERT INTO limits AS l (operator_id, currency, max_grant_minor, max_batch_minor, max_adjustment_minor,
                                daily_minor, max_win_minor, updated_at)
       VALUES (:operatorId, :currency, :maxGrantMinor, :maxBatchMinor, :maxAdjustmentMinor, :dailyMinor, :maxWinMinor,
               statement_timestamp())
       ON CONFLICT (operator_id, currency) DO UPDATE
          SET max_grant_minor = :maxGrantMinor, max_batch_minor = :maxBatchMinor,
              max_adjustment_minor = :maxAdjustmentMinor, daily_minor = :dailyMinor, max_win_minor = :maxWinMinor,
              updated_at = statement_timestamp()
       RETURNING ${columns}`,
    ),
  };
}

/** Serialises the database transactions that judge actions by the same limit. */
const LOCK = named(
  'limit_lock',
  'SELECT FROM limits l WHERE operator_id = :operatorId AND currency = :currency FOR UPDATE',
);

const REMOVE = named(
  'limit_remove',
  `DELETE FROM limits l WHERE operator_id = :operatorId AND currency = :currency RETURNING ${COLUMNS}`,
);

const WIN_LIMITS = named(
  'limit_win_limits',
  `SELECT operator_id AS "operatorId", currency, max_win_minor AS "maxWinMinor"
     FROM limits WHERE max_win_minor IS NOT NULL`,
);

/** Reads and writes limits. Used amounts are computed from the actions themselves, so that nothing is stored twice. */
@Injectable()
export class LimitStore {
  private readonly amounts: string[] = [];
  private statements = statementsOf(this.amounts);

  constructor(private readonly database: Database) {}

  addAmounts(amounts: string): void {
    this.amounts.push(amounts);
    this.statements = statementsOf(this.amounts);
  }

  async find(key: LimitKey, query: Query = this.database.query): Promise<LimitInUse | undefined> {
    return (await query<LimitInUse>(this.statements.find, key))[0];
  }

  /** Locks the limit until the transaction ends, so that no other action under it is judged meanwhile. */
  async lock(query: Query, key: LimitKey): Promise<LimitInUse | undefined> {
    const found = await query(LOCK, key);
    // Read after locking, so that it sees what the previous holder of the lock has committed.
    return found.length === 0 ? undefined : this.find(key, query);
  }

  /** Ordered by `operatorId/currency`, in byte order. */
  page(page: PageAfter): Promise<LimitInUse[]> {
    return this.database.query<LimitInUse>(this.statements.page, page);
  }

  async put(query: Query, limit: Omit<Limit, 'updatedAt'>): Promise<LimitInUse> {
    return (await query<LimitInUse>(this.statements.put, limit))[0]!;
  }

  async remove(query: Query, key: LimitKey): Promise<Limit | undefined> {
    return (await query<Limit>(REMOVE, key))[0];
  }

  winLimits(query: Query): Promise<(LimitKey & { readonly maxWinMinor: number })[]> {
    return query(WIN_LIMITS, {});
  }
}
