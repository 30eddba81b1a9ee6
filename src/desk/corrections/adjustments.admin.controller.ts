import { Controller, HttpStatus, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminRoute } from '../../admin/admin-route.js';
import { approvalItem } from '../../approvals/approval.js';
import { ApprovalItem } from '../../approvals/approval.response.js';
import { type Actor, ActorOfRequest } from '../../audit/actor.js';
import { JsonBody } from '../../api/validation/json-body.js';
import { AdjustmentRequest } from './adjustment.request.js';
import { AdjustmentResponse } from './adjustment.response.js';
import { AdjustmentService } from './adjustment.service.js';

/** Contract, section 7. */
@ApiTags('Adjustments')
@Controller('v1/admin/adjustments')
export class AdjustmentsAdminController {
  constructor(private readonly adjustments: AdjustmentService) {}

  @Post()
  @AdminRoute('adjustBalance', {
    role: 'operations',
    summary: "Adjust a player's balance",
    description:
      'The operator books it as an ADJUSTMENT of the provider `platform`, with the adjustmentId as its ' +
      'transactionId. A repeated request returns the stored outcome; after a 500 it calls the ' +
      'operator again. The adjustment is found under `/v1/admin/transactions/platform/{adjustmentId}`.',
    body: AdjustmentRequest,
    audited: ['adjustment.create', 'adjustment:{adjustmentId}'],
    errors: ['CONFLICT', 'TRANSACTION_IN_FLIGHT', 'OPERATOR_UNAVAILABLE', 'OPERATOR_TIMED_OUT'],
  })
  @ApiCreatedResponse({ type: AdjustmentResponse, description: 'decided now, APPROVED or DECLINED' })
  @ApiAcceptedResponse({ type: ApprovalItem, description: 'exceeds a limit: waits for approval' })
  @ApiOkResponse({
    type: AdjustmentResponse,
    description: 'decided before',
    headers: { 'Idempotency-Replayed': { description: 'always `true`', schema: { type: 'string' } } },
  })
  async adjust(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdjustmentRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdjustmentResponse | ApprovalItem> {
    const outcome = await this.adjustments.adjust(actor, request);
    if ('approval' in outcome) {
      response.status(HttpStatus.ACCEPTED);
      return approvalItem(outcome.approval);
    }
    const { adjustment, replayed } = outcome;
    response.status(replayed ? HttpStatus.OK : HttpStatus.CREATED);
    if (replayed) response.setHeader('Idempotency-Replayed', 'true');
    return adjustment;
  }
}
