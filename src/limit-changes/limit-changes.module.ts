import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { LimitChangesAdminController } from './limit-changes.admin.controller.js';
import { LimitChanges } from './limit-changes.service.js';

@Module({
  imports: [ApprovalsModule],
  controllers: [LimitChangesAdminController],
  providers: [LimitChanges],
})
export class LimitChangesModule {}
