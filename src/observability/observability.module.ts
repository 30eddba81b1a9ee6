import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { BoundedLogger } from './bounded-logger.js';
import { HealthController } from './health.controller.js';
import { Logging } from './logging.js';
import { Metrics } from './metrics.js';
import { MetricsController } from './metrics.controller.js';

@Global()
@Module({
  imports: [Logging, TerminusModule],
  controllers: [HealthController, MetricsController],
  providers: [Metrics],
  exports: [Metrics],
})
export class ObservabilityModule implements OnApplicationShutdown {
  onApplicationShutdown(): void {
    BoundedLogger.writeSuppressedCounts();
  }
}
