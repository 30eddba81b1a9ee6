import { Module } from '@nestjs/common';
import { OwnCursors } from '../api/lists/own-cursors.js';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { SessionModule } from '../session/session.module.js';
import { WalletModule } from '../wallet/wallet.module.js';
import { AdjustmentService } from './corrections/adjustment.service.js';
import { AdjustmentsAdminController } from './corrections/adjustments.admin.controller.js';
import { SettleAdminController } from './corrections/settle.admin.controller.js';
import { SettleService } from './corrections/settle.service.js';
import {
  RoundsOperatorController,
  SessionsOperatorController,
  TransactionsOperatorController,
} from './operator-desk.controller.js';
import { RoundStore } from './rounds/round.store.js';
import { RoundDesk } from './rounds/round-desk.service.js';
import { RoundsAdminController } from './rounds/rounds.admin.controller.js';
import { SearchAdminController } from './search/search.admin.controller.js';
import { SearchStore } from './search/search.store.js';
import { SessionDetailAdminController } from './transactions/session-detail.admin.controller.js';
import { SessionDetails } from './transactions/session-detail.service.js';
import { TransactionDesk } from './transactions/transaction-desk.service.js';
import { TransactionSearchStore } from './transactions/transaction-search.store.js';
import { TransactionsAdminController } from './transactions/transactions.admin.controller.js';

@Module({
  imports: [WalletModule, SessionModule, ApprovalsModule],
  controllers: [
    TransactionsAdminController,
    RoundsAdminController,
    AdjustmentsAdminController,
    SettleAdminController,
    SessionDetailAdminController,
    SearchAdminController,
    TransactionsOperatorController,
    RoundsOperatorController,
    SessionsOperatorController,
  ],
  providers: [
    TransactionDesk,
    TransactionSearchStore,
    RoundDesk,
    RoundStore,
    SessionDetails,
    AdjustmentService,
    SettleService,
    SearchStore,
    OwnCursors,
  ],
})
export class DeskModule {}
