import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../../admin/admin-route.js';
import { approvalItem } from '../../approvals/approval.js';
import { ApprovalItem } from '../../approvals/approval.response.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { JsonBody } from '../../api/validation/json-body.js';
import { SettleRequest } from './settle.request.js';
import { SettleService } from './settle.service.js';

/** Contract, section 9, "Settling by hand". */
@ApiTags('Transactions')
@Controller('v1/admin/transactions')
export class SettleAdminController {
  constructor(private readonly settlements: SettleService) {}

  @Post(':providerId/:transactionId/settle')
  @HttpCode(202)
  @AdminRoute('settleTransaction', {
    role: 'operations',
    summary: 'Settle a parked transaction by hand',
    description:
      'For an operator that states the outcome by means other than its wallet, such as e-mail. A ' +
      'settlement always waits for the approval of a second person. Then the transaction is settled as ' +
      'if the wallet had given this answer: nothing is sent to the wallet, and the transaction stays marked as ' +
      '`settledByHand`. If ' +
      'it is decided in the meantime, the approval ends with `result.error`. The answer to the provider ' +
      'has the balance given here, else the last one that the operator reported for the player, else 0.',
    body: SettleRequest,
    audited: ['transaction.settle', 'transaction:{providerId}/{transactionId}'],
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @ApiAcceptedResponse({ type: ApprovalItem, description: 'waits for approval' })
  async settle(
    @ActorOfRequest() actor: Actor,
    @Param('providerId') providerId: string,
    @Param('transactionId') transactionId: string,
    @JsonBody() request: SettleRequest,
  ): Promise<ApprovalItem> {
    const key = { providerId, transactionId };
    return approvalItem(await this.settlements.requestSettlement(actor, key, request));
  }
}
