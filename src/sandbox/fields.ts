/** A received JSON object, whose fields must be checked before use. */
export type Fields = Readonly<Record<string, unknown>>;

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

export function isCurrency(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z]{3}$/.test(value);
}

/** Whether the value is an integer from `least` to 2^53 − 1. */
export function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}
