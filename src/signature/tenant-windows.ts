import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { monotonicMs } from '../runtime/clock.js';
import { CountingWindows } from '../runtime/counting-windows.js';
import { RATE_WINDOW_MS, type RateRecord } from './rate-record.js';

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/**
 * Counts the requests of each tenant in this process, for installations without Redis. It is the storage of
 * `@nestjs/throttler`; the library's own one filters the times of all hits at each request.
 */
@Injectable()
export class TenantWindows implements ThrottlerStorage {
  private readonly requests = new CountingWindows(monotonicMs);

  /** Counts a request in the tenant's window. */
  async count(tenantId: string, limit: number): Promise<RateRecord> {
    const { totalHits, timeToExpire } = await this.increment(tenantId, RATE_WINDOW_MS, limit);
    return { requests: totalHits, limit, windowEndsInMs: timeToExpire * 1000 };
  }

  /**
   * Counts a request. A refused tenant stays refused until its window ends; the library's `blockDuration` is not used.
   * @param ttl length of the window, in milliseconds
   * @param limit maximum number of requests in the window
   * @returns the count, with times in whole seconds, rounded up
   */
  async increment(tenantId: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    const window = this.requests.currentOrNew(tenantId, ttl);
    window.count += 1;
    const timeToExpire = this.requests.secondsLeft(window);
    return {
      totalHits: window.count,
      timeToExpire,
      isBlocked: window.count > limit,
      timeToBlockExpire: timeToExpire,
    };
  }
}
