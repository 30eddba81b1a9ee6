import { applyDecorators, Controller, Delete, HttpStatus, Patch, Put, Res, type Type } from '@nestjs/common';
import { ApiAcceptedResponse, ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminRoute } from '../admin/admin-route.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { CurrencyParam, IdentifierParam } from '../api/validation/path.js';
import { approvalItem } from '../approvals/approval.js';
import { ApprovalItem } from '../approvals/approval.response.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { PatchLimitRequest, PutLimitRequest } from '../limits/limit.request.js';
import { LimitResponse } from '../limits/limit.response.js';
import { type LimitChange, LimitChanges } from './limit-changes.service.js';

const KEY = ':operatorId/:currency';

const WAITS =
  'Setting a first limit or lowering one takes effect at once. If the change raises or removes any limit in effect, ' +
  'the whole change waits for another administrator. So does an own limit above the default of the operator `*`, ' +
  'which applies to each operator for each field that the operator has not set.';

/** A route that changes limits, and is answered with 202 if the change waits for approval. */
const ChangeRoute = (
  operationId: string,
  action: string,
  { summary, description, body }: { summary: string; description: string; body?: Type<object> },
) =>
  applyDecorators(
    AdminRoute(operationId, {
      role: 'admin',
      summary,
      description: `${description} ${WAITS}`,
      ...(body && { body }),
      audited: [action, 'limit:{operatorId}/{currency}'],
      errors: ['NOT_FOUND', 'CONFLICT'],
    }),
    ApiAcceptedResponse({ type: ApprovalItem, description: 'raises or removes a limit: waits for approval' }),
  );

/** Contract, section 9, "Limits and approvals". */
@ApiTags('Limits and approvals')
@Controller('v1/admin/limits')
export class LimitChangesAdminController {
  constructor(private readonly changes: LimitChanges) {}

  @Put(KEY)
  @ChangeRoute('setLimits', 'limit.replace', {
    summary: 'Set the limits of an operator in a currency',
    description:
      'Replaces all own limits of the operator: an absent field is removed, and at least one must not be null. A grant, batch or adjustment above a limit ' +
      'waits for the approval of a second person, even if the operator itself requested it. A WIN is always booked, ' +
      'because the provider decides outcomes.',
    body: PutLimitRequest,
  })
  @ApiOkResponse({ type: LimitResponse, description: 'set' })
  async put(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('operatorId') operatorId: string,
    @CurrencyParam('currency') currency: string,
    @JsonBody() request: PutLimitRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LimitResponse | ApprovalItem | undefined> {
    return answer(await this.changes.put(actor, { operatorId, currency }, request), response);
  }

  @Patch(KEY)
  @ChangeRoute('changeLimits', 'limit.replace', {
    summary: 'Change some limits of an operator in a currency',
    description: 'An absent field keeps its value; null removes it. At least one must be present.',
    body: PatchLimitRequest,
  })
  @ApiOkResponse({ type: LimitResponse, description: 'changed' })
  @ApiNoContentResponse({ description: 'the operator has no limits of its own after it' })
  async patch(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('operatorId') operatorId: string,
    @CurrencyParam('currency') currency: string,
    @JsonBody() request: PatchLimitRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LimitResponse | ApprovalItem | undefined> {
    return answer(await this.changes.patch(actor, { operatorId, currency }, request), response);
  }

  @Delete(KEY)
  @NoBody()
  @ChangeRoute('removeLimits', 'limit.remove', {
    summary: 'Remove the limits of an operator in a currency',
    description:
      'From then on only the default of the operator `*` applies. Grants, batches and adjustments that already wait for ' +
      'approval still do.',
  })
  @ApiNoContentResponse({ description: 'removed, and the default is as strict in each field' })
  async remove(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('operatorId') operatorId: string,
    @CurrencyParam('currency') currency: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LimitResponse | ApprovalItem | undefined> {
    return answer(await this.changes.remove(actor, { operatorId, currency }), response);
  }
}

/** 200 with the limits, 204 if none of the operator's own are left, 202 if the change waits for approval. */
function answer(change: LimitChange, response: Response): LimitResponse | ApprovalItem | undefined {
  if ('approval' in change) {
    response.status(HttpStatus.ACCEPTED);
    return approvalItem(change.approval);
  }
  response.status(change.set ? HttpStatus.OK : HttpStatus.NO_CONTENT);
  return change.set;
}
