import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { Query } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import { pageById, type PageOf, type PageQuery } from '../api/lists/page.js';
import { money } from '../money/money.js';
import { Metrics } from '../observability/metrics.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { limitItem, type LimitResponse, type MissingLimit } from './limit.response.js';
import { type LimitKey, LimitStore, type StoredLimits } from './limit.store.js';
import { type AllLimits, DEFAULT_OPERATOR, inEffect, isEmpty, limitsActions } from './rules/in-effect.js';
import { exceeded, type ExceededLimit, type Stake } from './rules/judgement.js';
import { TradedCurrencies } from './traded-currencies.js';

/** What a preview says about the limits of an action. */
export interface LimitPreview {
  readonly exceeded: ExceededLimit | undefined;
  /** Whether the operator or the installation has any limit on grants or adjustments in the currency. */
  readonly limitsSet: boolean;
}

/**
 * The limits above which a grant, batch or adjustment needs approval, or a WIN is flagged. Contract, section 9, "Limits
 * and approvals".
 */
@Injectable()
export class LimitsService implements OnApplicationBootstrap {
  private readonly logger = new Logger('Limits');
  /** The limits of WINs, in minor units. The key is `<operatorId>/<currency>`. */
  private winLimits: ReadonlyMap<string, number> = new Map();

  constructor(
    tenancy: TenancyService,
    private readonly limits: LimitStore,
    private readonly traded: TradedCurrencies,
    metrics: Metrics,
  ) {
    tenancy.loadWithDirectory(async (query) => {
      const limited = await limits.winLimits(query);
      this.winLimits = new Map(limited.map((limit) => [keyOf(limit), limit.maxWinMinor]));
    });
    metrics.addGauge({
      name: 'croupier_currencies_without_limits',
      help: 'Currencies of active operators without any limit on grants or adjustments; all instances report the same value',
      read: async () => [{ value: await this.limits.countMissing() }],
    });
  }

  /** Logs how many currencies have no limit, because their absence changes no answer. */
  async onApplicationBootstrap(): Promise<void> {
    const count = await this.limits.countMissing();
    if (count === 0) return;
    const currencies =
      count === 1 ? '1 currency of an operator has' : `${count} currencies of operators have`;
    this.logger.warn({
      msg: `${currencies} no limit on grants or adjustments: GET /v1/admin/limits/missing lists them`,
      count,
    });
  }

  /**
   * Registers amounts that count towards daily limits. The room that records these amounts calls it at start.
   * @param amounts a SELECT of the column `amount`: the amounts of the last 24 hours, in minor units, of the operator
   *   and currency of the row `l` of `limits`, except those that are known to have failed
   */
  countTowardsDay(amounts: string): void {
    this.limits.addAmounts(amounts);
  }

  /** The amount above which a WIN is flagged, in minor units; undefined if there is no limit. Needs no query. */
  maxWinMinor(operatorId: string, currency: string): number | undefined {
    if (this.winLimits.size === 0) return undefined;
    const own = this.winLimits.get(keyOf({ operatorId, currency }));
    return own ?? this.winLimits.get(keyOf({ operatorId: DEFAULT_OPERATOR, currency }));
  }

  /**
   * Returns the limit that the action exceeds, if any. Locks the operator's limits in the currency until the
   * transaction ends. The action must be recorded in the same transaction, so that concurrent actions cannot together
   * exceed the daily limit.
   * @param query the transaction that records the action
   */
  async judge(query: Query, key: LimitKey, stake: Stake): Promise<ExceededLimit | undefined> {
    const { own, defaults } = await this.lock(query, key);
    const limits = inEffect(own, defaults);
    // The amount used takes time to sum, and the lock is held meanwhile.
    if (limits.dailyMinor === null && !exceeded(limits, 0, stake)) return undefined;
    return exceeded(limits, await this.limits.usedMinor(key, query), stake);
  }

  /**
   * Locks the operator's limits in the currency, even if there are none, until the transaction ends.
   * @returns the limits, read after locking, so that they include what the previous holder of the lock has committed
   */
  async lock(query: Query, key: LimitKey): Promise<StoredLimits> {
    await this.limits.lock(query, key);
    return this.limits.stored(key, query);
  }

  /**
   * Runs a write that marks grants to be sent to the provider again. Refuses the write if it raises the amount used in
   * the last 24 hours above the daily limit. Grants that already count towards the limit do not raise the amount. Locks
   * the limits like `judge`.
   * @param query the transaction of the write; the caller must roll it back after a refusal
   * @throws CroupierError CONFLICT
   */
  async withinDay<T>(query: Query, key: LimitKey, write: () => Promise<T>): Promise<T> {
    const { own, defaults } = await this.lock(query, key);
    const { dailyMinor } = inEffect(own, defaults);
    if (dailyMinor === null) return write();
    const usedBefore = await this.limits.usedMinor(key, query);
    const written = await write();
    const usedMinor = await this.limits.usedMinor(key, query);
    if (usedMinor <= dailyMinor || usedMinor <= usedBefore) return written;
    const [most, used] = [dailyMinor, usedBefore].map((minor) => money(minor, key.currency));
    throw new CroupierError(
      'CONFLICT',
      `sending it again would exceed the daily limit of ${most}, of which ${used} is used`,
    );
  }

  /** As `judge`, but without a lock, for a preview. */
  async preview(key: LimitKey, stake: Stake): Promise<LimitPreview> {
    const { own, defaults } = await this.limits.stored(key);
    const limits = inEffect(own, defaults);
    if (!limitsActions(limits)) return { exceeded: undefined, limitsSet: false };
    return { exceeded: exceeded(limits, await this.limits.usedMinor(key), stake), limitsSet: true };
  }

  /** @throws CroupierError NOT_FOUND */
  async find(key: LimitKey, query?: Query): Promise<LimitResponse> {
    const limit = await this.limits.find(key, query);
    if (!limit) throw new CroupierError('NOT_FOUND', 'no limits are set for this operator and currency');
    return limitItem(limit);
  }

  /** @throws CroupierError INVALID_REQUEST */
  async list(query: PageQuery): Promise<PageOf<LimitResponse>> {
    const page = await pageById(query, (after) => this.limits.page(after), keyOf);
    return { ...page, items: page.items.map(limitItem) };
  }

  /**
   * The currencies of active operators without any limit on grants or adjustments, with all trades of this instance.
   * @throws CroupierError INVALID_REQUEST
   */
  async missing(query: PageQuery): Promise<PageOf<MissingLimit>> {
    await this.traded.store();
    return pageById(query, (after) => this.limits.missing(after), keyOf);
  }

  /**
   * Replaces the own limits of an operator, or removes them if none is left.
   * @param query a transaction that has called `lock`; after it, `tenancy.reload` applies the change at once
   * @returns undefined if they were removed
   */
  async replace(
    query: Query,
    key: LimitKey,
    limits: AllLimits,
    updatedBy: string,
  ): Promise<LimitResponse | undefined> {
    if (!isEmpty(limits)) return limitItem(await this.limits.put(query, { ...limits, ...key, updatedBy }));
    await this.limits.remove(query, key);
    return undefined;
  }
}

function keyOf({ operatorId, currency }: LimitKey): string {
  return `${operatorId}/${currency}`;
}
