import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import type { Query } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import { pageById, type PageOf, type PageQuery } from '../api/lists/page.js';
import { money } from '../money/money.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { limitItem, type LimitResponse, type PutLimitRequest } from './limit.request.js';
import { type Limit, type LimitKey, LimitStore } from './limit.store.js';
import { exceeded, type ExceededLimit, type Stake } from './rules/judgement.js';

/**
 * The limits above which a grant, batch or adjustment needs approval, or a WIN is flagged. Contract, section 9, "Limits
 * and approvals".
 */
@Injectable()
export class LimitsService {
  /** The limits of WINs, in minor units. The key is `<operatorId>/<currency>`. */
  private winLimits: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly tenancy: TenancyService,
    private readonly limits: LimitStore,
    private readonly audit: Audit,
  ) {
    tenancy.loadWithDirectory(async (query) => {
      const limited = await limits.winLimits(query);
      this.winLimits = new Map(limited.map((limit) => [keyOf(limit), limit.maxWinMinor]));
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
    return this.winLimits.get(keyOf({ operatorId, currency }));
  }

  /**
   * Returns the limit that the action exceeds, if any. Locks the operator's limits in the currency until the
   * transaction ends. The action must be recorded in the same transaction, so that concurrent actions cannot together
   * exceed the daily limit.
   * @param query the transaction that records the action
   */
  async judge(query: Query, key: LimitKey, stake: Stake): Promise<ExceededLimit | undefined> {
    const limit = await this.limits.lock(query, key);
    return limit && exceeded(limit, limit.usedMinor, stake);
  }

  /** Locks the operator's limits in the currency, if any are set, until the transaction ends. */
  async lock(query: Query, key: LimitKey): Promise<void> {
    await this.limits.lock(query, key);
  }

  /**
   * Runs a write that marks grants to be sent to the provider again. Refuses the write if it raises the amount used in
   * the last 24 hours above the daily limit. Grants that already count towards the limit do not raise the amount. Locks
   * the limits like `judge`.
   * @param query the transaction of the write; the caller must roll it back after a refusal
   * @throws CroupierError CONFLICT
   */
  async withinDay<T>(query: Query, key: LimitKey, write: () => Promise<T>): Promise<T> {
    const before = await this.limits.lock(query, key);
    const written = await write();
    if (before?.dailyMinor == null) return written;
    const after = await this.limits.find(key, query);
    const usedMinor = after?.usedMinor ?? 0;
    if (usedMinor <= before.dailyMinor || usedMinor <= before.usedMinor) return written;
    const [most, used] = [before.dailyMinor, before.usedMinor].map((minor) => money(minor, key.currency));
    throw new CroupierError(
      'CONFLICT',
      `sending it again would exceed the daily limit of ${most}, of which ${used} is used`,
    );
  }

  /** As `judge`, but without a lock, for a preview. */
  async preview(key: LimitKey, stake: Stake): Promise<ExceededLimit | undefined> {
    const limit = await this.limits.find(key);
    return limit && exceeded(limit, limit.usedMinor, stake);
  }

  /** @throws CroupierError NOT_FOUND */
  async find(key: LimitKey): Promise<LimitResponse> {
    const limit = await this.limits.find(key);
    if (!limit) throw unknown();
    return limitItem(limit);
  }

  /** @throws CroupierError INVALID_REQUEST */
  async list(query: PageQuery): Promise<PageOf<LimitResponse>> {
    const page = await pageById(query, (after) => this.limits.page(after), keyOf);
    return { ...page, items: page.items.map(limitItem) };
  }

  /** @throws CroupierError INVALID_REQUEST · NOT_FOUND */
  async put(actor: Actor, key: LimitKey, request: PutLimitRequest): Promise<LimitResponse> {
    if (!this.tenancy.operator(key.operatorId)) throw new CroupierError('NOT_FOUND', 'no such operator');
    if (Object.values(request).every((value) => value == null)) {
      throw new CroupierError('INVALID_REQUEST', 'the body must name a limit; DELETE removes them all');
    }
    const stored = await this.audit.change(actor, async ({ query }, record) => {
      const before = await this.limits.lock(query, key);
      const after = await this.limits.put(query, { ...request, ...key });
      await record({
        action: before ? 'limit.replace' : 'limit.create',
        target: `limit:${keyOf(key)}`,
        ...(before && { before: amountsOf(before) }),
        after: amountsOf(after),
      });
      return after;
    });
    await this.tenancy.reload();
    return limitItem(stored);
  }

  /** @throws CroupierError NOT_FOUND */
  async remove(actor: Actor, key: LimitKey): Promise<void> {
    await this.audit.change(actor, async ({ query }, record) => {
      const before = await this.limits.remove(query, key);
      if (!before) throw unknown();
      await record({ action: 'limit.remove', target: `limit:${keyOf(key)}`, before: amountsOf(before) });
    });
    await this.tenancy.reload();
  }
}

function unknown(): CroupierError {
  return new CroupierError('NOT_FOUND', 'no limits are set for this operator and currency');
}

function keyOf({ operatorId, currency }: LimitKey): string {
  return `${operatorId}/${currency}`;
}

function amountsOf(limit: Limit): object {
  const { maxGrantMinor, maxBatchMinor, maxAdjustmentMinor, dailyMinor, maxWinMinor } = limit;
  return { maxGrantMinor, maxBatchMinor, maxAdjustmentMinor, dailyMinor, maxWinMinor };
}
