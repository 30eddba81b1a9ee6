import { Module } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { DemoBooks } from './demo-books.js';
import { OperatorWallets } from './operator-wallets.service.js';

@Module({
  imports: [OutboundModule],
  providers: [OperatorWallets, DemoBooks],
  exports: [OperatorWallets],
})
export class OperatorWalletModule {}
