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

/** The amount of an action to compare with the limits, in minor units. */
export type Stake =
  | { readonly kind: 'grant'; readonly amountMinor: number }
  /** The stake of all players together, and the stake of each player. */
  | { readonly kind: 'batch'; readonly amountMinor: number; readonly ofEachMinor: number }
  /** The absolute amount of a credit or debit. */
  | { readonly kind: 'adjustment'; readonly amountMinor: number };

type LimitName = keyof Limits;

/** A limit that an action exceeds. */
export interface ExceededLimit {
  readonly name: LimitName;
  readonly limitMinor: number;
  /** The amount used in the last 24 hours, without this action. */
  readonly usedMinor: number;
}

/**
 * The first limit that an action exceeds; undefined if the action needs no approval. A grant or batch with a stake of 0
 * uses the provider's default stake, whose amount is unknown. It therefore needs approval if a limit on grants, on
 * batches or per day is set. A batch must also respect the limit on grants, because a batch of one player could
 * otherwise evade that limit.
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

/** The limits that apply to a stake, each with the amount to compare. */
function judgedBy(stake: Stake, usedMinor: number): [LimitName, number][] {
  const { amountMinor } = stake;
  const daily: [LimitName, number] = ['dailyMinor', usedMinor + amountMinor];
  if (stake.kind === 'adjustment') return [['maxAdjustmentMinor', amountMinor], daily];
  if (stake.kind === 'batch')
    return [['maxGrantMinor', stake.ofEachMinor], ['maxBatchMinor', amountMinor], daily];
  // A grant of unknown amount needs approval even if only batches are limited; a known amount is no part of a batch.
  return [['maxGrantMinor', amountMinor], ['maxBatchMinor', 0], daily];
}
