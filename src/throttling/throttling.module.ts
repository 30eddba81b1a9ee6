import { Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { Configuration } from '../config/configuration.js';
import { RATE_WINDOW_MS } from '../signature/rate-record.js';
import { SignatureModule } from '../signature/signature.module.js';
import { TenantWindows } from '../signature/tenant-windows.js';
import { TenantThrottlerGuard } from './tenant-throttler.guard.js';

function options({ requestsPerSecond }: Configuration, storage: TenantWindows): ThrottlerModuleOptions {
  return {
    // The library requires a throttler. Its limit is not read: the guard determines the limit of each tenant.
    throttlers: [{ name: 'tenant', limit: requestsPerSecond, ttl: RATE_WINDOW_MS }],
    storage,
  };
}

/** The limit on each tenant's requests, by `@nestjs/throttler`. */
@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      imports: [SignatureModule],
      inject: [Configuration, TenantWindows],
      useFactory: options,
    }),
  ],
  providers: [TenantThrottlerGuard],
  exports: [TenantThrottlerGuard],
})
export class ThrottlingModule {}
