import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { Audit } from '../audit/audit.service.js';
import type { Query } from '../database/database.js';
import { CroupierError } from '../errors/croupier-error.js';
import { pageById, type PageOf, type PageQuery } from '../api/lists/page.js';
import { money } from '../money/money.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import type { Limit, LimitInUse } from './limit.js';
import type { PutLimitRequest } from './limit.request.js';
import { LimitStore } from './limit.store.js';
import { exceeded, type ExceededLimit, type Stake } from './rules/judgement.js';

interface LimitKey {
  readonly operatorId: string;
  readonly currency: string;
}

/**
 * The limits above which a grant, batch or adjustment needs approval, or a WIN is flagged. Contract, section 9, "Limits
 * and approvals".
 */
@Injectable()
export class LimitsService {
  constructor(
    private readonly tenancy: TenancyService,
    private readonly limits: LimitStore,
    private readonly audit: Audit,
  ) {}

  /**
   * Returns the limit that the action exceeds, if any. Locks the operator's limits in the currency until the
   * transaction ends. The action must be recorded in the same transaction, so that concurrent actions cannot together
   * exceed the daily limit.
   * @param query the transaction that records the action
   */
  async judge(
    query: Query,
    { operatorId, currency }: LimitKey,
    stake: Stake,
  ): Promise<ExceededLimit | undefined> {
    const limit = await this.limits.lock(query, operatorId, currency);
    return limit && exceeded(limit, limit.usedMinor, stake);
  }

  /** Locks the operator's limits in the currency, if any are set, until the transaction ends. */
  async lock(query: Query, { operatorId, currency }: LimitKey): Promise<void> {
    await this.limits.lock(query, operatorId, currency);
  }

  /**
   * Runs a write that marks grants to be sent to the provider again. Refuses the write if it raises the amount used in
   * the last 24 hours above the daily limit. Grants that already count towards the limit do not raise the amount. Locks
   * the limits like `judge`.
   * @param query the transaction of the write; the caller must roll it back after a refusal
   * @throws CroupierError CONFLICT
   */
  async withinDay<T>(query: Query, { operatorId, currency }: LimitKey, write: () => Promise<T>): Promise<T> {
    const before = await this.limits.lock(query, operatorId, currency);
    const written = await write();
    if (before?.dailyMinor == null) return written;
    const after = await this.limits.find(operatorId, currency, query);
    const usedMinor = after?.usedMinor ?? 0;
    if (usedMinor <= before.dailyMinor || usedMinor <= before.usedMinor) return written;
    const [most, used] = [before.dailyMinor, before.usedMinor].map((minor) => money(minor, currency));
    throw new CroupierError(
      'CONFLICT',
      `sending it again would exceed the daily limit of ${most}, of which ${used} is used`,
    );
  }

  /** As `judge`, but without a lock, for a preview. */
  async preview({ operatorId, currency }: LimitKey, stake: Stake): Promise<ExceededLimit | undefined> {
    const limit = await this.limits.find(operatorId, currency);
    return limit && exceeded(limit, limit.usedMinor, stake);
  }

  /** @throws CroupierError NOT_FOUND */
  async find({ operatorId, currency }: LimitKey): Promise<LimitInUse> {
    const limit = await this.limits.find(operatorId, currency);
    if (!limit) throw unknown();
    return limit;
  }

  /**
   * Lists limits, ordered by operatorId and currency.
   * @throws CroupierError INVALID_REQUEST
   */
  list(query: PageQuery): Promise<PageOf<LimitInUse>> {
    return pageById(
      query,
      (page) => this.limits.page(page),
      ({ operatorId, currency }) => `${operatorId}/${currency}`,
    );
  }

  /**
   * Sets or replaces the limits of an operator in a currency.
   * @throws CroupierError INVALID_REQUEST · NOT_FOUND
   */
  async put(actor: Actor, { operatorId, currency }: LimitKey, request: PutLimitRequest): Promise<LimitInUse> {
    if (!this.tenancy.operator(operatorId)) throw new CroupierError('NOT_FOUND', 'no such operator');
    const { maxGrantMinor, maxBatchMinor, maxAdjustmentMinor, dailyMinor, maxWinMinor } = request;
    const limit = {
      operatorId,
      currency,
      maxGrantMinor: maxGrantMinor ?? null,
      maxBatchMinor: maxBatchMinor ?? null,
      maxAdjustmentMinor: maxAdjustmentMinor ?? null,
      dailyMinor: dailyMinor ?? null,
      maxWinMinor: maxWinMinor ?? null,
    };
    if (Object.values(request).every((value) => value == null)) {
      throw new CroupierError('INVALID_REQUEST', 'the body must name a limit; DELETE removes them all');
    }
    const stored = await this.audit.change(actor, async ({ query }, record) => {
      const before = await this.limits.lock(query, operatorId, currency);
      await this.limits.put(query, limit);
      await record({
        action: before ? 'limit.replace' : 'limit.create',
        target: targetOf({ operatorId, currency }),
        ...(before && { before: amountsOf(before) }),
        after: amountsOf(limit),
      });
      return (await this.limits.find(operatorId, currency, query))!;
    });
    await this.tenancy.reload();
    return stored;
  }

  /** @throws CroupierError NOT_FOUND */
  async remove(actor: Actor, { operatorId, currency }: LimitKey): Promise<void> {
    await this.audit.change(actor, async ({ query }, record) => {
      const before = await this.limits.remove(query, operatorId, currency);
      if (!before) throw unknown();
      await record({
        action: 'limit.remove',
        target: targetOf({ operatorId, currency }),
        before: amountsOf(before),
      });
    });
    await this.tenancy.reload();
  }
}

function unknown(): CroupierError {
  return new CroupierError('NOT_FOUND', 'no limits are set for this operator and currency');
}

function targetOf({ operatorId, currency }: LimitKey): string {
  return `limit:${operatorId}/${currency}`;
}

function amountsOf(limit: Omit<Limit, 'updatedAt'>): object {
  const { maxGrantMinor, maxBatchMinor, maxAdjustmentMinor, dailyMinor, maxWinMinor } = limit;
  return { maxGrantMinor, maxBatchMinor, maxAdjustmentMinor, dailyMinor, maxWinMinor };
}
