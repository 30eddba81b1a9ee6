import { Controller, Get, HttpCode, HttpStatus, Post, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
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
import { OperatorBatchRequest, OperatorGrantQuery, OperatorGrantRequest } from './free-spins.request.js';
import {
  BatchCreatedResponse,
  BatchResponse,
  DetailedGrantResponse,
  GrantListResponse,
  GrantResponse,
  GrantStatusResponse,
  shown,
  shownBatch,
  shownWithWinnings,
} from './free-spins.response.js';
import { FreeSpinsService, type Scope } from './free-spins.service.js';
import { BATCH_LIMIT_BYTES, granted } from './granted.js';
import { WinningsService } from './winnings/winnings.service.js';

const PATH = 'v1/operator/free-spins';

/** The promotion tool in an operator's hands: its own grants alone. Contract, sections 5 and 6. */
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
  @ApiOperation({
    summary: 'Grant free spins to a player',
    description:
      'Calls the provider once. The same requestRef and body again answer the stored grant and call nobody; a ' +
      'FAILED grant is answered 502, and `Location` names its record.',
  })
  @ApiBody({ type: OperatorGrantRequest })
  @ApiCreatedResponse({ type: GrantResponse, description: 'granted' })
  @ApiOkResponse({
    type: GrantResponse,
    description: 'this requestRef is known: the stored grant, in whatever state',
  })
  @ApiErrors(
    'INVALID_REQUEST',
    'CONFLICT',
    'PROVIDER_FAILED',
    'GAME_NOT_CONFIGURED',
    'OPERATOR_NOT_CONFIGURED',
  )
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
    return shown(grant);
  }

  @Post('batches')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @ApiOperation({
    summary: 'Grant free spins to many players',
    description:
      'Records a grant for each player and calls the provider for one after the other, a few at a time; the ' +
      'batch says how far it is. A provider that is down fails the rest of the batch.',
  })
  @ApiBody({ type: OperatorBatchRequest })
  @ApiAcceptedResponse({ type: BatchCreatedResponse, description: 'recorded' })
  @ApiOkResponse({ type: BatchCreatedResponse, description: 'this batchRef is known: the same batch' })
  @ApiErrors(
    'INVALID_REQUEST',
    'CONFLICT',
    'PAYLOAD_TOO_LARGE',
    'GAME_NOT_CONFIGURED',
    'OPERATOR_NOT_CONFIGURED',
  )
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
  @ApiOperation({ summary: 'Read a batch', description: 'How far it is, and the grant of each player.' })
  @ApiOkResponse({ type: BatchResponse })
  @ApiErrors('NOT_FOUND')
  async findBatch(
    @SignedTenant() operator: Operator,
    @UuidParam('batchId') batchId: string,
  ): Promise<BatchResponse> {
    return shownBatch(await this.batches.find(batchId, own(operator)));
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
    return { ...found, items: found.items.map(shown) };
  }

  @Get(':requestRef')
  @ApiOperation({
    summary: 'Read a grant',
    description: 'The local record, with what was won; the provider is not called.',
  })
  @ApiOkResponse({ type: DetailedGrantResponse })
  @ApiErrors('INVALID_REQUEST', 'NOT_FOUND')
  async find(
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<DetailedGrantResponse> {
    const grant = await this.freeSpins.find(requestRef, own(operator));
    return shownWithWinnings(grant, await this.winnings.of(requestRef));
  }

  @Post(':requestRef/status')
  @NoBody()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Ask the provider what is left of a grant',
    description: 'The answer is kept on the record; the state does not change.',
  })
  @ApiOkResponse({ type: GrantStatusResponse })
  @ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED')
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
  @ApiOperation({
    summary: 'Cancel what is left of a grant',
    description:
      'Spins that were taken stand. Where the provider fails the record still shows the spins as live. A second ' +
      'cancel while one is under way is a 409 with `X-Next-Action: wait-then-retry`.',
  })
  @ApiOkResponse({ type: GrantResponse })
  @ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED')
  async cancel(
    @ActorOfRequest() actor: Actor,
    @SignedTenant() operator: Operator,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return shown(await this.freeSpins.cancel(actor, requestRef, own(operator)));
  }

  @Post(':requestRef/resend')
  @NoBody()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Send a FAILED grant once more',
    description:
      'One more callback with the same requestRef: a provider that booked the first one answers its batch.',
  })
  @ApiOkResponse({ type: GrantResponse })
  @ApiErrors(
    'INVALID_REQUEST',
    'NOT_FOUND',
    'CONFLICT',
    'PROVIDER_FAILED',
    'GAME_NOT_CONFIGURED',
    'OPERATOR_NOT_CONFIGURED',
  )
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
