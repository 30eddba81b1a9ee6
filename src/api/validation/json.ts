import { isUtf8 } from 'node:buffer';

/** A number literal that is not an integer contains one of these characters. */
const FRACTION_OR_EXPONENT = /[.eE]/;

/** Matches any text with a literal that JSON.parse could round to an integer, so most bodies are not scanned. */
const MAYBE_ROUNDED = /[:[,]\s*-?\d+[.eE]/;
/** The strings and number literals of valid JSON. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * Parses a JSON object in UTF-8, in time linear in the length of the input. The last of duplicate keys counts. A number
 * without a fractional part is an integer, even if it is written as `1.0`.
 * @returns undefined if the bytes are not a JSON object
 */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    if (!isUtf8(bytes)) return undefined;
    const text = bytes.toString('utf8');
    const parsed: unknown = JSON.parse(text);
    // The scan relies on valid JSON, so it runs after the parser.
    const exact = MAYBE_ROUNDED.test(text)
      ? withNumbersReplaced(text, (literal) => (isRounded(literal) ? '0.5' : literal))
      : text;
    const value: unknown = exact === text ? parsed : JSON.parse(exact);
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The decimal digits of an integer that JSON.parse would round, such as a 64-bit id.
 * @param bytes a JSON object that `parseJsonObject` accepts
 * @param field a field at the top level
 * @returns undefined unless the field is an integer beyond ±(2^53 − 1), written without point or exponent
 */
export function digitsOfLongInteger(bytes: Buffer, field: string): string | undefined {
  const quoted = withNumbersReplaced(bytes.toString('utf8'), (literal) =>
    FRACTION_OR_EXPONENT.test(literal) || Number.isSafeInteger(Number(literal)) ? literal : `["${literal}"]`,
  );
  const value = (JSON.parse(quoted) as Record<string, unknown>)[field];
  return Array.isArray(value) ? String(value[0]) : undefined;
}

/**
 * Replaces number literals. `parseJsonObject` replaces each literal that JSON.parse would round to an integer, such as
 * 9007199254740990.6, with 0.5, which every integer check refuses. Otherwise the service would book an amount that
 * differs from the one sent.
 * @param text valid JSON
 */
function withNumbersReplaced(text: string, replace: (literal: string) => string): string {
  return text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : replace(token)));
}

/** Whether JSON.parse would round the literal to an integer. */
function isRounded(literal: string): boolean {
  return FRACTION_OR_EXPONENT.test(literal) && Number.isInteger(Number(literal)) && !isInteger(literal);
}

/** Whether the literal's exact value is an integer: after applying the exponent, only zeros follow the point. */
function isInteger(literal: string): boolean {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let significant = digits.length;
  while (significant > 0 && digits[significant - 1] === '0') significant -= 1;
  return significant === 0 || significant <= whole.length + Number(exponent);
}
