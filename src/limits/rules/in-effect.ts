import type { Limits } from './judgement.js';

/** All limits of an operator in one currency, in minor units; null means no limit. */
export interface AllLimits extends Limits {
  readonly maxWinMinor: number | null;
}

/** The operator of the installation's default of a currency. It is no valid id of a tenant. */
export const DEFAULT_OPERATOR = '*';

const NAMES = [
  'maxGrantMinor',
  'maxBatchMinor',
  'maxAdjustmentMinor',
  'dailyMinor',
  'maxWinMinor',
] as const satisfies readonly (keyof AllLimits)[];

export const NO_LIMITS = limitsOf(() => null);

function limitsOf(valueOf: (name: keyof AllLimits) => number | null): AllLimits {
  return Object.fromEntries(NAMES.map((name) => [name, valueOf(name)])) as unknown as AllLimits;
}

/** The limits that apply to an operator: its own, and the installation's default for each field that it has not set. */
export function inEffect(own: AllLimits, defaults: AllLimits): AllLimits {
  return limitsOf((name) => own[name] ?? defaults[name]);
}

/** Own limits after a PATCH: an absent field keeps its value. */
export function merged(own: AllLimits, changes: Partial<AllLimits>): AllLimits {
  return limitsOf((name) => (changes[name] === undefined ? own[name] : changes[name]));
}

export function isEmpty(limits: AllLimits): boolean {
  return NAMES.every((name) => limits[name] === null);
}

/** Whether grants, batches or adjustments are limited; `maxWinMinor` limits none of them. */
export function limitsActions(limits: AllLimits): boolean {
  return !isEmpty({ ...limits, maxWinMinor: null });
}

export function areEqual(left: AllLimits, right: AllLimits): boolean {
  return NAMES.every((name) => left[name] === right[name]);
}

/** Each field that differs, with its values. */
export function differences(
  before: AllLimits,
  after: AllLimits,
): [keyof AllLimits, number | null, number | null][] {
  return NAMES.filter((name) => before[name] !== after[name]).map((name) => [
    name,
    before[name],
    after[name],
  ]);
}

/** Whether a change of the limits in effect raises or removes any of them, and therefore waits for a second person. */
export function loosens(before: AllLimits, after: AllLimits): boolean {
  return NAMES.some((name) => {
    const [from, to] = [before[name], after[name]];
    return from !== null && (to === null || to > from);
  });
}
