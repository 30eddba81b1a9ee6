/** The latest value of a field for local time: browsers also take years of six digits, which the API does not. */
export const LATEST = '9999-12-31T23:59:59';

/** The instant of a field for local time; undefined if the text is no time, or later than `LATEST`. */
export function instantOf(text: string): string | undefined {
  const date = new Date(text);
  return date.getTime() <= new Date(LATEST).getTime() ? date.toISOString() : undefined;
}

/** An instant as a field for local time shows it; empty if it is no instant that the field could have. */
export function localOf(instant: string): string {
  const date = new Date(instant);
  const local = date.getTime() - date.getTimezoneOffset() * 60_000;
  return local <= Date.parse(`${LATEST}.999Z`) ? new Date(local).toISOString().slice(0, 19) : '';
}
