import {
  Controller,
  createParamDecorator,
  Get,
  HttpCode,
  Post,
  Res,
  type StreamableFile,
} from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { approvalItem } from '../approvals/approval.js';
import type { ApprovalItem } from '../approvals/approval.response.js';
import { AdminRoute } from '../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { JsonBody } from '../api/validation/json-body.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { ValidQuery } from '../api/validation/query.js';
import { BodyLimit } from '../server/raw-body.guard.js';
import {
  AdminBatchQuery,
  AdminBatchRequest,
  AdminGrantQuery,
  AdminGrantRequest,
} from './free-spins.request.js';
import {
  answerBatch,
  answerGrant,
  type Audience,
  BATCH_LIMIT_BYTES,
  BatchRoute,
  freeSpinsRoutes,
  GrantRoute,
} from './free-spins.routes.js';
import { BATCH_COLUMNS, type BatchCreatedResponse, BatchListResponse } from './batches/batch.response.js';
import { GRANT_COLUMNS, GrantListResponse, type GrantResponse } from './grants/grant.response.js';
import type { Scope } from './grants/grantable-games.js';
import { PreviewResponse } from './grants/preview.response.js';

const ADMINISTRATORS: Audience = {
  path: 'v1/admin/free-spins',
  route: AdminRoute,
  ScopeOfCaller: createParamDecorator((): Scope => 'everybody'),
  showApproval: approvalItem,
};

const previewOf = (what: 'grant' | 'batch') => ({
  summary: `Preview a ${what}`,
  description: 'The stake, and whether it needs the approval of a second person. No provider is called.',
  // The answer may show how much of the limits is used.
  sensitiveRead: ['free-spins.preview', 'limit:{operatorId}/{currency}', { polled: true }] as const,
  errors: ['GAME_NOT_CONFIGURED', 'OPERATOR_NOT_CONFIGURED'] as const,
});

/** Routes for administrators: the grants and batches of all operators. Contract, section 6. */
@ApiTags('Free spins')
@Controller(ADMINISTRATORS.path)
export class FreeSpinsAdminController extends freeSpinsRoutes(ADMINISTRATORS) {
  @Post()
  @GrantRoute(ADMINISTRATORS, AdminGrantRequest)
  async grant(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse | ApprovalItem> {
    return answerGrant(await this.grants.grant(actor, request, 'everybody'), ADMINISTRATORS, response);
  }

  @Post('preview')
  @HttpCode(200)
  @AdminRoute('previewGrant', { role: 'promotions', ...previewOf('grant'), body: AdminGrantRequest })
  @ApiOkResponse({ type: PreviewResponse })
  preview(@JsonBody() request: AdminGrantRequest): Promise<PreviewResponse> {
    return this.grants.preview(request);
  }

  @Post('batches')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @BatchRoute(ADMINISTRATORS, AdminBatchRequest)
  async grantBatch(
    @ActorOfRequest() actor: Actor,
    @JsonBody() request: AdminBatchRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchCreatedResponse | ApprovalItem> {
    return answerBatch(await this.batches.create(actor, request, 'everybody'), ADMINISTRATORS, response);
  }

  @Post('batches/preview')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @HttpCode(200)
  @AdminRoute('previewBatch', { role: 'promotions', ...previewOf('batch'), body: AdminBatchRequest })
  @ApiOkResponse({ type: PreviewResponse })
  previewBatch(@JsonBody() request: AdminBatchRequest): Promise<PreviewResponse> {
    return this.batches.preview(request);
  }

  @Get('batches')
  @AdminRoute('listBatches', {
    role: 'auditor',
    summary: 'List batches with their counts, newest first',
    sensitiveRead: ['free-spins.batches-list', 'batches', { polled: true }],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(BatchListResponse, AdminBatchQuery, BATCH_COLUMNS)
  listBatches(
    @ValidQuery() query: AdminBatchQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<BatchListResponse | StreamableFile> {
    const read = (page: AdminBatchQuery) => this.batches.list(page);
    return answerList(format, { query, name: 'batches', columns: BATCH_COLUMNS, read });
  }

  @Get()
  @AdminRoute('listGrants', {
    role: 'auditor',
    summary: 'List grants, newest first',
    sensitiveRead: ['free-spins.list', 'grants', { polled: true }],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(GrantListResponse, AdminGrantQuery, GRANT_COLUMNS)
  list(
    @ValidQuery() query: AdminGrantQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<GrantListResponse | StreamableFile> {
    const read = (page: AdminGrantQuery) => this.grants.list(page);
    return answerList(format, { query, name: 'free-spins', columns: GRANT_COLUMNS, read });
  }
}
