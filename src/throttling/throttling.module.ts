import { Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { Configuration } from '../config/configuration.js';
import { RATE_WINDOW_MS } from '../signature/rate-record.js';
import { TenantThrottlerGuard } from './tenant-throttler.guard.js';
import { TenantWindows } from './tenant-windows.js';

function options({ requestsPerSecond }: Configuration): ThrottlerModuleOptions {
  return {
    // The library requires a throttler. Its limit is not read: the guard determines the limit of each tenant.
    throttlers: [{ name: 'tenant', limit: requestsPerSecond, ttl: RATE_WINDOW_MS }],
    storage: new TenantWindows(),
  };
}

/** The limit on each tenant's requests, by `@nestjs/throttler`. */
@Module({
  imports: [ThrottlerModule.forRootAsync({ inject: [Configuration], useFactory: options })],
  providers: [TenantThrottlerGuard],
  exports: [TenantThrottlerGuard],
})
export class ThrottlingModule {}
