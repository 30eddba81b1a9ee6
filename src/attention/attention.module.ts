import { Module } from '@nestjs/common';
import { FreeSpinsModule } from '../free-spins/free-spins.module.js';
import { WalletModule } from '../wallet/wallet.module.js';
import { AttentionAdminController } from './attention.admin.controller.js';
import { AttentionService } from './attention.service.js';
import { AttentionStore } from './attention.store.js';
import { AttentionWatcher } from './attention.watcher.js';
import { CauseStore } from './cause.store.js';
import { OpenRoundsStore } from './open-rounds.store.js';
import { OpenRoundsWatch } from './open-rounds.watch.js';

@Module({
  imports: [WalletModule, FreeSpinsModule],
  controllers: [AttentionAdminController],
  providers: [
    AttentionService,
    AttentionStore,
    AttentionWatcher,
    CauseStore,
    OpenRoundsStore,
    OpenRoundsWatch,
  ],
  exports: [AttentionService],
})
export class AttentionModule {}
