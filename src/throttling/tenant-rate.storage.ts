import { Injectable, Logger } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { RedisConnection } from '../runtime/redis.js';

type Limiter = RateLimiterMemory | RateLimiterRedis;
type Hits = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Counts a tenant's requests: in Redis where instances share it, else in process. */
@Injectable()
export class TenantRateStorage implements ThrottlerStorage {
  private readonly logger = new Logger('Throttling');
  /** One limiter for each limit that a tenant has, in requests a window. */
  private readonly limiters = new Map<string, Limiter>();

  constructor(private readonly redis: RedisConnection) {}

  /** @param windowMs length of the window and @param limit the requests that it allows */
  async increment(key: string, windowMs: number, limit: number): Promise<Hits> {
    try {
      return hits(await this.limiter(limit, windowMs).consume(key), false);
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return hits(refusal, true);
      // A limit is a courtesy between partners: it does not stop money when Redis does.
      this.logger.warn({ msg: 'rate limit not counted', error: (refusal as Error).message });
      return { totalHits: 0, timeToExpire: 0, isBlocked: false, timeToBlockExpire: 0 };
    }
  }

  private limiter(points: number, windowMs: number): Limiter {
    const name = `${points}/${windowMs}`;
    const existing = this.limiters.get(name);
    if (existing) return existing;
    const options = { points, duration: windowMs / 1000, keyPrefix: 'croupier:rate' };
    const limiter = this.redis.client
      ? new RateLimiterRedis({ ...options, storeClient: this.redis.client })
      : new RateLimiterMemory(options);
    this.limiters.set(name, limiter);
    return limiter;
  }
}

function hits(counted: RateLimiterRes, isBlocked: boolean): Hits {
  const seconds = counted.msBeforeNext / 1000;
  return { totalHits: counted.consumedPoints, timeToExpire: seconds, isBlocked, timeToBlockExpire: seconds };
}
