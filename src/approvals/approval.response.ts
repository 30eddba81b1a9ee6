import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../api/lists/list.js';
import { columnsOf } from '../api/lists/item.js';
import type { AllLimits } from '../limits/rules/in-effect.js';
import { APPROVAL_STATES, type ApprovalState } from './approval.request.js';
import type { GuardedActionKind } from './guarded-action.js';

const KINDS = [
  'grant',
  'batch',
  'adjustment',
  'settlement',
  'limit',
] as const satisfies readonly GuardedActionKind[];

export class ApprovalLimit {
  @ApiProperty({ example: 'maxGrantMinor', description: 'the field of the limit' })
  name: string;

  @ApiProperty({ type: 'integer', example: 10_000 })
  limitMinor: number;

  @ApiProperty({
    type: 'integer',
    example: 0,
    description: 'the stakes and adjustments carried out in the 24 hours before the request',
  })
  usedMinor: number;
}

/** A request for a second person's decision about an action, and the decision once it is made. */
export class ApprovalItem {
  @ApiProperty({ format: 'uuid' })
  approvalId: string;

  @ApiProperty({ enum: APPROVAL_STATES, example: 'WAITING' })
  state: ApprovalState;

  @ApiProperty({ enum: KINDS, example: 'grant' })
  kind: GuardedActionKind;

  @ApiProperty({ example: '1000 spins of 1000.00 EUR for player-42 in sandbox-slots: 1000000.00 EUR' })
  summary: string;

  @ApiProperty({
    example: 'summer-2026',
    description:
      'the requestRef, batchRef (or batchId), adjustmentId, providerId/transactionId, or operatorId/currency of limits',
  })
  reference: string;

  @ApiProperty({ example: 'sandbox-operator', description: "`*` for the installation's default limits" })
  operatorId: string;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 100_000_000,
    description: 'For a grant or batch: spins × betAmountMinor × players, in minor units',
  })
  stakeMinor?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'For an adjustment or a transaction: minor units, signed',
  })
  amountMinor?: number;

  @ApiPropertyOptional({ type: ApprovalLimit, description: 'the limit because of which it needs approval' })
  limit?: ApprovalLimit;

  @ApiPropertyOptional({
    type: Object,
    example: { maxGrantMinor: 10_000 },
    description: 'For a change of limits: the limits in effect when it was requested, in minor units',
  })
  before?: Partial<AllLimits>;

  @ApiPropertyOptional({
    type: Object,
    example: { maxGrantMinor: 20_000 },
    description: 'For a change of limits: the limits in effect after it, in minor units',
  })
  after?: Partial<AllLimits>;

  @ApiPropertyOptional({
    example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
    description: 'Not shown to an operator if an administrator made the request',
  })
  askedBy?: string;

  @ApiPropertyOptional({ example: 'Promotions team' })
  askedByName?: string;

  @ApiProperty()
  createdAt: Date;

  @ApiProperty({ description: 'when it expires without a decision: 24 hours after the request' })
  expiresAt: Date;

  @ApiPropertyOptional()
  decidedBy?: string;

  @ApiPropertyOptional()
  decidedByName?: string;

  @ApiPropertyOptional()
  decidedAt?: Date;

  @ApiPropertyOptional({ description: 'why it was rejected' })
  reason?: string;
}

export class ApprovalResponse extends ApprovalItem {
  @ApiProperty({
    type: Object,
    example: { spins: 1000, betAmountMinor: 100_000 },
    description: 'the complete terms of the action',
  })
  terms: object;

  @ApiPropertyOptional({
    type: Object,
    description:
      'for an APPROVED approval: the answer that the call would have had without an approval, for a change of limits the ' +
      "operator's own limits after it, or `error` if the action failed",
  })
  result?: object;
}

export const APPROVAL_COLUMNS = columnsOf(ApprovalItem);

export class ApprovalListResponse extends listOf(ApprovalItem) {}
