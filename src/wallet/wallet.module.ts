import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { OperatorWalletModule } from '../operator-wallet/operator-wallet.module.js';
import { SessionModule } from '../session/session.module.js';
import { Activity } from './activity/activity.service.js';
import { ActivityStore } from './activity/activity.store.js';
import { Admission } from './admission.js';
import { AttemptIds } from './evidence/attempt-ids.js';
import { AttemptIdsStore } from './evidence/attempt-ids.store.js';
import { AttemptRunner } from './attempt.runner.js';
import { Parking } from './resolving/parking.js';
import { ResolutionService } from './resolving/resolution.service.js';
import { Resolver } from './resolving/resolver.js';
import { FreshClaims } from './fresh-claim.store.js';
import { ManualAttempts } from './manual-attempts.service.js';
import { OperatorAnswerStore } from './evidence/operator-answer.store.js';
import { OperatorAnswers } from './evidence/operator-answers.js';
import { TransactionStore } from './transaction.store.js';
import { UndecidedCounts } from './resolving/undecided-counts.js';
import { UndecidedStore } from './resolving/undecided.store.js';
import { WalletController } from './wallet.controller.js';
import { WalletService } from './wallet.service.js';
import { WinMonitor } from './win-monitor.js';

@Module({
  imports: [SessionModule, OperatorWalletModule, LimitsModule],
  controllers: [WalletController],
  providers: [
    WalletService,
    Admission,
    AttemptRunner,
    ManualAttempts,
    WinMonitor,
    Activity,
    ActivityStore,
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
    UndecidedCounts,
  ],
  exports: [Activity, ManualAttempts, ResolutionService, Parking, WinMonitor, AttemptIds, UndecidedCounts],
})
export class WalletModule {}
