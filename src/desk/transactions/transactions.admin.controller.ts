import { Controller, Get, HttpCode, Param, Post, type StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { Audited } from '../../audit/audited-route.js';
import { SensitiveRead } from '../../audit/sensitive-read.js';
import { ApiErrors } from '../../api/api-errors.js';
import { NoBody } from '../../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../../api/lists/list.js';
import { ValidQuery } from '../../api/validation/query.js';
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
  @RequiresRole('support')
  @SensitiveRead('transactions.list', 'transactions')
  @ApiOperation({
    operationId: 'listTransactions',
    summary: 'Search transactions, newest first',
    description:
      '`state=TIMED_OUT` selects transactions whose outcome is unknown; `parked=true` selects those ' +
      'that wait for a person. With `kind`, `gameId`, `amountMinor`, `currency` or `sessionId` a page ' +
      'examines a bounded number of transactions that match the other filters. It may then be short or ' +
      'empty and still have a `nextCursor`.',
  })
  @ApiList(TransactionListResponse, TransactionQuery, TRANSACTION_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  list(
    @ValidQuery() query: TransactionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<TransactionListResponse | StreamableFile> {
    const read = (page: TransactionQuery) => this.desk.list(page);
    return answerList(format, { query, name: 'transactions', columns: TRANSACTION_COLUMNS, read });
  }

  @Get(':providerId/:transactionId')
  @RequiresRole('support')
  @SensitiveRead('transaction.read', 'transaction:{providerId}/{transactionId}')
  @ApiOperation({
    operationId: 'getTransaction',
    summary: 'Read the details of a transaction',
    description:
      'The request, the decision, each call to the operator with its answer, the answers to the provider, and ' +
      'the rollback. Refusals and replays change nothing and are in the request log.',
  })
  @ApiOkResponse({ type: TransactionDetail })
  @ApiErrors('UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  find(
    @Param('providerId') providerId: string,
    @Param('transactionId') transactionId: string,
  ): Promise<TransactionDetail> {
    return this.desk.detail({ providerId, transactionId });
  }

  @Post(':providerId/:transactionId/resolve')
  @NoBody()
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('transaction.resolve', 'transaction:{providerId}/{transactionId}')
  @ApiOperation({
    operationId: 'resolveTransaction',
    summary: 'Resolve a transaction now',
    description:
      'Does now what the resolver would do later: a WIN, ROLLBACK or ADJUSTMENT is sent again unchanged, and a BET is ' +
      'ended by a ROLLBACK that the platform sends itself. The answer is 200 even if the operator fails again; the detail ' +
      'shows the attempt. If the operator has DECLINED such a ROLLBACK, only this route sends another one, with a new id.',
  })
  @ApiOkResponse({ type: TransactionDetail })
  @ApiErrors('UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'TRANSACTION_IN_FLIGHT')
  resolve(
    @ActorOfRequest() actor: Actor,
    @Param('providerId') providerId: string,
    @Param('transactionId') transactionId: string,
  ): Promise<TransactionDetail> {
    return this.desk.resolve(actor, { providerId, transactionId });
  }
}
