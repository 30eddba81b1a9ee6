import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';
import { Readiness } from './readiness.js';

@Module({ controllers: [HealthController, MetricsController], providers: [Readiness], exports: [Readiness] })
export class HealthModule {}
