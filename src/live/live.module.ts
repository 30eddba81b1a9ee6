import { Module } from '@nestjs/common';
import { AdminModule } from '../admin/admin.module.js';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { AttentionModule } from '../attention/attention.module.js';
import { FreeSpinsModule } from '../free-spins/free-spins.module.js';
import { HealthModule } from '../health/health.module.js';
import { HealthScoresModule } from '../health-scores/health-scores.module.js';
import { WalletModule } from '../wallet/wallet.module.js';
import { Changes } from './changes.js';
import { InstanceStore } from './instance.store.js';
import { Instances } from './instances.service.js';
import { LiveAdminController } from './live.admin.controller.js';
import { LiveStream } from './live-stream.service.js';
import { Overview } from './overview.service.js';

@Module({
  imports: [
    AdminModule,
    ApprovalsModule,
    AttentionModule,
    FreeSpinsModule,
    HealthModule,
    HealthScoresModule,
    WalletModule,
  ],
  controllers: [LiveAdminController],
  providers: [Changes, InstanceStore, Instances, LiveStream, Overview],
})
export class LiveModule {}
