/**
 * The limits of an operator in one currency, in minor units; null means no limit. Contract, section 9, "Limits and
 * approvals".
 */
export interface Limits {
  readonly maxGrantMinor: number | null;
  readonly maxBatchMinor: number | null;
  readonly maxAdjustmentMinor: number | null;
  readonly dailyMinor: number | null;
}

/** The amount that an action gives away, or that an adjustment debits, in minor units. */
export type Stake =
  | { readonly kind: 'grant'; readonly amountMinor: number }
  /** The stake of all players together, and that of each. */
  | { readonly kind: 'batch'; readonly amountMinor: number; readonly ofEachMinor: number }
  /** The absolute amount. */
  | { readonly kind: 'adjustment'; readonly amountMinor: number };

export type LimitName = keyof Limits;

/** The limit that an action exceeds. */
export interface ExceededLimit {
  readonly name: LimitName;
  readonly limitMinor: number;
  /** The amount of the last 24 hours. */
  readonly usedMinor: number;
}

/**
 * The limit for which an action needs approval; undefined if it needs none. A stake of 0 is the provider's default stake,
 * whose amount is unknown, so it exceeds every limit. Each grant of a batch is judged, too, because otherwise a
 * batch of one player would evade the limit on grants.
 */
export function exceeded(limits: Limits, usedMinor: number, stake: Stake): ExceededLimit | undefined {
  const worthUnknown = stake.kind !== 'adjustment' && stake.amountMinor === 0;
  for (const [name, amountMinor] of judgedBy(stake, usedMinor)) {
    const limitMinor = limits[name];
    if (limitMinor === null) continue;
    if (worthUnknown || amountMinor > limitMinor) return { name, limitMinor, usedMinor };
  }
  return undefined;
}

/** The limits that apply to a stake, with the amount to compare. */
function judgedBy(stake: Stake, usedMinor: number): [LimitName, number][] {
  const { amountMinor } = stake;
  const daily: [LimitName, number] = ['dailyMinor', usedMinor + amountMinor];
  if (stake.kind === 'adjustment') return [['maxAdjustmentMinor', amountMinor], daily];
  if (stake.kind === 'grant') {
    // Any limit on grants or batches applies to an unknown amount.
    const batch: [LimitName, number][] = amountMinor === 0 ? [['maxBatchMinor', 0]] : [];
    return [['maxGrantMinor', amountMinor], ...batch, daily];
  }
  return [['maxGrantMinor', stake.ofEachMinor], ['maxBatchMinor', amountMinor], daily];
}
