import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import { rateLimited } from '../errors/try-later.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';

/**
 * Limits the requests of each verified tenant, over all routes. Unsigned routes are not limited here. The
 * signature guard has counted the request when it claimed the nonce, in Redis or in the library's storage. Contract,
 * section 2, `RATE_LIMITED`.
 *
 * The library's `canActivate` awaits seven times and looks up twelve keys of metadata for each request. This one does
 * neither, so the library's decorators have no effect, and ESLint forbids them.
 * @throws CroupierError RATE_LIMITED
 */
@Injectable()
export class TenantThrottlerGuard extends ThrottlerGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { tenant, rateRecord } = context.switchToHttp().getRequest<SignedRequest>();
    if (!tenant) return true;
    // Set together with the tenant.
    const { requests, limit, windowEndsInMs } = rateRecord!;
    if (requests <= limit) return true;
    throw rateLimited(Math.max(1, Math.ceil(windowEndsInMs / 1000)));
  }
}
