import { Controller, Get, Param, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import { SignedByOperator } from '../api/caller.js';
import { DescribedRoute } from '../api/described-route.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { OwnCursors } from '../api/lists/own-cursors.js';
import { PageQuery } from '../api/lists/page.js';
import { UuidParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import { OperatorSessionQuery } from '../session/session.request.js';
import { SESSION_COLUMNS, SessionListResponse } from '../session/session.response.js';
import { SessionService } from '../session/session.service.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Operator } from '../tenancy/tenant.js';
import { ROUNDS_ROUTE, SESSION_ROUTE, TRANSACTIONS_ROUTE } from './desk.routes.js';
import {
  OwnRoundDetail,
  ownRoundDetail,
  OwnTransactionDetail,
  ownTransactionDetail,
} from './operator-desk.response.js';
import { OperatorFindRoundQuery, OperatorRoundQuery } from './rounds/round.admin.request.js';
import { ROUND_COLUMNS, RoundListResponse } from './rounds/round.admin.response.js';
import { RoundDesk } from './rounds/round-desk.service.js';
import { SessionDetailPage } from './transactions/session-detail.response.js';
import { SessionDetails } from './transactions/session-detail.service.js';
import { OperatorTransactionQuery } from './transactions/transaction.admin.request.js';
import { TRANSACTION_COLUMNS, TransactionListResponse } from './transactions/transaction.admin.response.js';
import { TransactionDesk } from './transactions/transaction-desk.service.js';

/*
 * Operators read their own transactions, rounds and sessions. Each handler passes the id of the operator that signed the
 * request to the administrators' readers; its query class has no `operatorId`. Contract, section 5.
 */

@ApiTags('Transactions')
@ApiSigned()
@SignedByOperator()
@Controller('v1/operator/transactions')
export class TransactionsOperatorController {
  constructor(
    private readonly desk: TransactionDesk,
    private readonly cursors: OwnCursors,
  ) {}

  @Get()
  @DescribedRoute('listOwnTransactions', TRANSACTIONS_ROUTE)
  @ApiList(TransactionListResponse, OperatorTransactionQuery, TRANSACTION_COLUMNS)
  list(
    @SignedTenant() { id: operatorId }: Operator,
    @ValidQuery() query: OperatorTransactionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<TransactionListResponse | StreamableFile> {
    const read = (page: OperatorTransactionQuery) =>
      this.cursors.page(operatorId, page, (own) => this.desk.list({ ...own, operatorId }));
    return answerList(format, { query, name: 'transactions', columns: TRANSACTION_COLUMNS, read });
  }

  @Get(':providerId/:transactionId')
  @DescribedRoute('getOwnTransaction', {
    summary: 'Read the details of a transaction',
    description:
      'The decision, each attempt to call your wallet with its outcome, and the rollback. A transaction of another ' +
      'operator is a 404.',
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: OwnTransactionDetail })
  async find(
    @SignedTenant() operator: Operator,
    @Param('providerId') providerId: string,
    @Param('transactionId') transactionId: string,
  ): Promise<OwnTransactionDetail> {
    return ownTransactionDetail(await this.desk.detail({ providerId, transactionId }, operator.id));
  }
}

@ApiTags('Rounds')
@ApiSigned()
@SignedByOperator()
@Controller('v1/operator/rounds')
export class RoundsOperatorController {
  constructor(
    private readonly rounds: RoundDesk,
    private readonly cursors: OwnCursors,
  ) {}

  @Get()
  @DescribedRoute('listOwnRounds', ROUNDS_ROUTE)
  @ApiList(RoundListResponse, OperatorRoundQuery, ROUND_COLUMNS)
  list(
    @SignedTenant() { id: operatorId }: Operator,
    @ValidQuery() query: OperatorRoundQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<RoundListResponse | StreamableFile> {
    const read = (page: OperatorRoundQuery) =>
      this.cursors.page(operatorId, page, (own) => this.rounds.list({ ...own, operatorId }));
    return answerList(format, { query, name: 'rounds', columns: ROUND_COLUMNS, read });
  }

  @Get(':providerId/:roundId')
  @DescribedRoute('getOwnRound', {
    summary: 'Read a round with its transactions and their sums',
    description:
      'Several of your players and games may share a roundId: the parameters select one round, and are required if ' +
      'several match.',
    errors: ['INVALID_REQUEST', 'NOT_FOUND'],
  })
  @ApiQuery({ type: OperatorFindRoundQuery })
  @ApiOkResponse({ type: OwnRoundDetail })
  async find(
    @SignedTenant() { id: operatorId }: Operator,
    @Param('providerId') providerId: string,
    @Param('roundId') roundId: string,
    @ValidQuery() query: OperatorFindRoundQuery,
  ): Promise<OwnRoundDetail> {
    return ownRoundDetail(await this.rounds.detail({ providerId, roundId }, { ...query, operatorId }));
  }
}

@ApiTags('Sessions')
@ApiSigned()
@SignedByOperator()
@Controller('v1/operator/sessions')
export class SessionsOperatorController {
  constructor(
    private readonly sessions: SessionService,
    private readonly details: SessionDetails,
    private readonly cursors: OwnCursors,
  ) {}

  @Get()
  @DescribedRoute('listOwnSessions', {
    summary: 'Search sessions, newest first',
    description: 'Only your own sessions, without their tokens.',
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(SessionListResponse, OperatorSessionQuery, SESSION_COLUMNS)
  list(
    @SignedTenant() { id: operatorId }: Operator,
    @ValidQuery() query: OperatorSessionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<SessionListResponse | StreamableFile> {
    const read = (page: OperatorSessionQuery) =>
      this.cursors.page(operatorId, page, (own) => this.sessions.list({ ...own, operatorId }));
    return answerList(format, { query, name: 'sessions', columns: SESSION_COLUMNS, read });
  }

  @Get(':sessionId')
  @DescribedRoute('getOwnSession', SESSION_ROUTE)
  @ApiQuery({ type: PageQuery })
  @ApiOkResponse({ type: SessionDetailPage })
  find(
    @SignedTenant() operator: Operator,
    @UuidParam('sessionId') sessionId: string,
    @ValidQuery() query: PageQuery,
  ): Promise<SessionDetailPage> {
    return this.cursors.page(operator.id, query, (own) => this.details.page(sessionId, own, operator.id));
  }
}
