import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { ProviderCallbackModule } from '../provider-callback/provider-callback.module.js';
import { WalletModule } from '../wallet/wallet.module.js';
import { Batch } from './batch.entity.js';
import { BatchRunner } from './batch.runner.js';
import { BatchesService } from './batches.service.js';
import { FreeSpinsAdminController } from './free-spins.admin.controller.js';
import { FreeSpinsOperatorController } from './free-spins.operator.controller.js';
import { FreeSpinsService } from './free-spins.service.js';
import { GrantableGames } from './grantable-games.js';
import { GrantCallbacks } from './grant-callbacks.js';
import { Grant } from './grant.entity.js';
import { GrantStore } from './grant.store.js';
import { PendingGrantsGauge } from './pending-grants.gauge.js';
import { WinningsAdminController } from './winnings/winnings.admin.controller.js';
import { WinningsService } from './winnings/winnings.service.js';
import { WinningsStore } from './winnings/winnings.store.js';

@Module({
  imports: [TypeOrmModule.forFeature([Batch, Grant]), ApprovalsModule, ProviderCallbackModule, WalletModule],
  controllers: [FreeSpinsAdminController, FreeSpinsOperatorController, WinningsAdminController],
  providers: [
    FreeSpinsService,
    BatchesService,
    BatchRunner,
    GrantableGames,
    GrantCallbacks,
    GrantStore,
    PendingGrantsGauge,
    WinningsService,
    WinningsStore,
  ],
  exports: [WinningsService],
})
export class FreeSpinsModule {}
