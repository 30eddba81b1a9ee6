import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../api/lists/list.js';
import { columnsOf, itemFrom, present, type RowOf } from '../api/lists/item.js';
import { ATTENTION_KINDS, ATTENTION_STATES, type AttentionKind, type AttentionState } from './attention.js';

/** An item of the attention queue. Fields that do not apply are absent. */
export class AttentionItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ enum: ATTENTION_KINDS, example: 'transaction' })
  kind: AttentionKind;

  @ApiProperty({
    example: 'sandbox-provider/bet-1001',
    description:
      'Identifies the cause. Transaction, winnings: providerId/transactionId. Grant: requestRef, or the batchId of a batch, ' +
      'with `/expiry` if its grants could not be cancelled at their expiresAt, or `/cancel` if their cancel failed before. ' +
      'Revocation: sessionId. ' +
      'Round: providerId/operatorId. Reconciliation: operatorId/providerId/transactionId/finding. Approval: approvalId.',
  })
  subject: string;

  @ApiProperty({ enum: ATTENTION_STATES, example: 'OPEN' })
  state: AttentionState;

  @ApiProperty({ example: 'BET bet-1001 of 2.50 EUR for player-42: the resolver has given up' })
  summary: string;

  @ApiPropertyOptional({ example: 'sandbox-operator' })
  operatorId?: string;

  @ApiPropertyOptional({ example: 'sandbox-provider' })
  providerId?: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 3,
    description: 'For rounds, and for the grants of a batch: their number',
  })
  count?: number;

  @ApiPropertyOptional({
    example: '/v1/admin/transactions/sandbox-provider/bet-1001',
    description: 'Where the cause is shown',
  })
  href?: string;

  @ApiPropertyOptional({ example: 'Ada' })
  assignee?: string;

  @ApiPropertyOptional({ description: 'For a SNOOZED item: when it becomes OPEN again' })
  snoozedUntil?: Date;

  @ApiProperty()
  createdAt: Date;

  @ApiPropertyOptional()
  closedAt?: Date;

  @ApiPropertyOptional({ example: 'croupier', description: '`croupier` if its cause was gone' })
  closedBy?: string;

  @ApiPropertyOptional({ example: 'Night shift' })
  closedByName?: string;

  @ApiPropertyOptional({ description: 'Why it was closed' })
  reason?: string;
}

export const ATTENTION_COLUMNS = columnsOf(AttentionItem);

export class AttentionListResponse extends listOf(AttentionItem) {}

export class AttentionComment {
  @ApiProperty()
  at: Date;

  @ApiProperty({ example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11' })
  by: string;

  @ApiPropertyOptional({ example: 'Night shift' })
  byName?: string;

  @ApiProperty({ example: 'asked the operator, ticket 4711' })
  text: string;
}

export class AttentionHistoryEntry {
  @ApiProperty()
  at: Date;

  @ApiProperty({ enum: ['opened', 'assigned', 'unassigned', 'snoozed', 'woken', 'commented', 'closed'] })
  event: string;

  @ApiProperty({ example: 'croupier', description: '`croupier` if no person did it' })
  by: string;

  @ApiPropertyOptional({ example: 'Night shift' })
  byName?: string;

  @ApiPropertyOptional({
    description: 'The assignee, the end of the snooze, the comment, or why it was woken or closed',
  })
  text?: string;
}

export class AttentionResponse extends AttentionItem {
  @ApiProperty({ type: [AttentionComment], description: 'Oldest first' })
  comments: AttentionComment[];

  @ApiProperty({ type: [AttentionHistoryEntry], description: 'Oldest first, at most the latest 500' })
  history: AttentionHistoryEntry[];
}

export class SkippedItem {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({
    example: 'the item is closed',
    description: 'The error of the same request for this item alone',
  })
  error: string;
}

export class SeveralItemsResponse {
  @ApiProperty({
    type: [String],
    description: 'The items that were changed',
    example: ['0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11'],
  })
  done: string[];

  @ApiProperty({ type: [SkippedItem], description: 'The items that were not changed' })
  skipped: SkippedItem[];
}

export type Attention = RowOf<AttentionItem>;
export type AttentionEvent = RowOf<AttentionHistoryEntry>;

export function attentionItem(item: Attention): AttentionItem {
  return itemFrom(ATTENTION_COLUMNS, item);
}

/** @param events oldest first */
export function attentionResponse(item: Attention, events: readonly AttentionEvent[]): AttentionResponse {
  const comments = events
    .filter(({ event }) => event === 'commented')
    .map(({ at, by, byName, text }) => present<AttentionComment>({ at, by, byName, text: text ?? '' }));
  const history = events.map((event) => present<AttentionHistoryEntry>(event));
  return { ...attentionItem(item), comments, history };
}
