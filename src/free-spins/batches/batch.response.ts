import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../../api/lists/list.js';
import { columnsOf, itemFrom, type RowOf } from '../../api/lists/item.js';
import { GrantResponse } from '../grants/grant.response.js';
import { stakeMinorOf } from '../rules/stake.js';

export class BatchCreatedResponse {
  @ApiProperty({ format: 'uuid' })
  batchId: string;

  @ApiProperty({ type: 'integer', example: 400, description: 'spins × betAmountMinor × players' })
  stakeMinor: number;
}

/** A batch, and the number of its grants in each state: `total = granted + failed + pending + cancelled`. */
export class BatchItem {
  @ApiProperty({ format: 'uuid' })
  batchId: string;

  @ApiPropertyOptional({ example: 'summer-2026' })
  batchRef?: string;

  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;

  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;

  @ApiProperty({ type: 'integer', example: 10 })
  spins: number;

  @ApiProperty({ type: 'integer', example: 20, description: "Minor units; 0: the provider's default stake" })
  betAmountMinor: number;

  @ApiPropertyOptional({
    type: 'integer',
    example: 200_000,
    description: 'spins × betAmountMinor × players; absent above 2^53−1, which an earlier version accepted',
  })
  stakeMinor?: number;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiProperty({ type: 'integer', example: 1000 })
  total: number;

  @ApiProperty({ type: 'integer', example: 995 })
  granted: number;

  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  @ApiProperty({ type: 'integer', example: 2 })
  pending: number;

  @ApiProperty({ type: 'integer', example: 2 })
  cancelled: number;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: Date;

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    description: 'When the platform cancels the remaining spins of its grants; absent if they do not expire',
  })
  expiresAt?: Date;

  @ApiPropertyOptional({
    type: 'integer',
    example: 400,
    description:
      'Number of GRANTED grants that the provider has reported as completed; absent until it has answered a status call ' +
      'about one of them',
  })
  completed?: number;

  @ApiPropertyOptional({
    type: 'integer',
    example: 1200,
    description:
      'The sum over the GRANTED grants about which the provider has answered a status call; absent without an answer, and ' +
      'above 2^53−1',
  })
  remainingSpins?: number;

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    example: '2026-03-01T10:00:00.000Z',
    description: 'The time of the oldest of these answers',
  })
  statusCheckedAt?: Date;
}

export class BatchResponse extends BatchItem {
  @ApiPropertyOptional({
    type: [GrantResponse],
    description: 'In the order of the players; absent with `items=false`',
  })
  items?: GrantResponse[];
}

export class BatchFailure {
  @ApiProperty({ example: 'the provider answered 422' })
  error: string;

  @ApiProperty({ type: 'integer', example: 12, description: 'Number of FAILED grants with this error' })
  count: number;

  @ApiProperty({ description: 'Whether the provider may have granted the spins nevertheless' })
  outcomeUnknown: boolean;
}

export class BatchFailuresResponse {
  @ApiProperty({ type: [BatchFailure], description: 'The most frequent first, at most 100' })
  items: BatchFailure[];
}

export const BATCH_COLUMNS = columnsOf(BatchItem);

export class BatchListResponse extends listOf(BatchItem) {}

/** A batch with the fields that its grants share, and the number of grants in each state. */
export type BatchProgress = RowOf<Omit<BatchItem, 'stakeMinor'>>;

export function batchItem(batch: BatchProgress): BatchItem {
  return itemFrom(BATCH_COLUMNS, { ...batch, stakeMinor: stakeMinorOf(batch, batch.total) ?? null });
}
