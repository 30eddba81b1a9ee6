import { Global, Module } from '@nestjs/common';
import { LimitStore } from './limit.store.js';
import { LimitsAdminController } from './limits.admin.controller.js';
import { LimitsService } from './limits.service.js';

// Global, because an import by WalletModule would change the order of the operations in the documents.
@Global()
@Module({
  controllers: [LimitsAdminController],
  providers: [LimitsService, LimitStore],
  exports: [LimitsService],
})
export class LimitsModule {}
