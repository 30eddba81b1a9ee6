import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { BoundedLogger } from './bounded-logger.js';
import { HealthController } from './health.controller.js';
import { LogDestination, ServiceLogger } from './logging.js';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';

@Global()
@Module({
  controllers: [HealthController, MetricsController],
  providers: [Metrics, ServiceLogger, LogDestination],
  exports: [Metrics, ServiceLogger],
})
export class ObservabilityModule implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    BoundedLogger.writeSuppressedCounts();
  }
}
