import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { OperatorWalletModule } from '../operator-wallet/operator-wallet.module.js';
import { SessionModule } from '../session/session.module.js';
import { Admission } from './admission.js';
import { AttemptIds } from './attempt-ids.js';
import { AttemptIdsStore } from './attempt-ids.store.js';
import { AttemptRunner } from './attempt.runner.js';
import { AdjustmentService } from './desk/adjustment.service.js';
import { AdjustmentsAdminController } from './desk/adjustments.admin.controller.js';
import { RoundDesk } from './desk/rounds/round-desk.service.js';
import { RoundStore } from './desk/rounds/round.store.js';
import { RoundsAdminController } from './desk/rounds/rounds.admin.controller.js';
import { SessionDetailAdminController } from './desk/session-detail.admin.controller.js';
import { SettleAdminController } from './desk/settle.admin.controller.js';
import { SettleService } from './desk/settle.service.js';
import { TransactionDetails } from './desk/transaction-details.service.js';
import { TransactionDesk } from './desk/transaction-desk.service.js';
import { TransactionSearchStore } from './desk/transaction-search.store.js';
import { TransactionsAdminController } from './desk/transactions.admin.controller.js';
import { Parking } from './resolving/parking.js';
import { ResolutionService } from './resolving/resolution.service.js';
import { Resolver } from './resolving/resolver.js';
import { FreshClaims } from './fresh-claim.store.js';
import { OperatorAnswerStore } from './operator-answer.store.js';
import { OperatorAnswers } from './operator-answers.js';
import { TransactionStore } from './transaction.store.js';
import { UndecidedGauge } from './resolving/undecided.gauge.js';
import { UndecidedStore } from './resolving/undecided.store.js';
import { WalletController } from './wallet.controller.js';
import { WalletService } from './wallet.service.js';

@Module({
  imports: [SessionModule, OperatorWalletModule, ApprovalsModule],
  controllers: [
    WalletController,
    TransactionsAdminController,
    RoundsAdminController,
    AdjustmentsAdminController,
    SettleAdminController,
    SessionDetailAdminController,
  ],
  providers: [
    WalletService,
    Admission,
    AttemptRunner,
    FreshClaims,
    TransactionStore,
    OperatorAnswers,
    AttemptIds,
    AttemptIdsStore,
    OperatorAnswerStore,
    ResolutionService,
    Resolver,
    Parking,
    UndecidedStore,
    UndecidedGauge,
    AdjustmentService,
    SettleService,
    TransactionDesk,
    TransactionDetails,
    TransactionSearchStore,
    RoundDesk,
    RoundStore,
  ],
  exports: [WalletService, AttemptIds, Parking],
})
export class WalletModule {}
