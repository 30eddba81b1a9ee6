import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import { CroupierError } from '../errors/croupier-error.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';

/** Limits each verified tenant's requests in a second; a route that carries no signature is not limited. */
@Injectable()
export class TenantThrottlerGuard extends ThrottlerGuard {
  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    return context.switchToHttp().getRequest<SignedRequest>().tenant === undefined;
  }

  protected override async throwThrottlingException(
    _context: ExecutionContext,
    detail: ThrottlerLimitDetail,
  ): Promise<void> {
    const seconds = Math.max(1, Math.ceil(detail.timeToBlockExpire));
    throw new CroupierError('RATE_LIMITED', undefined, { 'Retry-After': String(seconds) });
  }
}
