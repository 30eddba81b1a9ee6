import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { listOf } from '../api/lists/list.js';
import { columnsOf, itemFrom, type RowOf } from '../api/lists/item.js';
import { IntegerField } from '../api/validation/fields.js';

const OF = {
  maxGrantMinor: 'The highest stake of a grant (spins × betAmountMinor), including each grant of a batch',
  maxBatchMinor: 'The highest stake of a whole batch',
  maxAdjustmentMinor: 'The highest absolute amount of an adjustment',
  dailyMinor: 'The highest sum of stakes and adjustments carried out in 24 hours',
  maxWinMinor: 'A higher WIN is booked, and listed as flagged winnings',
} as const;

const OPERATOR_OR_DEFAULT = "`*` for the installation's default of the currency";

const AmountField = (name: keyof typeof OF, example: number) =>
  IntegerField({
    presence: 'nullable',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    example,
    description: `${OF[name]}, in minor units; null means no limit`,
  });

const ShownAmount = (name: keyof typeof OF, example: number) =>
  ApiPropertyOptional({
    type: 'integer',
    example,
    description: `${OF[name]}, in minor units; absent if there is no limit`,
  });

/**
 * Changes of the limits of an operator in one currency: an absent field keeps its value, null removes the limit.
 * Contract, section 9, "Limits and approvals".
 */
export class PatchLimitRequest {
  @AmountField('maxGrantMinor', 10_000)
  maxGrantMinor?: number | null;

  @AmountField('maxBatchMinor', 1_000_000)
  maxBatchMinor?: number | null;

  @AmountField('maxAdjustmentMinor', 50_000)
  maxAdjustmentMinor?: number | null;

  @AmountField('dailyMinor', 5_000_000)
  dailyMinor?: number | null;

  @AmountField('maxWinMinor', 10_000_000)
  maxWinMinor?: number | null;
}

/** All limits of an operator in one currency; an absent or null field means no limit. */
export class PutLimitRequest extends PatchLimitRequest {}

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

  @ApiPropertyOptional({
    example: 'key:0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
    description: 'Who requested the last change; absent if an earlier version stored it',
  })
  updatedBy?: string;

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
