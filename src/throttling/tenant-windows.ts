import type { ThrottlerStorage } from '@nestjs/throttler';
import { monotonicMs } from '../runtime/clock.js';
import { CountingWindows } from '../runtime/counting-windows.js';

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Keeps a count for each tenant. The library's own storage filters the times of all hits at each request. */
export class TenantWindows implements ThrottlerStorage {
  private readonly requests = new CountingWindows(monotonicMs);

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
