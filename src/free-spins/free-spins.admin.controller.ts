import { Controller, Get, HttpCode, Post, Res, type StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type ApprovalItem, approvalItem } from '../approvals/approval.request.js';
import { RequiresRole } from '../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { Audited } from '../audit/audited-route.js';
import { SensitiveRead } from '../audit/sensitive-read.js';
import { ApiErrors } from '../api/api-errors.js';
import { IdentifierParam, UuidParam } from '../api/validation/path.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ValidQuery } from '../api/validation/query.js';
import { BodyLimit } from '../server/raw-body.guard.js';
import { BatchesService } from './batches/batches.service.js';
import {
  ApiCancel,
  ApiCancelBatch,
  ApiFindBatch,
  ApiFindGrant,
  ApiGrant,
  ApiGrantBatch,
  ApiPreview,
  ApiPullStatus,
  ApiResend,
  ApiResendBatch,
  ApiVoid,
} from './free-spins.operations.js';
import {
  AdminBatchQuery,
  AdminBatchRequest,
  AdminGrantQuery,
  AdminGrantRequest,
  FindBatchQuery,
  ResendBatchRequest,
} from './free-spins.request.js';
import {
  BATCH_COLUMNS,
  BatchCreatedResponse,
  BatchItem,
  BatchListResponse,
  BatchResponse,
  batchItem,
} from './batches/batch.response.js';
import {
  DetailedGrantResponse,
  GRANT_COLUMNS,
  GrantListResponse,
  GrantResponse,
  GrantStatusResponse,
  grantResponse,
  detailedGrantResponse,
} from './grants/grant.response.js';
import { PreviewResponse, previewResponse } from './grants/preview.response.js';
import { GrantsService } from './grants/grants.service.js';
import { answerBatch, answerGrant, BATCH_LIMIT_BYTES, granted, voided } from './granted.js';
import { WinningsService } from './winnings/winnings.service.js';

const PATH = 'v1/admin/free-spins';

/** Routes for administrators: the grants and batches of all operators. Contract, section 6. */
@ApiTags('Free spins')
@Controller(PATH)
export class FreeSpinsAdminController {
  constructor(
    private readonly grants: GrantsService,
    private readonly batches: BatchesService,
    private readonly winnings: WinningsService,
  ) {}

  @Post()
  @RequiresRole('promotions')
  @Audited('free-spins.grant', 'grant:{requestRef}')
  @ApiGrant(AdminGrantRequest)
  async grant(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse | ApprovalItem> {
    return answerGrant(await this.grants.grant(actor, request, 'everybody'), PATH, response, approvalItem);
  }

  @Post('preview')
  @RequiresRole('promotions')
  @HttpCode(200)
  @ApiPreview('grant', AdminGrantRequest)
  async preview(@JsonBody() request: AdminGrantRequest): Promise<PreviewResponse> {
    return previewResponse(request, 1, await this.grants.preview(request));
  }

  @Post('batches')
  @RequiresRole('promotions')
  @Audited('free-spins.batch', 'batch')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @ApiGrantBatch(AdminBatchRequest)
  async grantBatch(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminBatchRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchCreatedResponse | ApprovalItem> {
    return answerBatch(await this.batches.create(actor, request, 'everybody'), response, approvalItem);
  }

  @Post('batches/preview')
  @RequiresRole('promotions')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @HttpCode(200)
  @ApiPreview('batch', AdminBatchRequest)
  async previewBatch(@JsonBody() request: AdminBatchRequest): Promise<PreviewResponse> {
    return previewResponse(request, request.playerRefs.length, await this.batches.preview(request));
  }

  @Get('batches/:batchId')
  @RequiresRole('support')
  @SensitiveRead('free-spins.batch-read', 'batch:{batchId}', { polled: true })
  @ApiFindBatch()
  async findBatch(
    @UuidParam('batchId') batchId: string,
    @ValidQuery() { items }: FindBatchQuery,
  ): Promise<BatchResponse> {
    const batch = batchItem(await this.batches.progress(batchId, 'everybody'));
    if (items === 'false') return batch;
    return { ...batch, items: (await this.batches.items(batchId)).map(grantResponse) };
  }

  @Get('batches')
  @RequiresRole('support')
  @SensitiveRead('free-spins.batches-list', 'batches')
  @ApiOperation({ operationId: 'listBatches', summary: 'List batches with their counts, newest first' })
  @ApiList(BatchListResponse, AdminBatchQuery, BATCH_COLUMNS)
  @ApiErrors('INVALID_REQUEST')
  listBatches(
    @ValidQuery() query: AdminBatchQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<BatchListResponse | StreamableFile> {
    const read = async (page: AdminBatchQuery) => {
      const found = await this.batches.list(page, page);
      return { ...found, items: found.items.map(batchItem) };
    };
    return answerList(format, { query, name: 'batches', columns: BATCH_COLUMNS, read });
  }

  @Post('batches/:batchId/cancel')
  @NoBody()
  @RequiresRole('promotions')
  @Audited('free-spins.batch-cancel', 'batch:{batchId}')
  @HttpCode(202)
  @ApiCancelBatch()
  async cancelBatch(
    @ActorOfRequest() actor: Actor,
    @UuidParam('batchId') batchId: string,
  ): Promise<BatchItem> {
    return batchItem(await this.batches.cancel(actor, batchId, 'everybody'));
  }

  @Post('batches/:batchId/resend')
  @RequiresRole('promotions')
  @Audited('free-spins.batch-resend', 'batch:{batchId}')
  @HttpCode(202)
  @ApiResendBatch()
  async resendBatch(
    @ActorOfRequest() actor: Actor,
    @UuidParam('batchId') batchId: string,
    @JsonBody() { includeUnknown = false }: ResendBatchRequest,
  ): Promise<BatchItem> {
    return batchItem(await this.batches.resend(actor, batchId, includeUnknown, 'everybody'));
  }

  @Get()
  @RequiresRole('support')
  @SensitiveRead('free-spins.list', 'grants')
  @ApiOperation({ operationId: 'listGrants', summary: 'List grants, newest first' })
  @ApiList(GrantListResponse, AdminGrantQuery, GRANT_COLUMNS)
  @ApiErrors('INVALID_REQUEST')
  list(
    @ValidQuery() query: AdminGrantQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<GrantListResponse | StreamableFile> {
    const read = async (page: AdminGrantQuery) => {
      const found = await this.grants.list(page, page);
      return { ...found, items: found.items.map(grantResponse) };
    };
    return answerList(format, { query, name: 'free-spins', columns: GRANT_COLUMNS, read });
  }

  @Get(':requestRef')
  @RequiresRole('support')
  @SensitiveRead('free-spins.read', 'grant:{requestRef}', { polled: true })
  @ApiFindGrant()
  async find(@IdentifierParam('requestRef') requestRef: string): Promise<DetailedGrantResponse> {
    const grant = await this.grants.find(requestRef, 'everybody');
    return detailedGrantResponse(grant, await this.winnings.of(requestRef));
  }

  @Post(':requestRef/status')
  @NoBody()
  @RequiresRole('support')
  @Audited('free-spins.status', 'grant:{requestRef}', { polled: true })
  @HttpCode(200)
  @ApiPullStatus()
  async pullStatus(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantStatusResponse> {
    return { requestRef, ...(await this.grants.pullStatus(actor, requestRef, 'everybody')) };
  }

  @Post(':requestRef/cancel')
  @NoBody()
  @RequiresRole('promotions')
  @Audited('free-spins.cancel', 'grant:{requestRef}')
  @HttpCode(200)
  @ApiCancel()
  async cancel(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return grantResponse(await this.grants.cancel(actor, requestRef, 'everybody'));
  }

  @Post(':requestRef/resend')
  @NoBody()
  @RequiresRole('promotions')
  @Audited('free-spins.resend', 'grant:{requestRef}')
  @HttpCode(200)
  @ApiResend()
  async resend(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return granted(await this.grants.resend(actor, requestRef, 'everybody'), PATH);
  }

  @Post(':requestRef/void')
  @NoBody()
  @RequiresRole('promotions')
  @Audited('free-spins.void', 'grant:{requestRef}')
  @HttpCode(200)
  @ApiVoid()
  async void(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return voided(await this.grants.void(actor, requestRef, 'everybody'), PATH);
  }
}
