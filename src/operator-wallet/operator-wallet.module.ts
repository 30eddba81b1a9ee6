import { Module } from '@nestjs/common';
import { HealthScoresModule } from '../health-scores/health-scores.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { DemoBooks } from './demo-books.js';
import { OperatorWallets } from './operator-wallets.service.js';

@Module({
  imports: [OutboundModule, HealthScoresModule],
  providers: [OperatorWallets, DemoBooks],
  exports: [OperatorWallets],
})
export class OperatorWalletModule {}
