/** A JSON object as it came in: nothing in it is believed before it was looked at. */
export type Fields = Readonly<Record<string, unknown>>;

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

export function isCurrency(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Z]{3}$/.test(value);
}

/** A whole number from `least`, that a double holds exactly. */
export function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}
