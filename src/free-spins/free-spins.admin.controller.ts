import { Controller, Get, HttpCode, Post, Res, type StreamableFile } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type ApprovalItem, approvalItem } from '../approvals/approval.request.js';
import { AdminRoute } from '../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { IdentifierParam, UuidParam } from '../api/validation/path.js';
import { JsonBody, NoBody } from '../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ValidQuery } from '../api/validation/query.js';
import { BodyLimit } from '../server/raw-body.guard.js';
import { BatchesService } from './batches/batches.service.js';
import { ApiBatchResponses, ApiGrantResponses, OPERATIONS } from './free-spins.operations.js';
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
import {
  answerBatch,
  answerGrant,
  answerSent,
  answerVoided,
  BATCH_LIMIT_BYTES,
} from './free-spins.response.js';
import { WinningsService } from './winnings/winnings.service.js';

const PATH = 'v1/admin/free-spins';

const previewOf = (what: 'grant' | 'batch') => ({
  summary: `Preview a ${what}`,
  description: 'The stake, and whether it needs the approval of a second person. No provider is called.',
  errors: ['GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'] as const,
});

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
  @AdminRoute('grantFreeSpins', {
    role: 'promotions',
    ...OPERATIONS.grantFreeSpins,
    body: AdminGrantRequest,
    audited: ['free-spins.grant', 'grant:{requestRef}'],
  })
  @ApiGrantResponses()
  async grant(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse | ApprovalItem> {
    return answerGrant(await this.grants.grant(actor, request, 'everybody'), PATH, response, approvalItem);
  }

  @Post('preview')
  @HttpCode(200)
  @AdminRoute('previewGrant', { role: 'promotions', ...previewOf('grant'), body: AdminGrantRequest })
  @ApiOkResponse({ type: PreviewResponse })
  async preview(@JsonBody() request: AdminGrantRequest): Promise<PreviewResponse> {
    return previewResponse(request, 1, await this.grants.preview(request));
  }

  @Post('batches')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @AdminRoute('grantFreeSpinsBatch', {
    role: 'promotions',
    ...OPERATIONS.grantFreeSpinsBatch,
    body: AdminBatchRequest,
    audited: ['free-spins.batch', 'batch'],
  })
  @ApiBatchResponses()
  async grantBatch(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminBatchRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchCreatedResponse | ApprovalItem> {
    return answerBatch(await this.batches.create(actor, request, 'everybody'), response, approvalItem);
  }

  @Post('batches/preview')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @HttpCode(200)
  @AdminRoute('previewBatch', { role: 'promotions', ...previewOf('batch'), body: AdminBatchRequest })
  @ApiOkResponse({ type: PreviewResponse })
  async previewBatch(@JsonBody() request: AdminBatchRequest): Promise<PreviewResponse> {
    return previewResponse(request, request.playerRefs.length, await this.batches.preview(request));
  }

  @Get('batches/:batchId')
  @AdminRoute('getBatch', {
    role: 'support',
    ...OPERATIONS.getBatch,
    sensitiveRead: ['free-spins.batch-read', 'batch:{batchId}', { polled: true }],
  })
  @ApiQuery({ type: FindBatchQuery })
  @ApiOkResponse({ type: BatchResponse })
  async findBatch(
    @UuidParam('batchId') batchId: string,
    @ValidQuery() { items }: FindBatchQuery,
  ): Promise<BatchResponse> {
    const batch = batchItem(await this.batches.progress(batchId, 'everybody'));
    if (items === 'false') return batch;
    return { ...batch, items: (await this.batches.items(batchId)).map(grantResponse) };
  }

  @Get('batches')
  @AdminRoute('listBatches', {
    role: 'support',
    summary: 'List batches with their counts, newest first',
    sensitiveRead: ['free-spins.batches-list', 'batches'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(BatchListResponse, AdminBatchQuery, BATCH_COLUMNS)
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
  @HttpCode(202)
  @AdminRoute('cancelBatch', {
    role: 'promotions',
    ...OPERATIONS.cancelBatch,
    audited: ['free-spins.batch-cancel', 'batch:{batchId}'],
  })
  @ApiAcceptedResponse({ type: BatchItem })
  async cancelBatch(
    @ActorOfRequest() actor: Actor,
    @UuidParam('batchId') batchId: string,
  ): Promise<BatchItem> {
    return batchItem(await this.batches.cancel(actor, batchId, 'everybody'));
  }

  @Post('batches/:batchId/resend')
  @HttpCode(202)
  @AdminRoute('resendBatch', {
    role: 'promotions',
    ...OPERATIONS.resendBatch,
    audited: ['free-spins.batch-resend', 'batch:{batchId}'],
  })
  @ApiBody({ type: ResendBatchRequest, required: false })
  @ApiAcceptedResponse({ type: BatchItem })
  async resendBatch(
    @ActorOfRequest() actor: Actor,
    @UuidParam('batchId') batchId: string,
    @JsonBody() { includeUnknown = false }: ResendBatchRequest,
  ): Promise<BatchItem> {
    return batchItem(await this.batches.resend(actor, batchId, includeUnknown, 'everybody'));
  }

  @Get()
  @AdminRoute('listGrants', {
    role: 'support',
    summary: 'List grants, newest first',
    sensitiveRead: ['free-spins.list', 'grants'],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(GrantListResponse, AdminGrantQuery, GRANT_COLUMNS)
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
  @AdminRoute('getGrant', {
    role: 'support',
    ...OPERATIONS.getGrant,
    sensitiveRead: ['free-spins.read', 'grant:{requestRef}', { polled: true }],
  })
  @ApiOkResponse({ type: DetailedGrantResponse })
  async find(@IdentifierParam('requestRef') requestRef: string): Promise<DetailedGrantResponse> {
    const grant = await this.grants.find(requestRef, 'everybody');
    return detailedGrantResponse(grant, await this.winnings.of(requestRef));
  }

  @Post(':requestRef/status')
  @NoBody()
  @HttpCode(200)
  @AdminRoute('pullGrantStatus', {
    role: 'support',
    ...OPERATIONS.pullGrantStatus,
    audited: ['free-spins.status', 'grant:{requestRef}', { polled: true }],
  })
  @ApiOkResponse({ type: GrantStatusResponse })
  async pullStatus(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantStatusResponse> {
    return { requestRef, ...(await this.grants.pullStatus(actor, requestRef, 'everybody')) };
  }

  @Post(':requestRef/cancel')
  @NoBody()
  @HttpCode(200)
  @AdminRoute('cancelGrant', {
    role: 'promotions',
    ...OPERATIONS.cancelGrant,
    audited: ['free-spins.cancel', 'grant:{requestRef}'],
  })
  @ApiOkResponse({ type: GrantResponse })
  async cancel(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return grantResponse(await this.grants.cancel(actor, requestRef, 'everybody'));
  }

  @Post(':requestRef/resend')
  @NoBody()
  @HttpCode(200)
  @AdminRoute('resendGrant', {
    role: 'promotions',
    ...OPERATIONS.resendGrant,
    audited: ['free-spins.resend', 'grant:{requestRef}'],
  })
  @ApiOkResponse({ type: GrantResponse })
  async resend(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return answerSent(await this.grants.resend(actor, requestRef, 'everybody'), PATH);
  }

  @Post(':requestRef/void')
  @NoBody()
  @HttpCode(200)
  @AdminRoute('voidGrant', {
    role: 'promotions',
    ...OPERATIONS.voidGrant,
    audited: ['free-spins.void', 'grant:{requestRef}'],
  })
  @ApiOkResponse({ type: GrantResponse, description: 'CANCELLED' })
  async void(
    @ActorOfRequest() actor: Actor,
    @IdentifierParam('requestRef') requestRef: string,
  ): Promise<GrantResponse> {
    return answerVoided(await this.grants.void(actor, requestRef, 'everybody'), PATH);
  }
}
