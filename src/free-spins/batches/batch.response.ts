import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Columns } from '../../api/lists/list.js';
import { NextCursor } from '../../api/lists/time-page.js';
import type { BatchProgress } from './batch.store.js';
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

  @ApiProperty({ format: 'date-time' })
  createdAt: string;
}

export class BatchResponse extends BatchItem {
  @ApiPropertyOptional({
    type: [GrantResponse],
    description: 'In the order of the players; absent with `items=false`',
  })
  items?: GrantResponse[];
}

export const BATCH_COLUMNS: Columns<BatchItem> = {
  batchId: true,
  batchRef: true,
  operatorId: true,
  providerId: true,
  gameId: true,
  spins: true,
  betAmountMinor: true,
  stakeMinor: true,
  currency: true,
  total: true,
  granted: true,
  failed: true,
  pending: true,
  cancelled: true,
  createdAt: true,
};

export class BatchListResponse extends NextCursor {
  @ApiProperty({ type: [BatchItem] })
  items: BatchItem[];
}

export function batchItem({ batchRef, createdAt, ...batch }: BatchProgress): BatchItem {
  const stakeMinor = stakeMinorOf(batch, batch.total);
  return {
    ...batch,
    ...(batchRef !== null && { batchRef }),
    ...(stakeMinor !== undefined && { stakeMinor }),
    createdAt: createdAt.toISOString(),
  };
}
