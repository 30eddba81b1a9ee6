import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { BoundedLogger } from './bounded-logger.js';
import { HealthController } from './health.controller.js';
import { LogDestination, ServiceLogger } from './logging.js';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';

@Global()
@Module({
  imports: [TerminusModule],
  controllers: [HealthController, MetricsController],
  providers: [Metrics, ServiceLogger, LogDestination],
  exports: [Metrics, ServiceLogger],
})
export class ObservabilityModule implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    BoundedLogger.writeSuppressedCounts();
  }
}
