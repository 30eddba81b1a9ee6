import { isDeepStrictEqual } from 'node:util';

/** Whether a row has the values of a change already. An undefined column stays unchanged. */
export function changesNothing(row: object, changes: object): boolean {
  const stored = row as Readonly<Record<string, unknown>>;
  return Object.entries(changes).every(
    ([column, value]) => value === undefined || isDeepStrictEqual(value, stored[column]),
  );
}
