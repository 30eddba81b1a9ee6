import type { Limits } from './rules/judgement.js';

/**
 * The amounts that may be given away to an operator's players in a currency without a second person's approval.
 */
export interface Limit extends Limits {
  readonly operatorId: string;
  readonly currency: string;
  /** A WIN above it is booked and flagged. */
  readonly maxWinMinor: number | null;
  readonly updatedAt: Date;
}

/** A limit with the amount that counts towards `dailyMinor`. */
export interface LimitInUse extends Limit {
  readonly usedMinor: number;
}
