import { Module } from '@nestjs/common';
import { HealthPeriodStore } from './health-period.store.js';
import { HealthScoresAdminController } from './health-scores.admin.controller.js';
import { HealthScores } from './health-scores.service.js';

@Module({
  controllers: [HealthScoresAdminController],
  providers: [HealthScores, HealthPeriodStore],
  exports: [HealthScores],
})
export class HealthScoresModule {}
