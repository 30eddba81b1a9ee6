import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { rateLimited } from '../errors/try-later.js';
import { RATE_WINDOW_MS, type RateRecord } from '../signature/rate-record.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';
import { TenancyService } from '../tenancy/tenancy.service.js';

/**
 * Limits the requests of each verified tenant, over all routes. Unsigned routes are not limited here. Without Redis,
 * the storage of `ThrottlingModule` counts the requests. With Redis, the signature guard has already counted the
 * request when it claimed the nonce. Contract, section 2, `RATE_LIMITED`.
 *
 * The library's `canActivate` awaits seven times and looks up twelve keys of metadata for each request. This one does
 * neither, so the library's decorators have no effect, and ESLint forbids them.
 * @throws CroupierError RATE_LIMITED
 */
@Injectable()
export class TenantThrottlerGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly tenancy: TenancyService,
  ) {
    super(options, storage, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { tenant, rateRecord } = context.switchToHttp().getRequest<SignedRequest>();
    if (!tenant) return true;
    const limit = this.tenancy.requestsPerSecond(tenant);
    const { requests, windowEndsInMs } = rateRecord ?? (await this.count(tenant.id, limit));
    if (requests <= limit) return true;
    throw rateLimited(Math.max(1, Math.ceil(windowEndsInMs / 1000)));
  }

  private async count(tenantId: string, limit: number): Promise<RateRecord> {
    const { totalHits, timeToExpire } = await this.storageService.increment(
      tenantId,
      RATE_WINDOW_MS,
      limit,
      RATE_WINDOW_MS,
      'tenant',
    );
    return { requests: totalHits, windowEndsInMs: timeToExpire * 1000 };
  }
}
