import { Controller, Get, HttpCode, Post, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { type ApprovalItem, operatorApprovalItem } from '../approvals/approval.request.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { ApiErrors } from '../api/api-errors.js';
import { SignedBy } from '../api/caller.js';
import { IdentifierParam, UuidParam } from '../api/validation/path.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { ValidQuery } from '../api/validation/query.js';
import { BodyLimit } from '../server/raw-body.guard.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Operator } from '../tenancy/tenant.js';
import { BatchesService } from './batches/batches.service.js';
import { ApiBatchResponses, ApiGrantResponses, OperatorRoute } from './free-spins.operations.js';
import {
  FindBatchQuery,
  OperatorBatchQuery,
  OperatorBatchRequest,
  OperatorGrantQuery,
  OperatorGrantRequest,
  ResendBatchRequest,
} from './free-spins.request.js';
import {
  BatchCreatedResponse,
  BatchItem,
  BatchListResponse,
  BatchResponse,
  batchItem,
} from './batches/batch.response.js';
import {
  DetailedGrantResponse,
  GrantListResponse,
  GrantResponse,
  GrantStatusResponse,
  grantResponse,
  detailedGrantResponse,
} from './grants/grant.response.js';
import { GrantsService } from './grants/grants.service.js';
import type { Scope } from './grants/grantable-games.js';
import {
  answerBatch,
  answerGrant,
  answerSent,
  answerVoided,
  BATCH_LIMIT_BYTES,
} from './free-spins.response.js';
import { WinningsService } from './winnings/winnings.service.js';

const PATH = 'v1/operator/free-spins';

/** Routes for operators: only their own grants and batches. Contract, sections 5 and 6. */
@ApiTags('Free spins')
@ApiSigned()
@SignedBy('operator')
@Controller(PATH)
export class FreeSpinsOperatorController {
  constructor(
    private readonly grants: GrantsService,
    private readonly batches: BatchesService,
    private readonly winnings: WinningsService,
  ) {}

  @Post()
  @OperatorRoute('grantFreeSpins', OperatorGrantRequest)
  @ApiGrantResponses()
  async grant(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @JsonBody() request: OperatorGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse | ApprovalItem> {
    const order = { ...request, operatorId: operator.id };
    return answerGrant(
      await this.grants.grant(actor, order, own(operator)),
      PATH,
      response,
      operatorApprovalItem,
    );
  }

  @Post('batches')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @OperatorRoute('grantFreeSpinsBatch', OperatorBatchRequest)
  @ApiBatchResponses()
  async grantBatch(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @JsonBody() request: OperatorBatchRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchCreatedResponse | ApprovalItem> {
    const order = { ...request, operatorId: operator.id };
    return answerBatch(
      await this.batches.create(actor, order, own(operator)),
      response,
      operatorApprovalItem,
    );
  }

  @Get('batches/:batchId')
  @OperatorRoute('getBatch')
  @ApiQuery({ type: FindBatchQuery })
  @ApiOkResponse({ type: BatchResponse })
  async findBatch(
    @SignedTenant() operator: Operator,
    @UuidParam('batchId') batchId: string,
    @ValidQuery() { items }: FindBatchQuery,
  ): Promise<BatchResponse> {
    const batch = batchItem(await this.batches.progress(batchId, own(operator)));
    if (items === 'false') return batch;
    return { ...batch, items: (await this.batches.items(batchId)).map(grantResponse) };
  }

  @Get('batches')
  @ApiOperation({
    operationId: 'listBatches',
    summary: 'List batches with their counts, newest first',
    description: 'Only your own batches, page by page.',
  })
  @ApiQuery({ type: OperatorBatchQuery })
  @ApiOkResponse({ type: BatchListResponse })
  @ApiErrors('INVALID_REQUEST')
  async listBatches(
    @SignedTenant() operator: Operator,
    @ValidQuery() query: OperatorBatchQuery,
  ): Promise<BatchListResponse> {
    const found = await this.batches.list({ ...query, operatorId: operator.id }, query);
    return { ...found, items: found.items.map(batchItem) };
  }

  @Post('batches/:batchId/cancel')
  @NoBody()
  @HttpCode(202)
  @OperatorRoute('cancelBatch')
  @ApiAcceptedResponse({ type: BatchItem })
  async cancelBatch(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @UuidParam('batchId') batchId: string,
  ): Promise<BatchItem> {
    return batchItem(await this.batches.cancel(actor, batchId, own(operator)));
  }

  @Post('batches/:batchId/resend')
  @HttpCode(202)
  @OperatorRoute('resendBatch')
  @ApiBody({ type: ResendBatchRequest, required: false })
  @ApiAcceptedResponse({ type: BatchItem })
  async resendBatch(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @UuidParam('batchId') batchId: string,
    @JsonBody() { includeUnknown = false }: ResendBatchRequest,
  ): Promise<BatchItem> {
    return batchItem(await this.batches.resend(actor, batchId, includeUnknown, own(operator)));
  }

  @Get()
  @ApiOperation({
    operationId: 'listGrants',
    summary: 'List grants, newest first',
    description: 'Only your own grants, page by page.',
  })
  @ApiQuery({ type: OperatorGrantQuery })
  @ApiOkResponse({ type: GrantListResponse })
  @ApiErrors('INVALID_REQUEST')
  async list(
    @SignedTenant() operator: Operator,
    @ValidQuery() query: OperatorGrantQuery,
  ): Promise<GrantListResponse> {
    const found = await this.grants.list({ ...query, operatorId: operator.id }, query);
    return { ...found, items: found.items.map(grantResponse) };
  }

  @Get(':requestRef')
  @OperatorRoute('getGrant')
  @ApiOkResponse({ type: DetailedGrantResponse })
  async find(
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<DetailedGrantResponse> {
    const grant = await this.grants.find(requestRef, own(operator));
    return detailedGrantResponse(grant, await this.winnings.of(requestRef));
  }

  @Post(':requestRef/status')
  @NoBody()
  @HttpCode(200)
  @OperatorRoute('pullGrantStatus')
  @ApiOkResponse({ type: GrantStatusResponse })
  async pullStatus(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantStatusResponse> {
    return { requestRef, ...(await this.grants.pullStatus(actor, requestRef, own(operator))) };
  }

  @Post(':requestRef/cancel')
  @NoBody()
  @HttpCode(200)
  @OperatorRoute('cancelGrant')
  @ApiOkResponse({ type: GrantResponse })
  async cancel(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return grantResponse(await this.grants.cancel(actor, requestRef, own(operator)));
  }

  @Post(':requestRef/resend')
  @NoBody()
  @HttpCode(200)
  @OperatorRoute('resendGrant')
  @ApiOkResponse({ type: GrantResponse })
  async resend(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return answerSent(await this.grants.resend(actor, requestRef, own(operator)), PATH);
  }

  @Post(':requestRef/void')
  @NoBody()
  @HttpCode(200)
  @OperatorRoute('voidGrant')
  @ApiOkResponse({ type: GrantResponse, description: 'CANCELLED' })
  async void(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return answerVoided(await this.grants.void(actor, requestRef, own(operator)), PATH);
  }
}

function own({ id }: Operator): Scope {
  return { operatorId: id };
}
