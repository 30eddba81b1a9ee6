import { type CanActivate, type ExecutionContext, Injectable, Logger } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { RedisConnection } from '../runtime/redis.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';

type Limiter = RateLimiterMemory | RateLimiterRedis;

/**
 * Limits each verified tenant's requests in a second, over all routes: in Redis where instances share it, else in
 * process. A route that carries no signature is not limited. Contract, section 2, 429.
 * @throws CroupierError RATE_LIMITED
 */
@Injectable()
export class TenantRateGuard implements CanActivate {
  private readonly logger = new Logger('Throttling');
  /** One limiter for each limit that a tenant has, in requests a second. */
  private readonly limiters = new Map<number, Limiter>();

  constructor(
    private readonly configuration: Configuration,
    private readonly redis: RedisConnection,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const { tenant } = context.switchToHttp().getRequest<SignedRequest>();
    if (!tenant) return true;
    return this.limiter(tenant.requestsPerSecond ?? this.configuration.requestsPerSecond)
      .consume(tenant.id)
      .then(
        () => true,
        (refusal: unknown) => this.uncounted(refusal),
      );
  }

  private uncounted(refusal: unknown): true {
    if (refusal instanceof RateLimiterRes) {
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      throw new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(seconds) });
    }
    // A limit is a courtesy between partners: it does not stop money when Redis does.
    this.logger.warn({ msg: 'rate limit not counted', error: (refusal as Error).message });
    return true;
  }

  private limiter(perSecond: number): Limiter {
    const existing = this.limiters.get(perSecond);
    if (existing) return existing;
    const options = { points: perSecond, duration: 1, keyPrefix: 'croupier:rate' };
    const limiter = this.redis.client
      ? new RateLimiterRedis({ ...options, storeClient: this.redis.client })
      : new RateLimiterMemory(options);
    this.limiters.set(perSecond, limiter);
    return limiter;
  }
}
