import { Module } from '@nestjs/common';
import { ReconciliationService } from './reconciliation.service.js';
import { ReconciliationsAdminController } from './reconciliations.admin.controller.js';
import { StoredReconciliations } from './stored-reconciliation.store.js';

@Module({
  controllers: [ReconciliationsAdminController],
  providers: [ReconciliationService, StoredReconciliations],
})
export class ReconciliationModule {}
