import { Injectable } from '@nestjs/common';
import { displayName } from '../admin/display-name.sql.js';
import { Database, type Query } from '../database/database.js';
import { named } from '../database/statement.js';
import type { PageAfter } from '../api/lists/page.js';
import type { LimitInUse, MissingLimit } from './limit.response.js';
import { type AllLimits, DEFAULT_OPERATOR, NO_LIMITS } from './rules/in-effect.js';

export type LimitKey = Pick<LimitInUse, 'operatorId' | 'currency'>;

/** An operator's own limits in a currency, and the installation's default. */
export interface StoredLimits {
  readonly own: AllLimits;
  readonly defaults: AllLimits;
}

const LIMITS = `
  l.max_grant_minor AS "maxGrantMinor", l.max_batch_minor AS "maxBatchMinor",
  l.max_adjustment_minor AS "maxAdjustmentMinor", l.daily_minor AS "dailyMinor", l.max_win_minor AS "maxWinMinor"`;

const COLUMNS = `
  l.operator_id AS "operatorId", l.currency, ${LIMITS}, l.updated_at AS "updatedAt", l.updated_by AS "updatedBy",
  ${displayName('l.updated_by')} AS "updatedByName"`;

/** Every currency has three letters, so the key ends with it. */
const FOLLOWS = `(operator_id COLLATE "C", currency COLLATE "C") > (left(:after, -4), right(:after, 3))`;
const BY_KEY = `operator_id COLLATE "C", currency COLLATE "C"`;

/**
 * The statements that return the used amount of a limit, which is capped at 2^53−1.
 * @param amounts the amounts that count towards it, see `LimitsService.countTowardsDay`
 */
function statementsOf(amounts: readonly string[]) {
  const used = `
    (SELECT least(coalesce(sum(amount), 0), ${Number.MAX_SAFE_INTEGER})::bigint
       FROM (${amounts.join(' UNION ALL ')}) AS actions) AS "usedMinor"`;
  const columns = `${COLUMNS}, ${used}`;
  return {
    used: named(
      'limit_used',
      `SELECT ${used} FROM (SELECT :operatorId::text AS operator_id, :currency::text AS currency) l`,
    ),
    find: named(
      'limit_find',
      `SELECT ${columns} FROM limits l WHERE operator_id = :operatorId AND currency = :currency`,
    ),
    page: named(
      'limit_page',
      `SELECT ${columns} FROM limits l
        WHERE ${FOLLOWS} ORDER BY ${BY_KEY} LIMIT :limit`,
    ),
    put: named(
      'limit_put',
      `INSERT INTO limits AS l (operator_id, currency, max_grant_minor, max_batch_minor, max_adjustment_minor,
                                daily_minor, max_win_minor, updated_at, updated_by)
       VALUES (:operatorId, :currency, :maxGrantMinor, :maxBatchMinor, :maxAdjustmentMinor, :dailyMinor, :maxWinMinor,
               statement_timestamp(), :updatedBy)
       ON CONFLICT (operator_id, currency) DO UPDATE
          SET max_grant_minor = :maxGrantMinor, max_batch_minor = :maxBatchMinor,
              max_adjustment_minor = :maxAdjustmentMinor, daily_minor = :dailyMinor, max_win_minor = :maxWinMinor,
              updated_at = statement_timestamp(), updated_by = :updatedBy
       RETURNING ${columns}`,
    ),
  };
}

/** First of the two keys of an advisory lock on the limits of an operator in a currency. The number is arbitrary. */
const LIMIT_LOCKS = 7_300_005;

/**
 * Serialises the database transactions that judge actions by the same limits or change them. A row cannot be locked,
 * because the limits may be those of the installation's default, which would also serialise other operators.
 */
const LOCK = named(
  'limit_lock',
  `SELECT pg_advisory_xact_lock(${LIMIT_LOCKS}, hashtext(:operatorId || '/' || :currency))`,
);

const STORED = named(
  'limit_stored',
  `SELECT operator_id AS "operatorId", ${LIMITS} FROM limits l
    WHERE operator_id IN (:operatorId, '${DEFAULT_OPERATOR}') AND currency = :currency`,
);

const REMOVE = named(
  'limit_remove',
  'DELETE FROM limits WHERE operator_id = :operatorId AND currency = :currency',
);

const WIN_LIMITS = named(
  'limit_win_limits',
  `SELECT operator_id AS "operatorId", currency, max_win_minor AS "maxWinMinor"
     FROM limits WHERE max_win_minor IS NOT NULL`,
);

/**
 * The currencies of active operators that they have declared, or in which they have traded within 30 days, without any
 * limit on grants or adjustments.
 */
const MISSING = `
  (SELECT o.id AS operator_id, c.currency
     FROM tenants o CROSS JOIN LATERAL unnest(o.currencies) AS c (currency)
    WHERE o.kind = 'OPERATOR' AND o.status = 'ACTIVE'
    UNION
   SELECT o.id, t.currency
     FROM traded_currencies t JOIN tenants o ON o.id = t.operator_id
    WHERE o.status = 'ACTIVE' AND t.last_traded_at > statement_timestamp() - interval '30 days'
   EXCEPT
   SELECT o.id, l.currency
     FROM limits l JOIN tenants o ON l.operator_id IN (o.id, '${DEFAULT_OPERATOR}')
    WHERE num_nonnulls(l.max_grant_minor, l.max_batch_minor, l.max_adjustment_minor, l.daily_minor) > 0) m`;

const MISSING_PAGE = named(
  'limit_missing_page',
  `SELECT operator_id AS "operatorId", currency FROM ${MISSING}
    WHERE ${FOLLOWS} ORDER BY ${BY_KEY} LIMIT :limit`,
);

const MISSING_COUNT = named('limit_missing_count', `SELECT count(*)::integer AS count FROM ${MISSING}`);

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

  /** Locks the limits until the transaction ends, so that no other action under them is judged or changes them. */
  async lock(query: Query, key: LimitKey): Promise<void> {
    await query(LOCK, key);
  }

  async stored(key: LimitKey, query: Query = this.database.query): Promise<StoredLimits> {
    const rows = await query<AllLimits & Pick<LimitKey, 'operatorId'>>(STORED, key);
    const own = new Map(rows.map(({ operatorId, ...limits }) => [operatorId, limits]));
    const of = (id: string): AllLimits => own.get(id) ?? NO_LIMITS;
    const isDefault = key.operatorId === DEFAULT_OPERATOR;
    return { own: of(key.operatorId), defaults: isDefault ? NO_LIMITS : of(DEFAULT_OPERATOR) };
  }

  /** The amount of the last 24 hours, in minor units. */
  async usedMinor(key: LimitKey, query: Query = this.database.query): Promise<number> {
    return (await query<{ usedMinor: number }>(this.statements.used, key))[0]!.usedMinor;
  }

  /** The own limits of the operator. */
  async find(key: LimitKey, query: Query = this.database.query): Promise<LimitInUse | undefined> {
    return (await query<LimitInUse>(this.statements.find, key))[0];
  }

  /** Ordered by operator and currency, in byte order. */
  page(page: PageAfter): Promise<LimitInUse[]> {
    return this.database.query<LimitInUse>(this.statements.page, page);
  }

  async put(query: Query, limits: LimitKey & AllLimits & Pick<LimitInUse, 'updatedBy'>): Promise<LimitInUse> {
    return (await query<LimitInUse>(this.statements.put, limits))[0]!;
  }

  async remove(query: Query, key: LimitKey): Promise<void> {
    await query(REMOVE, key);
  }

  winLimits(query: Query): Promise<(LimitKey & { readonly maxWinMinor: number })[]> {
    return query(WIN_LIMITS, {});
  }

  /** Ordered as `page`. */
  missing(page: PageAfter): Promise<MissingLimit[]> {
    return this.database.query<MissingLimit>(MISSING_PAGE, page);
  }

  async countMissing(): Promise<number> {
    return (await this.database.query<{ count: number }>(MISSING_COUNT, {}))[0]!.count;
  }
}
