import { Controller, createParamDecorator, Get, Post, Res } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { ApiOkResponse, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { operatorApprovalItem } from '../approvals/approval.js';
import type { ApprovalItem } from '../approvals/approval.response.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { SignedByOperator } from '../api/caller.js';
import { DescribedRoute } from '../api/described-route.js';
import { OwnCursors } from '../api/lists/own-cursors.js';
import { JsonBody } from '../api/validation/json-body.js';
import { ValidQuery } from '../api/validation/query.js';
import { BodyLimit } from '../server/raw-body.guard.js';
import { ApiSigned } from '../signature/api-signed.js';
import type { SignedRequest } from '../signature/tenant.decorator.js';
import {
  OperatorBatchQuery,
  OperatorBatchRequest,
  OperatorGrantQuery,
  OperatorGrantRequest,
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
import { type BatchCreatedResponse, BatchListResponse } from './batches/batch.response.js';
import { BatchesService } from './batches/batches.service.js';
import { GrantListResponse, type GrantResponse } from './grants/grant.response.js';
import type { Scope } from './grants/grantable-games.js';
import { GrantsService } from './grants/grants.service.js';
import { WinningsStore } from './winnings/winnings.store.js';

type Own = Exclude<Scope, 'everybody'>;

/** Passes the scope of the operator that signed the request. */
const OwnScope = createParamDecorator((_: unknown, context: ExecutionContext): Own => ({
  operatorId: context.switchToHttp().getRequest<SignedRequest>().tenant!.id,
}));

const OPERATORS: Audience = {
  path: 'v1/operator/free-spins',
  route: DescribedRoute,
  ScopeOfCaller: OwnScope,
  showApproval: operatorApprovalItem,
};

/** Routes for operators: only their own grants and batches. Contract, sections 5 and 6. */
@ApiTags('Free spins')
@ApiSigned()
@SignedByOperator()
@Controller(OPERATORS.path)
export class FreeSpinsOperatorController extends freeSpinsRoutes(OPERATORS) {
  constructor(
    grants: GrantsService,
    batches: BatchesService,
    winnings: WinningsStore,
    private readonly cursors: OwnCursors,
  ) {
    super(grants, batches, winnings);
  }

  @Post()
  @GrantRoute(OPERATORS, OperatorGrantRequest)
  async grant(
    @ActorOfRequest() actor: Actor,
    @OwnScope() own: Own,
    @JsonBody() request: OperatorGrantRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantResponse | ApprovalItem> {
    const order = { ...request, ...own };
    return answerGrant(await this.grants.grant(actor, order, own), OPERATORS, response);
  }

  @Post('batches')
  @BodyLimit(BATCH_LIMIT_BYTES)
  @BatchRoute(OPERATORS, OperatorBatchRequest)
  async grantBatch(
    @ActorOfRequest() actor: Actor,
    @OwnScope() own: Own,
    @JsonBody() request: OperatorBatchRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchCreatedResponse | ApprovalItem> {
    const order = { ...request, ...own };
    return answerBatch(await this.batches.create(actor, order, own), OPERATORS, response);
  }

  @Get('batches')
  @DescribedRoute('listBatches', {
    summary: 'List batches with their counts, newest first',
    description: 'Only your own batches, page by page.',
    errors: ['INVALID_REQUEST'],
  })
  @ApiQuery({ type: OperatorBatchQuery })
  @ApiOkResponse({ type: BatchListResponse })
  listBatches(@OwnScope() own: Own, @ValidQuery() query: OperatorBatchQuery): Promise<BatchListResponse> {
    return this.cursors.page(own.operatorId, query, (page) => this.batches.list({ ...page, ...own }));
  }

  @Get()
  @DescribedRoute('listGrants', {
    summary: 'List grants, newest first',
    description: 'Only your own grants, page by page.',
    errors: ['INVALID_REQUEST'],
  })
  @ApiQuery({ type: OperatorGrantQuery })
  @ApiOkResponse({ type: GrantListResponse })
  list(@OwnScope() own: Own, @ValidQuery() query: OperatorGrantQuery): Promise<GrantListResponse> {
    return this.cursors.page(own.operatorId, query, (page) => this.grants.list({ ...page, ...own }));
  }
}
