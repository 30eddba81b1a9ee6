import { Module } from '@nestjs/common';
import { LimitStore } from './limit.store.js';
import { LimitsAdminController } from './limits.admin.controller.js';
import { LimitsService } from './limits.service.js';

@Module({
  controllers: [LimitsAdminController],
  providers: [LimitsService, LimitStore],
  exports: [LimitsService],
})
export class LimitsModule {}
