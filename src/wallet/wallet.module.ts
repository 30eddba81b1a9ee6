import { Module } from '@nestjs/common';
import { OperatorWalletModule } from '../operator-wallet/operator-wallet.module.js';
import { SessionModule } from '../session/session.module.js';
import { TransactionStore } from './transaction.store.js';
import { UndecidedGauge } from './undecided.gauge.js';
import { WalletController } from './wallet.controller.js';
import { WalletService } from './wallet.service.js';

@Module({
  imports: [SessionModule, OperatorWalletModule],
  controllers: [WalletController],
  providers: [WalletService, TransactionStore, UndecidedGauge],
  exports: [WalletService],
})
export class WalletModule {}
