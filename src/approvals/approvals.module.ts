import { Module } from '@nestjs/common';
import { AdminModule } from '../admin/admin.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ApprovalStore } from './approval.store.js';
import { ApprovalsAdminController } from './approvals.admin.controller.js';
import { ApprovalsOperatorController } from './approvals.operator.controller.js';
import { ApprovalsService } from './approvals.service.js';

@Module({
  imports: [AdminModule, LimitsModule],
  controllers: [ApprovalsAdminController, ApprovalsOperatorController],
  providers: [ApprovalsService, ApprovalStore],
  exports: [ApprovalsService, LimitsModule],
})
export class ApprovalsModule {}
