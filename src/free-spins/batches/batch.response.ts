import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf, itemFrom, type RowOf } from '../../api/lists/item.js';
import { NextCursor } from '../../api/lists/time-page.js';
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
}

export class BatchResponse extends BatchItem {
  @ApiPropertyOptional({
    type: [GrantResponse],
    description: 'In the order of the players; absent with `items=false`',
  })
  items?: GrantResponse[];
}

export const BATCH_COLUMNS = columnsOf(BatchItem);

export class BatchListResponse extends NextCursor {
  @ApiProperty({ type: [BatchItem] })
  items: BatchItem[];
}

/** A batch with the fields that its grants share, and the number of grants in each state. */
export type BatchProgress = RowOf<Omit<BatchItem, 'stakeMinor'>>;

export function batchItem(batch: BatchProgress): BatchItem {
  return itemFrom(BATCH_COLUMNS, { ...batch, stakeMinor: stakeMinorOf(batch, batch.total) ?? null });
}
