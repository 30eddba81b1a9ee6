import { Controller, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequiresRole } from '../admin/requires-role.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { Audited } from '../audit/audited-route.js';
import { SensitiveRead } from '../audit/sensitive-read.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { JsonBody } from '../api/validation/json-body.js';
import { UuidParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import { ApiErrors } from '../api/api-errors.js';
import {
  AssignRequest,
  AttentionQuery,
  CloseRequest,
  CommentRequest,
  SnoozeRequest,
} from './attention.request.js';
import {
  ATTENTION_COLUMNS,
  attentionItem,
  AttentionListResponse,
  attentionResponse,
  AttentionResponse,
} from './attention.response.js';
import { AttentionService } from './attention.service.js';

/** Contract, section 9, "Attention". */
@ApiTags('Attention')
@Controller('v1/admin/attention')
export class AttentionAdminController {
  constructor(private readonly attention: AttentionService) {}

  @Get()
  @RequiresRole('support')
  @SensitiveRead('attention.list', 'attention', { polled: true })
  @ApiOperation({
    operationId: 'listAttention',
    summary: 'List the items that wait for a person, newest first',
    description:
      'Transactions that are parked, or TIMED_OUT for more than five minutes; rounds that have been open for ' +
      'more than a day, one item for each provider and operator, counted hourly; FAILED grants; flagged ' +
      'winnings; undelivered revocations; waiting approvals; findings of `reconcile --record`. An item appears ' +
      'within ten seconds of its cause, and closes automatically when the cause is gone.',
  })
  @ApiList(AttentionListResponse, AttentionQuery, ATTENTION_COLUMNS)
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN')
  list(
    @ValidQuery() query: AttentionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<AttentionListResponse | StreamableFile> {
    const read = async (page: AttentionQuery) => {
      const found = await this.attention.list(page);
      return { ...found, items: found.items.map(attentionItem) };
    };
    return answerList(format, { query, name: 'attention', columns: ATTENTION_COLUMNS, read });
  }

  @Get(':id')
  @RequiresRole('support')
  @SensitiveRead('attention.read', 'attention:{id}', { polled: true })
  @ApiOperation({ operationId: 'getAttentionItem', summary: 'Read an item, with its comments and history' })
  @ApiOkResponse({ type: AttentionResponse })
  @ApiErrors('UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async find(@UuidParam('id') id: string): Promise<AttentionResponse> {
    return attentionResponse(await this.attention.find(id));
  }

  @Post(':id/assign')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('attention.assign', 'attention:{id}')
  @ApiOperation({ operationId: 'assignAttentionItem', summary: 'Assign an item, or remove its assignment' })
  @ApiBody({ type: AssignRequest })
  @ApiOkResponse({ type: AttentionResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT')
  async assign(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { assignee }: AssignRequest,
  ): Promise<AttentionResponse> {
    return attentionResponse(await this.attention.assign(actor, id, assignee ?? null));
  }

  @Post(':id/snooze')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('attention.snooze', 'attention:{id}')
  @ApiOperation({
    operationId: 'snoozeAttentionItem',
    summary: 'Snooze an item: it is OPEN again at the given time',
  })
  @ApiBody({ type: SnoozeRequest })
  @ApiOkResponse({ type: AttentionResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT')
  async snooze(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { until }: SnoozeRequest,
  ): Promise<AttentionResponse> {
    return attentionResponse(await this.attention.snooze(actor, id, until));
  }

  @Post(':id/comments')
  @RequiresRole('operations')
  @Audited('attention.comment', 'attention:{id}')
  @ApiOperation({ operationId: 'commentOnAttentionItem', summary: 'Comment on an item, open or closed' })
  @ApiBody({ type: CommentRequest })
  @ApiCreatedResponse({ type: AttentionResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND')
  async comment(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { text }: CommentRequest,
  ): Promise<AttentionResponse> {
    return attentionResponse(await this.attention.comment(actor, id, text));
  }

  @Post(':id/close')
  @HttpCode(200)
  @RequiresRole('operations')
  @Audited('attention.close', 'attention:{id}')
  @ApiOperation({
    operationId: 'closeAttentionItem',
    summary: 'Close an item: it stays closed as long as its cause lasts',
  })
  @ApiBody({ type: CloseRequest })
  @ApiOkResponse({ type: AttentionResponse })
  @ApiErrors('INVALID_REQUEST', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT')
  async close(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { reason }: CloseRequest,
  ): Promise<AttentionResponse> {
    return attentionResponse(await this.attention.close(actor, id, reason));
  }
}
