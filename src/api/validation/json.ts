import { isUtf8 } from 'node:buffer';

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const MINUS = '-'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);
const NINE = '9'.charCodeAt(0);

/** A number literal that is not an integer contains one of these characters. */
const FRACTION_OR_EXPONENT = /[.eE]/;

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
    const exact = withNumbersReplaced(text, (literal) => (isRounded(literal) ? '0.5' : literal));
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
  let exact = '';
  let copiedTo = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at);
      const literal = text.slice(at, end);
      const replacement = replace(literal);
      if (replacement !== literal) {
        exact += text.slice(copiedTo, at) + replacement;
        copiedTo = end;
      }
      at = end - 1;
    }
  }
  return exact + text.slice(copiedTo);
}

/** @returns the index of the closing quote */
function endOfString(text: string, openingQuote: number): number {
  let at = openingQuote + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** @returns the index after the last character of the number */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isPartOfNumber(text[end]!)) end += 1;
  return end;
}

function isPartOfNumber(character: string): boolean {
  return isDigit(character.charCodeAt(0)) || '.eE+-'.includes(character);
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
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
