import { Controller, Header, HttpCode, Post, Res, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { DescribedRoute } from '../api/described-route.js';
import { ProviderBody } from '../api/validation/json-body.js';
import { SessionTokenRequest } from '../session/session.request.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Provider } from '../tenancy/tenant.js';
import { RefusedTransactions } from './activity/refused-transactions.filter.js';
import { TRANSACTION_REQUESTS, TransactionRequest } from './transaction.request.js';
import { BalanceResponse, TRANSACTION_RESPONSES, TransactionResponse } from './transaction.response.js';
import { WalletService } from './wallet.service.js';

@ApiTags('Transactions')
@ApiSigned()
@Controller('v1/wallet')
export class WalletController {
  constructor(private readonly wallet: WalletService) {}

  @Post('transaction')
  @UseFilters(RefusedTransactions)
  @HttpCode(200)
  @Header('Content-Type', 'application/json; charset=utf-8')
  @DescribedRoute('submitTransaction', {
    summary: 'Submit a BET, WIN or ROLLBACK',
    description:
      'Idempotent on transactionId: a repeated request gets the stored answer, byte for byte, with ' +
      '`Idempotency-Replayed: true`. A DECLINED answer is a 200, and final. After a 500, send the same ' +
      'request again. Do the same after an error without `X-Error-Code`: it comes from a proxy, and ' +
      'the transaction may have been booked.\n\n**After the session.** Once a session has expired or ' +
      'been revoked, every kind is a 401 `SESSION_INVALID`, including WIN and ROLLBACK. If the ' +
      'platform has set `lateSettlementSeconds` for you, WIN and ROLLBACK, never BET, are accepted for ' +
      'that long after the session’s end, if a BET of this session is in the round or the WIN’s ' +
      '`winKind` is not `GAME`. Ask for it if your rounds can outlive a session. A repeated request ' +
      'for a decided transaction is always answered.',
    errors: [
      'INVALID_REQUEST',
      'KIND_NOT_ACCEPTED',
      'SESSION_MISMATCH',
      'TRANSACTION_ID_REUSED',
      'SESSION_INVALID',
      'SESSION_OF_ANOTHER_PROVIDER',
      'TRANSACTION_IN_FLIGHT',
      'OPERATOR_UNAVAILABLE',
      'OPERATOR_TIMED_OUT',
      'OVERLOADED',
      'GAME_NOT_CONFIGURED',
      'OPERATOR_NOT_CONFIGURED',
    ],
  })
  @ApiBody({ type: TransactionRequest, examples: TRANSACTION_REQUESTS })
  @ApiOkResponse({
    type: TransactionResponse,
    examples: TRANSACTION_RESPONSES,
    headers: { 'Idempotency-Replayed': { description: '`true` on a replay', schema: { type: 'string' } } },
  })
  async transaction(
    @SignedTenant() provider: Provider,
    @ProviderBody() request: TransactionRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const answer = await this.wallet.submit(provider, request);
    if (answer.replayed) response.setHeader('Idempotency-Replayed', 'true');
    return answer.body;
  }

  @Post('balance')
  @HttpCode(200)
  @DescribedRoute('getBalance', {
    summary: "Read the player's balance",
    description: "Passed through from the operator's wallet.",
    body: SessionTokenRequest,
    errors: [
      'INVALID_REQUEST',
      'SESSION_INVALID',
      'SESSION_OF_ANOTHER_PROVIDER',
      'OPERATOR_UNAVAILABLE',
      'OPERATOR_TIMED_OUT',
      'OVERLOADED',
      'OPERATOR_NOT_CONFIGURED',
    ],
  })
  @ApiOkResponse({ type: BalanceResponse })
  async balance(
    @SignedTenant() provider: Provider,
    @ProviderBody() request: SessionTokenRequest,
  ): Promise<BalanceResponse> {
    return { balance: await this.wallet.balance(provider, request.sessionToken) };
  }
}
