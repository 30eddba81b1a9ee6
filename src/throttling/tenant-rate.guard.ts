import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';

/**
 * Limits each verified tenant's requests in a second, over all routes: by what Redis counted where instances share it, else
 * in process. A route that carries no signature is not limited. Contract, section 2, 429.
 * @throws CroupierError RATE_LIMITED
 */
@Injectable()
export class TenantRateGuard implements CanActivate {
  /** One limiter for each limit that a tenant has, in requests a second. */
  private readonly limiters = new Map<number, RateLimiterMemory>();

  constructor(private readonly configuration: Configuration) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const { tenant, rateRecord } = context.switchToHttp().getRequest<SignedRequest>();
    if (!tenant) return true;
    const perSecond = tenant.requestsPerSecond ?? this.configuration.requestsPerSecond;
    if (rateRecord) {
      if (rateRecord.requests > perSecond) throw limited(rateRecord.windowEndsInMs);
      return true;
    }
    return this.limiter(perSecond)
      .consume(tenant.id)
      .then(
        () => true,
        (refusal: unknown) => {
          throw limited((refusal as RateLimiterRes).msBeforeNext);
        },
      );
  }

  private limiter(perSecond: number): RateLimiterMemory {
    const existing = this.limiters.get(perSecond);
    if (existing) return existing;
    const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 });
    this.limiters.set(perSecond, limiter);
    return limiter;
  }
}

function limited(waitMs: number): CroupierError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(seconds) });
}
