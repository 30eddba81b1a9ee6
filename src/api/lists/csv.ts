import { visible } from '../../runtime/visible.js';

/**
 * Matches a cell that a spreadsheet would evaluate as a formula: it begins with `=`, `+`, `-`, `@` or a Unicode variant
 * of these signs. Before the sign, spreadsheets skip blanks and invisible characters such as a byte order mark. They may
 * also skip quotes, because quotes can enclose a cell.
 */
const FORMULA = /^["\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\u2212\uFF1D\uFF0B\uFF0D\uFF20]/u;
/** Matches after each semicolon: in many locales, it separates cells, even within quotes. */
const AFTER_CELL_BREAK = /(?<=;)/;
const STARTS_WITH_CELL_BREAK = /^;/;
const QUOTED = /[",;]/;

/**
 * Formats a CSV record (RFC 4180), including its CRLF. Times are ISO 8601 in UTC, an absent value is an empty field,
 * and objects and lists are JSON. Text is `visible`, so no field has a line break. An apostrophe precedes text that a
 * spreadsheet of any locale would evaluate as a formula. Numbers get no apostrophe.
 */
export function csvRecord(values: readonly unknown[]): string {
  return `${values.map(field).join(',')}\r\n`;
}

/**
 * A number as decimal text, such as `-2.50`. It is not treated as a formula, although it may begin with a minus sign.
 */
export class CsvNumber {
  constructor(readonly text: string) {}
}

function field(value: unknown): string {
  const text = visible(textOf(value));
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
