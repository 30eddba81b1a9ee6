import { Controller, Get, HttpCode, Post, type StreamableFile } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AdminRoute } from '../admin/admin-route.js';
import { type Actor, ActorOfRequest } from '../audit/actor.js';
import { AcceptedFormat, answerList, ApiList, type ListFormat } from '../api/lists/list.js';
import { JsonBody } from '../api/validation/json-body.js';
import { UuidParam } from '../api/validation/path.js';
import { ValidQuery } from '../api/validation/query.js';
import {
  AssignRequest,
  AssignSeveralRequest,
  AttentionQuery,
  CloseRequest,
  CloseSeveralRequest,
  CommentRequest,
  SnoozeRequest,
  SnoozeSeveralRequest,
} from './attention.request.js';
import {
  ATTENTION_COLUMNS,
  AttentionListResponse,
  AttentionResponse,
  SeveralItemsResponse,
} from './attention.response.js';
import { AttentionService } from './attention.service.js';

const SEVERAL =
  'Each item is changed and recorded as by the route for one item. An item that is closed or unknown is skipped.';

/** Contract, section 9, "Attention". */
@ApiTags('Attention')
@Controller('v1/admin/attention')
export class AttentionAdminController {
  constructor(private readonly attention: AttentionService) {}

  @Get()
  @AdminRoute('listAttention', {
    role: 'auditor',
    summary: 'List attention items, newest first',
    description:
      'Transactions that are parked, or TIMED_OUT for more than five minutes; rounds that have been open for ' +
      'more than a day, one item for each provider and operator, counted hourly; FAILED grants; flagged ' +
      'winnings; undelivered revocations; waiting approvals; findings of `reconcile --record`. An item appears ' +
      'within ten seconds of its cause, and closes automatically when the cause is gone. `state=OPEN` selects ' +
      'those that wait for a person.',
    sensitiveRead: ['attention.list', 'attention', { polled: true }],
    errors: ['INVALID_REQUEST'],
  })
  @ApiList(AttentionListResponse, AttentionQuery, ATTENTION_COLUMNS)
  list(
    @ValidQuery() query: AttentionQuery,
    @AcceptedFormat() format: ListFormat,
  ): Promise<AttentionListResponse | StreamableFile> {
    const read = (page: AttentionQuery) => this.attention.list(page);
    return answerList(format, { query, name: 'attention', columns: ATTENTION_COLUMNS, read });
  }

  @Get(':id')
  @AdminRoute('getAttentionItem', {
    role: 'auditor',
    summary: 'Read an item, with its comments and history',
    sensitiveRead: ['attention.read', 'attention:{id}', { polled: true }],
    errors: ['NOT_FOUND'],
  })
  @ApiOkResponse({ type: AttentionResponse })
  find(@UuidParam('id') id: string): Promise<AttentionResponse> {
    return this.attention.find(id);
  }

  @Post('assign')
  @HttpCode(200)
  @AdminRoute('assignAttentionItems', {
    role: 'operations',
    summary: 'Assign several items, or remove their assignments',
    description: SEVERAL,
    body: AssignSeveralRequest,
    audited: ['attention.assign', 'attention'],
  })
  @ApiOkResponse({ type: SeveralItemsResponse })
  assignSeveral(
    @ActorOfRequest() actor: Actor,
    @JsonBody() { ids, assignee }: AssignSeveralRequest,
  ): Promise<SeveralItemsResponse> {
    return this.attention.changeSeveral(actor, ids, 'assign', assignee);
  }

  @Post('snooze')
  @HttpCode(200)
  @AdminRoute('snoozeAttentionItems', {
    role: 'operations',
    summary: 'Snooze several items: they are OPEN again at the given time',
    description: SEVERAL,
    body: SnoozeSeveralRequest,
    audited: ['attention.snooze', 'attention'],
  })
  @ApiOkResponse({ type: SeveralItemsResponse })
  snoozeSeveral(
    @ActorOfRequest() actor: Actor,
    @JsonBody() { ids, until }: SnoozeSeveralRequest,
  ): Promise<SeveralItemsResponse> {
    return this.attention.snoozeSeveral(actor, ids, until);
  }

  @Post('close')
  @HttpCode(200)
  @AdminRoute('closeAttentionItems', {
    role: 'operations',
    summary: 'Close several items: they stay closed as long as their causes last',
    description: SEVERAL,
    body: CloseSeveralRequest,
    audited: ['attention.close', 'attention'],
  })
  @ApiOkResponse({ type: SeveralItemsResponse })
  closeSeveral(
    @ActorOfRequest() actor: Actor,
    @JsonBody() { ids, reason }: CloseSeveralRequest,
  ): Promise<SeveralItemsResponse> {
    return this.attention.changeSeveral(actor, ids, 'close', reason);
  }

  @Post(':id/assign')
  @HttpCode(200)
  @AdminRoute('assignAttentionItem', {
    role: 'operations',
    summary: 'Assign an item, or remove its assignment',
    body: AssignRequest,
    audited: ['attention.assign', 'attention:{id}'],
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @ApiOkResponse({ type: AttentionResponse })
  assign(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { assignee }: AssignRequest,
  ): Promise<AttentionResponse> {
    return this.attention.change(actor, id, 'assign', assignee);
  }

  @Post(':id/snooze')
  @HttpCode(200)
  @AdminRoute('snoozeAttentionItem', {
    role: 'operations',
    summary: 'Snooze an item: it is OPEN again at the given time',
    body: SnoozeRequest,
    audited: ['attention.snooze', 'attention:{id}'],
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @ApiOkResponse({ type: AttentionResponse })
  snooze(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { until }: SnoozeRequest,
  ): Promise<AttentionResponse> {
    return this.attention.snooze(actor, id, until);
  }

  @Post(':id/comments')
  @AdminRoute('commentOnAttentionItem', {
    role: 'operations',
    summary: 'Comment on an item, open or closed',
    body: CommentRequest,
    audited: ['attention.comment', 'attention:{id}'],
    errors: ['NOT_FOUND'],
  })
  @ApiCreatedResponse({ type: AttentionResponse })
  comment(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { text }: CommentRequest,
  ): Promise<AttentionResponse> {
    return this.attention.change(actor, id, 'comment', text);
  }

  @Post(':id/close')
  @HttpCode(200)
  @AdminRoute('closeAttentionItem', {
    role: 'operations',
    summary: 'Close an item: it stays closed as long as its cause lasts',
    body: CloseRequest,
    audited: ['attention.close', 'attention:{id}'],
    errors: ['NOT_FOUND', 'CONFLICT'],
  })
  @ApiOkResponse({ type: AttentionResponse })
  close(
    @ActorOfRequest() actor: Actor,
    @UuidParam('id') id: string,
    @JsonBody() { reason }: CloseRequest,
  ): Promise<AttentionResponse> {
    return this.attention.change(actor, id, 'close', reason);
  }
}
