import { type ExecutionContext, Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { Configuration } from '../config/configuration.js';
import { RATE_WINDOW_MS } from '../signature/rate-record.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';
import { TenantThrottlerGuard } from './tenant-throttler.guard.js';
import { TenantWindows } from './tenant-windows.js';

function options({ requestsPerSecond }: Configuration): ThrottlerModuleOptions {
  const limit = (context: ExecutionContext) =>
    context.switchToHttp().getRequest<SignedRequest>().tenant?.requestsPerSecond ?? requestsPerSecond;
  return {
    throttlers: [{ limit, ttl: RATE_WINDOW_MS }],
    storage: new TenantWindows(),
    // The contract names no X-RateLimit headers; the refusal sets `Retry-After`.
    setHeaders: false,
  };
}

/** The limit on each tenant's requests, by `@nestjs/throttler`. */
@Module({
  imports: [ThrottlerModule.forRootAsync({ inject: [Configuration], useFactory: options })],
  providers: [TenantThrottlerGuard],
  exports: [TenantThrottlerGuard],
})
export class ThrottlingModule {}
