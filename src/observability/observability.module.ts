import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { BoundedLogger } from './bounded-logger.js';
import { LogDestination, ServiceLogger } from './logging.js';
import { Configuration } from '../config/configuration.js';
import { Randomness } from '../runtime/randomness.js';
import { exportingProvider, Tracing } from './tracing.js';
import { Metrics } from './metrics.js';

@Global()
@Module({
  providers: [
    Metrics,
    ServiceLogger,
    LogDestination,
    {
      provide: Tracing,
      inject: [Configuration, Randomness],
      useFactory: async ({ tracing }: Configuration, randomness: Randomness) =>
        new Tracing(tracing && (await exportingProvider(tracing, randomness.uuid()))),
    },
  ],
  exports: [Metrics, ServiceLogger, Tracing],
})
export class ObservabilityModule implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    BoundedLogger.writeSuppressedCounts();
  }
}
