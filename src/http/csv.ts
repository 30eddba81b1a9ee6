/** With these a spreadsheet takes a text for a formula; a leading apostrophe makes it take it for a text. */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const QUOTED = /[",\r\n]/;

/**
 * One record of RFC 4180, with its CRLF. Times are ISO 8601 in UTC; what is absent is an empty field; an object or a
 * list is its JSON. A text that a spreadsheet would run as a formula begins with an apostrophe; a number stays one.
 */
export function csvRecord(values: readonly unknown[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

function field(value: unknown): string {
  const text = textOf(value);
  const harmless = typeof value === 'number' || !FORMULA.test(text) ? text : `'${text}`;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}
