import { IntegerField } from '../api/validation/fields.js';

export const LIMIT_WORDS = {
  maxGrantMinor: 'The highest stake of a grant (spins × betAmountMinor), including each grant of a batch',
  maxBatchMinor: 'The highest stake of a whole batch',
  maxAdjustmentMinor: 'The highest absolute amount of an adjustment',
  dailyMinor: 'The highest sum of stakes and adjustments carried out in 24 hours',
  maxWinMinor: 'A higher WIN is booked, and listed as flagged winnings',
} as const;

const AmountField = (name: keyof typeof LIMIT_WORDS, example: number) =>
  IntegerField({
    presence: 'nullable',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    example,
    description: `${LIMIT_WORDS[name]}, in minor units; null means no limit`,
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
