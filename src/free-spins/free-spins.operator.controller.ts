import { Controller, Get, HttpCode, HttpStatus, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { ApiErrors } from '../openapi/api-errors.js';
import { SignedBy } from '../http/caller.js';
import { IdentifierParam, UuidParam } from '../http/validation/path.js';
import { JsonBody, NoBody } from '../http/validation/json-body.js';
import { ValidQuery } from '../http/validation/query.js';
import { BodyLimit } from '../http/server/raw-body.guard.js';
import { ApiSigned } from '../signature/api-signed.js';
import { SignedTenant } from '../signature/tenant.decorator.js';
import type { Operator } from '../tenancy/tenant.js';
import { BatchesService } from './batches.service.js';
import {
  ApiCancel,
  ApiFindBatch,
  ApiFindGrant,
  ApiGrant,
  ApiGrantBatch,
  ApiPullStatus,
  ApiResend,
} from './free-spins.operations.js';
import { OperatorBatchRequest, OperatorGrantQuery, OperatorGrantRequest } from './free-spins.request.js';
import {
  BatchCreatedResponse,
  BatchResponse,
  DetailedGrantResponse,
  GrantListResponse,
  GrantResponse,
  GrantStatusResponse,
  grantResponse,
  batchResponse,
  detailedGrantResponse,
} from './free-spins.response.js';
import { FreeSpinsService, type Scope } from './free-spins.service.js';
import { BATCH_LIMIT_BYTES, granted } from './granted.js';
import { WinningsService } from './winnings/winnings.service.js';

const PATH = 'v1/operator/free-spins';

/** The promotion tool for operators, who reach only their own grants. Contract, sections 5 and 6. */
@ApiTags('Operator')
@ApiSigned()
@SignedBy('operator')
@Controller(PATH)
export class FreeSpinsOperatorController {
  constructor(
    private readonly freeSpins: FreeSpinsService,
    private readonly batches: BatchesService,
    private readonly winnings: WinningsService,
  ) {}

  @Post()
  @ApiGrant(OperatorGrantRequest)
  async grant(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @JsonBody() request: OperatorGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse> {
    const { grant, replayed } = await this.freeSpins.grant(
      actor,
      { ...request, operatorId: operator.id },
      own(operator),
    );
    if (!replayed) return granted(grant, PATH);
    response.status(HttpStatus.OK);
    return grantResponse(grant);
  }

  @Post('batches')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @ApiGrantBatch(OperatorBatchRequest)
  async grantBatch(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @JsonBody() request: OperatorBatchRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchCreatedResponse> {
    const { batchId, replayed } = await this.batches.create(
      actor,
      { ...request, operatorId: operator.id },
      own(operator),
    );
    response.status(replayed ? HttpStatus.OK : HttpStatus.ACCEPTED);
    return { batchId };
  }

  @Get('batches/:batchId')
  @ApiFindBatch()
  async findBatch(
    @SignedTenant() operator: Operator,
    @UuidParam('batchId') batchId: string,
  ): Promise<BatchResponse> {
    return batchResponse(await this.batches.find(batchId, own(operator)));
  }

  @Get()
  @ApiOperation({ summary: 'List grants, newest first' })
  @ApiQuery({ type: OperatorGrantQuery })
  @ApiOkResponse({ type: GrantListResponse })
  @ApiErrors('INVALID_REQUEST')
  async list(
    @SignedTenant() operator: Operator,
    @ValidQuery() query: OperatorGrantQuery,
  ): Promise<GrantListResponse> {
    const { limit, cursor, ...filter } = query;
    const page = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
    const found = await this.freeSpins.list({ ...filter, operatorId: operator.id }, page);
    return { ...found, items: found.items.map(grantResponse) };
  }

  @Get(':requestRef')
  @ApiFindGrant()
  async find(
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<DetailedGrantResponse> {
    const grant = await this.freeSpins.find(requestRef, own(operator));
    return detailedGrantResponse(grant, await this.winnings.of(requestRef));
  }

  @Post(':requestRef/status')
  @NoBody()
  @HttpCode(200)
  @ApiPullStatus()
  async pullStatus(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantStatusResponse> {
    return { requestRef, ...(await this.freeSpins.pullStatus(actor, requestRef, own(operator))) };
  }

  @Post(':requestRef/cancel')
  @NoBody()
  @HttpCode(200)
  @ApiCancel()
  async cancel(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return grantResponse(await this.freeSpins.cancel(actor, requestRef, own(operator)));
  }

  @Post(':requestRef/resend')
  @NoBody()
  @HttpCode(200)
  @ApiResend()
  async resend(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return granted(await this.freeSpins.resend(actor, requestRef, own(operator)), PATH);
  }
}

function own({ id }: Operator): Scope {
  return { operatorId: id };
}
