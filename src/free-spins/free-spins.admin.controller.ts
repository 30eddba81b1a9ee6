import { Controller, Get, HttpCode, HttpStatus, Post, Res, type StreamableFile } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { RequiresRole } from '../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { SensitiveRead } from '../audit/sensitive-read.js';
import { ApiErrors } from '../openapi/api-errors.js';
import { IdentifierParam, UuidParam } from '../http/validation/path.js';
import { JsonBody, NoBody } from '../http/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../http/lists/list.js';
import { ValidQuery } from '../http/validation/query.js';
import { BodyLimit } from '../http/server/raw-body.guard.js';
import { BatchesService } from './batches.service.js';
import { AdminBatchRequest, AdminGrantQuery, AdminGrantRequest } from './free-spins.request.js';
import {
  BatchCreatedResponse,
  BatchResponse,
  DetailedGrantResponse,
  GRANT_COLUMNS,
  GrantListResponse,
  GrantResponse,
  GrantStatusResponse,
  shown,
  shownBatch,
  shownWithWinnings,
} from './free-spins.response.js';
import { FreeSpinsService } from './free-spins.service.js';
import { BATCH_LIMIT_BYTES, granted } from './granted.js';
import { WinningsService } from './winnings/winnings.service.js';

const PATH = 'v1/admin/free-spins';

/** The promotion tool in an administrator's hands: everybody's grants. Contract, section 6. */
@ApiTags('Administrators')
@Controller(PATH)
export class FreeSpinsAdminController {
  constructor(
    private readonly freeSpins: FreeSpinsService,
    private readonly batches: BatchesService,
    private readonly winnings: WinningsService,
  ) {}

  @Post()
  @RequiresRole('promotions')
  @ApiOperation({
    summary: 'Grant free spins to a player',
    description:
      'Calls the provider once. The same requestRef and body again answer the stored grant and call nobody; a ' +
      'FAILED grant is answered 502, and `Location` names its record.',
  })
  @ApiBody({ type: AdminGrantRequest })
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
    'UNAUTHORIZED',
    'FORBIDDEN',
  )
  async grant(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse> {
    const { grant, replayed } = await this.freeSpins.grant(actor, request, 'everybody');
    if (!replayed) return granted(grant, PATH);
    response.status(HttpStatus.OK);
    return shown(grant);
  }

  @Post('batches')
  @RequiresRole('promotions')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @ApiOperation({
    summary: 'Grant free spins to many players',
    description:
      'Records a grant for each player and calls the provider for one after the other, a few at a time; the ' +
      'batch says how far it is. A provider that is down fails the rest of the batch.',
  })
  @ApiBody({ type: AdminBatchRequest })
  @ApiAcceptedResponse({ type: BatchCreatedResponse, description: 'recorded' })
  @ApiOkResponse({ type: BatchCreatedResponse, description: 'this batchRef is known: the same batch' })
  @ApiErrors(
    'INVALID_REQUEST',
    'CONFLICT',
    'PAYLOAD_TOO_LARGE',
    'GAME_NOT_CONFIGURED',
    'OPERATOR_NOT_CONFIGURED',
    'UNAUTHORIZED',
    'FORBIDDEN',
  )
  async grantBatch(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminBatchRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchCreatedResponse> {
    const { batchId, replayed } = await this.batches.create(actor, request, 'everybody');
    response.status(replayed ? HttpStatus.OK : HttpStatus.ACCEPTED);
    return { batchId };
  }

  @Get('batches/:batchId')
  @RequiresRole('support')
  @SensitiveRead('free-spins.batch-read')
  @ApiOperation({ summary: 'Read a batch', description: 'How far it is, and the grant of each player.' })
  @ApiOkResponse({ type: BatchResponse })
  @ApiErrors('NOT_FOUND', 'UNAUTHORIZED', 'FORBIDDEN')
  async findBatch(@UuidParam('batchId') batchId: string): Promise<BatchResponse> {
    return shownBatch(await this.batches.find(batchId, 'everybody'));
  }

  @Get()
  @RequiresRole('support')
  @SensitiveRead('free-spins.list')
  @ApiOperation({ summary: 'List grants, newest first' })
  @ApiList(GrantListResponse, AdminGrantQuery, GRANT_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  list(
    @ValidQuery() query: AdminGrantQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<GrantListResponse | StreamableFile> {
    const read = async ({ limit, cursor, ...filter }: AdminGrantQuery) => {
      const page = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
      const found = await this.freeSpins.list(filter, page);
      return { ...found, items: found.items.map(shown) };
    };
    return answerList(format, { query, name: 'free-spins', columns: GRANT_COLUMNS, read });
  }

  @Get(':requestRef')
  @RequiresRole('support')
  @SensitiveRead('free-spins.read')
  @ApiOperation({
    summary: 'Read a grant',
    description: 'The local record, with what was won; the provider is not called.',
  })
  @ApiOkResponse({ type: DetailedGrantResponse })
  @ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'UNAUTHORIZED', 'FORBIDDEN')
  async find(@IdentifierParam('requestRef') requestRef: string): Promise<DetailedGrantResponse> {
    const grant = await this.freeSpins.find(requestRef, 'everybody');
    return shownWithWinnings(grant, await this.winnings.of(requestRef));
  }

  @Post(':requestRef/status')
  @NoBody()
  @RequiresRole('support')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Ask the provider what is left of a grant',
    description: 'The answer is kept on the record; the state does not change.',
  })
  @ApiOkResponse({ type: GrantStatusResponse })
  @ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED', 'UNAUTHORIZED', 'FORBIDDEN')
  async pullStatus(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantStatusResponse> {
    return { requestRef, ...(await this.freeSpins.pullStatus(actor, requestRef, 'everybody')) };
  }

  @Post(':requestRef/cancel')
  @NoBody()
  @RequiresRole('promotions')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel what is left of a grant',
    description:
      'Spins that were taken stand. Where the provider fails the record still shows the spins as live. A second ' +
      'cancel while one is under way is a 409 with `X-Next-Action: wait-then-retry`.',
  })
  @ApiOkResponse({ type: GrantResponse })
  @ApiErrors('INVALID_REQUEST', 'NOT_FOUND', 'CONFLICT', 'PROVIDER_FAILED', 'UNAUTHORIZED', 'FORBIDDEN')
  async cancel(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return shown(await this.freeSpins.cancel(actor, requestRef, 'everybody'));
  }

  @Post(':requestRef/resend')
  @NoBody()
  @RequiresRole('promotions')
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
    'UNAUTHORIZED',
    'FORBIDDEN',
  )
  async resend(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return granted(await this.freeSpins.resend(actor, requestRef, 'everybody'), PATH);
  }
}
