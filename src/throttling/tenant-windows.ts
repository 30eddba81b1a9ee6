import type { ThrottlerStorage } from '@nestjs/throttler';
import { monotonicMs } from '../runtime/clock.js';

/** Largest number of windows, about 2 MB. Beyond it, the oldest window is forgotten. */
export const MAX_TENANTS = 10_000;

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

interface Window {
  requests: number;
  readonly endsAtMs: number;
}

/**
 * Counts the requests of each tenant in this process, in a fixed window that its first request opens. The library's own
 * storage keeps the time of every hit and filters all of them at each request; this one keeps a count.
 */
export class TenantWindows implements ThrottlerStorage {
  /** Ordered by the time at which they were opened. */
  private readonly windows = new Map<string, Window>();

  /**
   * Counts a request. A refused tenant stays refused until its window ends; `blockDuration` of the library is not used.
   * @param ttl length of the window, in milliseconds
   * @param limit requests that the window admits
   * @returns times in whole seconds, rounded up
   */
  async increment(tenantId: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    const nowMs = monotonicMs();
    let window = this.windows.get(tenantId);
    if (!window || window.endsAtMs <= nowMs) window = this.open(tenantId, nowMs + ttl);
    window.requests += 1;
    const timeToExpire = Math.ceil((window.endsAtMs - nowMs) / 1000);
    return {
      totalHits: window.requests,
      timeToExpire,
      isBlocked: window.requests > limit,
      timeToBlockExpire: timeToExpire,
    };
  }

  private open(tenantId: string, endsAtMs: number): Window {
    const window = { requests: 0, endsAtMs };
    // A Map keeps the order of insertion: deleting first makes this window the last.
    this.windows.delete(tenantId);
    this.windows.set(tenantId, window);
    if (this.windows.size > MAX_TENANTS) this.windows.delete(this.windows.keys().next().value!);
    return window;
  }
}
