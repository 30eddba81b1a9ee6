const LOCAL = String.raw`(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?`;
const INSTANT = new RegExp(`^${LOCAL}(?:[Zz]|([+-])(\\d\\d):?(\\d\\d))$`);
const MINUTE_MS = 60_000;

/**
 * The instant that a text with `Z` or an offset names, in Unix milliseconds, rounded down; null where the text names
 * none, or names one only to somebody who knows the zone.
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
  // A day or an hour that does not exist has become another one, and the years before 100 one of the last century.
  const exists = date.toISOString().startsWith(`${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}`);
  if (!exists || second > 59) return null;
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * MINUTE_MS;
  return match[8] === '-' ? local + offsetMs : local - offsetMs;
}

/** As `instantMs`; a day alone is its beginning in UTC. */
export function instantOrDayMs(text: string): number | null {
  return instantMs(text.length === 10 ? `${text}T00:00Z` : text);
}
