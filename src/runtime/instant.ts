const LOCAL = String.raw`(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?`;
const INSTANT = new RegExp(`^${LOCAL}(?:[Zz]|([+-])(\\d\\d):?(\\d\\d))$`);
const MINUTE_MS = 60_000;
/** The last instant that ISO 8601 in UTC writes with a year of four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Parses a time with `Z` or an offset.
 * @returns Unix milliseconds, rounded down, at most the end of the year 9999 in UTC: neither PostgreSQL nor clients read
 *   a year with a sign, such as +010000; null if the text is not a time, or has no zone
 */
export function instantMs(text: string): number | null {
  const match = INSTANT.exec(text);
  if (!match) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((digits: string | undefined) => Number(digits ?? 0));
  const ms = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const local = Date.UTC(year, month - 1, day, hour, minute, second, ms);
  const date = new Date(local);
  // Date.UTC accepts a day or hour that does not exist and returns a later one. It reads the years 0 to 99 as 1900 to
  // 1999.
  const exists = date.toISOString().startsWith(`${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}`);
  if (!exists || second > 59) return null;
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * MINUTE_MS;
  return Math.min(match[8] === '-' ? local + offsetMs : local - offsetMs, LAST_MS);
}

/** The end of a time whose offset has hours only, as PostgreSQL writes it. */
const OFFSET_IN_HOURS = /:\d\d(?:\.\d+)?[+-]\d\d$/;

/** Like `instantMs`; the offset may have hours only, such as `+00`. */
export function instantOfStatementMs(text: string): number | null {
  return instantMs(OFFSET_IN_HOURS.test(text) ? `${text}:00` : text);
}

/** Like `instantMs`; a date without a time means midnight in UTC. */
export function instantOrDayMs(text: string): number | null {
  return instantMs(text.length === 10 ? `${text}T00:00Z` : text);
}
