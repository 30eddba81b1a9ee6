import { Controller, Get, HttpCode, HttpStatus, Post, Res, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
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
import {
  ApiCancel,
  ApiFindBatch,
  ApiFindGrant,
  ApiGrant,
  ApiGrantBatch,
  ApiPullStatus,
  ApiResend,
} from './free-spins.operations.js';
import { AdminBatchRequest, AdminGrantQuery, AdminGrantRequest } from './free-spins.request.js';
import {
  BatchCreatedResponse,
  BatchResponse,
  DetailedGrantResponse,
  GRANT_COLUMNS,
  GrantListResponse,
  GrantResponse,
  GrantStatusResponse,
  grantResponse,
  batchResponse,
  detailedGrantResponse,
} from './free-spins.response.js';
import { FreeSpinsService } from './free-spins.service.js';
import { BATCH_LIMIT_BYTES, granted } from './granted.js';
import { WinningsService } from './winnings/winnings.service.js';

const PATH = 'v1/admin/free-spins';

/** The promotion tool for administrators, who reach the grants of all operators. Contract, section 6. */
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
  @ApiGrant(AdminGrantRequest)
  async grant(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse> {
    const { grant, replayed } = await this.freeSpins.grant(actor, request, 'everybody');
    if (!replayed) return granted(grant, PATH);
    response.status(HttpStatus.OK);
    return grantResponse(grant);
  }

  @Post('batches')
  @RequiresRole('promotions')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @ApiGrantBatch(AdminBatchRequest)
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
  @ApiFindBatch()
  async findBatch(@UuidParam('batchId') batchId: string): Promise<BatchResponse> {
    return batchResponse(await this.batches.find(batchId, 'everybody'));
  }

  @Get()
  @RequiresRole('support')
  @SensitiveRead('free-spins.list')
  @ApiOperation({ summary: 'List grants, newest first' })
  @ApiList(GrantListResponse, AdminGrantQuery, GRANT_COLUMNS)
  @ApiErrors('INVALID_REQUEST')
  list(
    @ValidQuery() query: AdminGrantQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<GrantListResponse | StreamableFile> {
    const read = async ({ limit, cursor, ...filter }: AdminGrantQuery) => {
      const page = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
      const found = await this.freeSpins.list(filter, page);
      return { ...found, items: found.items.map(grantResponse) };
    };
    return answerList(format, { query, name: 'free-spins', columns: GRANT_COLUMNS, read });
  }

  @Get(':requestRef')
  @RequiresRole('support')
  @SensitiveRead('free-spins.read')
  @ApiFindGrant()
  async find(@IdentifierParam('requestRef') requestRef: string): Promise<DetailedGrantResponse> {
    const grant = await this.freeSpins.find(requestRef, 'everybody');
    return detailedGrantResponse(grant, await this.winnings.of(requestRef));
  }

  @Post(':requestRef/status')
  @NoBody()
  @RequiresRole('support')
  @HttpCode(200)
  @ApiPullStatus()
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
  @ApiCancel()
  async cancel(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return grantResponse(await this.freeSpins.cancel(actor, requestRef, 'everybody'));
  }

  @Post(':requestRef/resend')
  @NoBody()
  @RequiresRole('promotions')
  @HttpCode(200)
  @ApiResend()
  async resend(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return granted(await this.freeSpins.resend(actor, requestRef, 'everybody'), PATH);
  }
}
