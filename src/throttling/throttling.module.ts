import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Configuration } from '../config/configuration.js';
import { RedisConnection } from '../runtime/redis.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';
import { TenantRateStorage } from './tenant-rate.storage.js';

const WINDOW_MS = 1_000;

@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      inject: [Configuration, RedisConnection],
      useFactory: (configuration: Configuration, redis: RedisConnection) => ({
        throttlers: [
          {
            ttl: WINDOW_MS,
            limit: (context) => {
              const { tenant } = context.switchToHttp().getRequest<SignedRequest>();
              return tenant?.requestsPerSecond ?? configuration.requestsPerSecond;
            },
          },
        ],
        storage: new TenantRateStorage(redis),
        getTracker: (request) => (request as SignedRequest).tenant?.id ?? '',
        // One budget for all routes of a tenant: the contract limits tenants, not routes.
        generateKey: (_context, tenantId) => tenantId,
        setHeaders: false,
      }),
    }),
  ],
  exports: [ThrottlerModule],
})
export class ThrottlingModule {}
