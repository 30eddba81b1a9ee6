import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OwnCursors } from '../api/lists/own-cursors.js';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { ProviderCallbackModule } from '../provider-callback/provider-callback.module.js';
import { WalletModule } from '../wallet/wallet.module.js';
import { Batch } from './batches/batch.entity.js';
import { BatchProgressStore } from './batches/batch-progress.store.js';
import { BatchStore } from './batches/batch.store.js';
import { BatchesService } from './batches/batches.service.js';
import { StatusRunner } from './batches/status.runner.js';
import { StatusRunStore } from './batches/status-run.store.js';
import { FreeSpinsAdminController } from './free-spins.admin.controller.js';
import { FreeSpinsOperatorController } from './free-spins.operator.controller.js';
import { GrantsService } from './grants/grants.service.js';
import { GrantableGames } from './grants/grantable-games.js';
import { GrantCallbacks } from './grants/grant-callbacks.js';
import { Grant } from './grants/grant.entity.js';
import { GrantStore } from './grants/grant.store.js';
import { QueueRunner } from './queue/queue.runner.js';
import { QueueStore } from './queue/queue.store.js';
import { WinningsAdminController } from './winnings/winnings.admin.controller.js';
import { WinningsService } from './winnings/winnings.service.js';
import { WinningsStore } from './winnings/winnings.store.js';

@Module({
  imports: [TypeOrmModule.forFeature([Batch, Grant]), ApprovalsModule, ProviderCallbackModule, WalletModule],
  controllers: [FreeSpinsAdminController, FreeSpinsOperatorController, WinningsAdminController],
  providers: [
    GrantsService,
    BatchesService,
    BatchStore,
    BatchProgressStore,
    QueueRunner,
    QueueStore,
    StatusRunner,
    StatusRunStore,
    GrantableGames,
    GrantCallbacks,
    GrantStore,
    WinningsService,
    WinningsStore,
    OwnCursors,
  ],
  exports: [BatchesService, WinningsService],
})
export class FreeSpinsModule {}
