import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { BoundedLogger } from './bounded-logger.js';
import { LogDestination, ServiceLogger } from './logging.js';
import { Configuration } from '../config/configuration.js';
import { Instance } from '../runtime/instance.js';
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
      inject: [Configuration, Instance],
      useFactory: async ({ tracing }: Configuration, { id }: Instance) =>
        new Tracing(tracing && (await exportingProvider(tracing, id))),
    },
  ],
  exports: [Metrics, ServiceLogger, Tracing],
})
export class ObservabilityModule implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    BoundedLogger.writeSuppressedCounts();
  }
}
