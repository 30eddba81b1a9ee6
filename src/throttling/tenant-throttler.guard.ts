import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail, type ThrottlerRequest } from '@nestjs/throttler';
import { CroupierError } from '../errors/croupier-error.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';

/**
 * Limits the requests of each verified tenant, over all routes. Unsigned routes are not limited here. Without Redis,
 * the storage of `ThrottlingModule` counts the requests. With Redis, the signature guard has already counted the
 * request when it claimed the nonce, and this guard only compares the count with the limit. The nonce is not claimed
 * here, because `@SkipThrottle()` could then switch off replay protection. Contract, section 2, `RATE_LIMITED`.
 * @throws CroupierError RATE_LIMITED
 */
@Injectable()
export class TenantThrottlerGuard extends ThrottlerGuard {
  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    return requestOf(context).tenant === undefined;
  }

  protected override async getTracker(request: SignedRequest): Promise<string> {
    return request.tenant!.id;
  }

  /** One count for all routes; the library's default is one per handler. */
  protected override generateKey(_context: ExecutionContext, tenantId: string): string {
    return tenantId;
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { rateRecord } = requestOf(request.context);
    if (!rateRecord) return super.handleRequest(request);
    if (rateRecord.requests > request.limit) throw refusal(Math.ceil(rateRecord.windowEndsInMs / 1000));
    return true;
  }

  protected override async throwThrottlingException(
    _context: ExecutionContext,
    { timeToBlockExpire }: ThrottlerLimitDetail,
  ): Promise<void> {
    throw refusal(timeToBlockExpire);
  }
}

function requestOf(context: ExecutionContext): SignedRequest {
  return context.switchToHttp().getRequest<SignedRequest>();
}

function refusal(waitSeconds: number): CroupierError {
  return new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(Math.max(1, waitSeconds)) });
}
