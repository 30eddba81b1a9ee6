import type { Limits } from './rules/judgement.js';

export interface LimitKey {
  readonly operatorId: string;
  readonly currency: string;
}

/** The stored limits of an operator in one currency: those above which an action needs approval, and one for WINs. */
export interface Limit extends Limits, LimitKey {
  /** A WIN above this amount, in minor units, is booked and flagged; null means no limit. */
  readonly maxWinMinor: number | null;
  readonly updatedAt: Date;
}

/** The stored limits with the amount, in minor units, that counts towards `dailyMinor` in the last 24 hours. */
export interface LimitInUse extends Limit {
  readonly usedMinor: number;
}
