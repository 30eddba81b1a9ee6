import type { Limits } from './rules/judgement.js';

/** The stored limits of an operator in one currency: those above which an action needs approval, and one for WINs. */
export interface Limit extends Limits {
  readonly operatorId: string;
  readonly currency: string;
  /** A WIN above it is booked and flagged. In minor units; null means no limit. */
  readonly maxWinMinor: number | null;
  readonly updatedAt: Date;
}

/** A limit with the amount of the last 24 hours that counts towards `dailyMinor`, in minor units. */
export interface LimitInUse extends Limit {
  readonly usedMinor: number;
}
