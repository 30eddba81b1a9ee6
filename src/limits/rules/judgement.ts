/** The limits of an operator in one currency, in minor units; null: none. Contract, section 9, "Limits and approvals". */
export interface Limits {
  readonly maxGrantMinor: number | null;
  readonly maxBatchMinor: number | null;
  readonly maxAdjustmentMinor: number | null;
  readonly dailyMinor: number | null;
}

/** What a deed gives away, or an adjustment takes, in minor units. */
export type Stake =
  | { readonly kind: 'grant'; readonly amountMinor: number }
  /** A batch gives the same to each of its players. */
  | { readonly kind: 'batch'; readonly amountMinor: number; readonly ofEachMinor: number }
  /** The absolute amount. */
  | { readonly kind: 'adjustment'; readonly amountMinor: number };

export type LimitName = keyof Limits;

/** The limit that a deed exceeds. */
export interface ExceededLimit {
  readonly name: LimitName;
  readonly limitMinor: number;
  /** What was carried out in the last 24 hours. */
  readonly usedMinor: number;
}

/**
 * The limit for which a deed needs approval; undefined if it needs none. A stake of 0 is the provider's default stake,
 * whose worth is unknown: it exceeds any limit on grants. A batch is judged by each player's grant as well: else a batch
 * of one would be a way around the limit on grants.
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

/** The limits that a stake is judged by, with the amount that counts. */
function judgedBy(stake: Stake, usedMinor: number): [LimitName, number][] {
  const { amountMinor } = stake;
  const daily: [LimitName, number] = ['dailyMinor', usedMinor + amountMinor];
  if (stake.kind === 'adjustment') return [['maxAdjustmentMinor', amountMinor], daily];
  if (stake.kind === 'grant') {
    // Of an unknown worth any limit on grants counts, that of batches too.
    const batch: [LimitName, number][] = amountMinor === 0 ? [['maxBatchMinor', 0]] : [];
    return [['maxGrantMinor', amountMinor], ...batch, daily];
  }
  return [['maxGrantMinor', stake.ofEachMinor], ['maxBatchMinor', amountMinor], daily];
}
