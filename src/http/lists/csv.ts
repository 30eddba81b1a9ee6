/**
 * The beginning of a cell that a spreadsheet evaluates as a formula: one of the signs of a formula or its full-width
 * form. Before the sign there may be characters that the spreadsheet skips (blanks, control characters, and invisible
 * characters such as a byte order mark), or quotes, which it may read as the opening quotes of the cell.
 */
const FORMULA =
  /^["\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\u2212\uFF1D\uFF0B\uFF0D\uFF20]/u;
/**
 * The position after a character at which a spreadsheet may begin a new cell: in many locales a semicolon separates
 * cells, even within quotes.
 */
const AFTER_CELL_BREAK = /(?<=[;\t\r\n])/;
const STARTS_WITH_CELL_BREAK = /^[;\t\r\n]/;
const QUOTED = /[",;\t\r\n]/;

/**
 * One CSV record by RFC 4180, with its CRLF. Times are ISO 8601 in UTC, an absent value is an empty field, an object or
 * a list is JSON. Text that a spreadsheet of any locale would evaluate as a formula gets an apostrophe before the
 * formula; a number stays a number.
 */
export function csvRecord(values: readonly unknown[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

/** A number that is written with the given decimals, such as `2.50`. */
export class CsvNumber {
  constructor(readonly text: string) {}
}

function field(value: unknown): string {
  const text = textOf(value);
  const harmless = typeof value === 'number' || value instanceof CsvNumber ? text : withoutFormulas(text);
  return QUOTED.test(text) || text.trim() !== text ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function withoutFormulas(text: string): string {
  const cells = text.split(AFTER_CELL_BREAK).map((cell) => (FORMULA.test(cell) ? `'${cell}` : cell));
  return `${STARTS_WITH_CELL_BREAK.test(text) ? "'" : ''}${cells.join('')}`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') return value;
  if (value instanceof CsvNumber) return value.text;
  return JSON.stringify(value);
}
