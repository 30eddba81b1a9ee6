import { Controller, Get, HttpCode, Param, Post, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { NoBody } from '../../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
import { TRANSACTIONS_ROUTE } from '../desk.routes.js';
import { TransactionQuery } from './transaction.admin.request.js';
import {
  TRANSACTION_COLUMNS,
  TransactionDetail,
  TransactionListResponse,
} from './transaction.admin.response.js';
import { TransactionDesk } from './transaction-desk.service.js';

/** Contract, section 7. */
@ApiTags('Transactions')
@Controller('v1/admin/transactions')
export class TransactionsAdminController {
  constructor(private readonly desk: TransactionDesk) {}

  @Get()
  @AdminRoute('listTransactions', {
    ...TRANSACTIONS_ROUTE,
    role: 'auditor',
    sensitiveRead: ['transactions.list', 'transactions', { polled: true }],
  })
  @ApiList(TransactionListResponse, TransactionQuery, TRANSACTION_COLUMNS)
  list(
    @ValidQuery() query: TransactionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<TransactionListResponse | StreamableFile> {
    const read = (page: TransactionQuery) => this.desk.list(page);
    return answerList(format, { query, name: 'transactions', columns: TRANSACTION_COLUMNS, read });
  }

  @Get(':providerId/:transactionId')
  @AdminRoute('getTransaction', {
    role: 'auditor',
    summary: 'Read the details of a transaction',
    description:
      'The request, the decision, each call to the operator with its answer, the answers to the provider, and ' +
      'the rollback. Refusals and replays change nothing and are in the request log.',
    sensitiveRead: ['transaction.read', 'transaction:{providerId}/{transactionId}', { polled: true }],
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: TransactionDetail })
  find(
    @Param('providerId') providerId: string,
    @Param('transactionId') transactionId: string,
  ): Promise<TransactionDetail> {
    return this.desk.detail({ providerId, transactionId });
  }

  @Post(':providerId/:transactionId/resolve')
  @NoBody()
  @HttpCode(200)
  @AdminRoute('resolveTransaction', {
    role: 'operations',
    summary: 'Resolve a transaction now',
    description:
      'Does now what the resolver would do later: a WIN, ROLLBACK or ADJUSTMENT is sent again unchanged, and a BET is ' +
      'ended by a ROLLBACK that the platform sends itself. The answer is 200 even if the operator fails again; the detail ' +
      'shows the attempt. If the operator has DECLINED such a ROLLBACK, only this route sends another one, with a new id.',
    audited: ['transaction.resolve', 'transaction:{providerId}/{transactionId}'],
    errors: ['NOT_FOUND', 'CONFLICT', 'TRANSACTION_IN_FLIGHT'],
  })
  @ApiOkResponse({ type: TransactionDetail })
  resolve(
    @ActorOfRequest() actor: Actor,
    @Param('providerId') providerId: string,
    @Param('transactionId') transactionId: string,
  ): Promise<TransactionDetail> {
    return this.desk.resolve(actor, { providerId, transactionId });
  }
}
