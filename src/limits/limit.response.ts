import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../api/lists/list.js';
import { columnsOf, itemFrom, type RowOf } from '../api/lists/item.js';
import { LIMIT_WORDS } from './limit.request.js';

const OPERATOR_OR_DEFAULT = "`*` for the installation's default of the currency";

const ShownAmount = (name: keyof typeof LIMIT_WORDS, example: number) =>
  ApiPropertyOptional({
    type: 'integer',
    example,
    description: `${LIMIT_WORDS[name]}, in minor units; absent if there is no limit`,
  });

export class LimitResponse {
  @ApiProperty({ example: 'sandbox-operator', description: OPERATOR_OR_DEFAULT })
  operatorId: string;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ShownAmount('maxGrantMinor', 10_000)
  maxGrantMinor?: number;

  @ShownAmount('maxBatchMinor', 1_000_000)
  maxBatchMinor?: number;

  @ShownAmount('maxAdjustmentMinor', 50_000)
  maxAdjustmentMinor?: number;

  @ShownAmount('dailyMinor', 5_000_000)
  dailyMinor?: number;

  @ShownAmount('maxWinMinor', 10_000_000)
  maxWinMinor?: number;

  @ApiProperty({
    type: 'integer',
    example: 20_000,
    description:
      'Minor units: the stakes and adjustments of the last 24 hours, at most 2^53−1; 0 for the default `*`',
  })
  usedMinor: number;

  @ApiProperty()
  updatedAt: Date;

  @ApiProperty({
    example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
    description: 'Who requested the last change',
  })
  updatedBy: string;

  @ApiPropertyOptional({
    example: 'Night shift',
    description: 'The name of the administrator who requested the last change',
  })
  updatedByName?: string;
}

export const LIMIT_COLUMNS = columnsOf(LimitResponse);

/** The stored limits of an operator in one currency, with the amount of the last 24 hours. */
export type LimitInUse = RowOf<LimitResponse>;

export function limitItem(limit: LimitInUse): LimitResponse {
  return itemFrom(LIMIT_COLUMNS, limit);
}

export class LimitListResponse extends listOf(LimitResponse, 'By operatorId and currency') {}

/** A currency of an active operator without any limit on grants or adjustments. */
export class MissingLimit {
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;

  @ApiProperty({ example: 'USD' })
  currency: string;
}

export const MISSING_COLUMNS = columnsOf(MissingLimit);

export class MissingLimitListResponse extends listOf(MissingLimit, 'By operatorId and currency') {}
