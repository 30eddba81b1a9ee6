/** What an action changed in one field. A value that is absent or null is undefined. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields that differ between the target before and after an action, in the order of the target; those of a nested
 * record are named with it, such as `terms.amountMinor`. Without a `before`, they are all fields of `after`: the created
 * target, the parameters of a read, or the message of a refusal.
 */
export function changesBetween(before: Fields = {}, after: Fields = {}): FieldChange[] {
  const [olds, news] = [flat(before), flat(after)];
  return [...new Set([...olds.keys(), ...news.keys()])]
    .map((field) => ({ field, before: olds.get(field) ?? undefined, after: news.get(field) ?? undefined }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}

function flat(fields: Fields): Map<string, unknown> {
  const entries = Object.entries(fields).flatMap(([field, value]): [string, unknown][] => {
    if (!isRecord(value)) return [[field, value]];
    return [...flat(value)].map(([inner, leaf]) => [`${field}.${inner}`, leaf]);
  });
  return new Map(entries);
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a field has an amount in minor units. */
export const isAmount = (field: string) => /(?:Minor|^balance|\.balance)$/.test(field);

/** The currency of an entry's amounts: that of its target, such as `limit:lucky/EUR`, of the record or of its terms. */
export function currencyOf(target: string, ...records: readonly (Fields | undefined)[]): string | undefined {
  const [, ofLimit] = /^limit:[^/]+\/([A-Z]{3})$/.exec(target) ?? [];
  if (ofLimit !== undefined) return ofLimit;
  return records
    .flatMap((fields = {}) => [fields, fields['terms']])
    .map((fields) => (isRecord(fields) ? fields['currency'] : undefined))
    .find((currency) => typeof currency === 'string');
}

/** An entry's place in the chain. */
export interface Place {
  readonly day: string;
  readonly position: number;
}

/**
 * The first gap in entries that are listed newest first and not filtered: the place before which an entry is missing. The
 * first entry of a day has the position 1; the number of entries of the day before is not known.
 */
export function gapIn(entries: readonly Place[]): Place | undefined {
  return entries.find((entry, index) => {
    const older = entries[index + 1];
    if (older === undefined) return false;
    return entry.day === older.day ? entry.position !== older.position + 1 : entry.position !== 1;
  });
}
