import { isUtf8 } from 'node:buffer';

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Where a number with a fraction or an exponent may stand. What stands in a string looks so hardly ever: no UUID does. */
const FRACTION_OR_EXPONENT = /[:,[\s]-?\d+[.eE]/;

/**
 * Reads a JSON object from its bytes: UTF-8, of duplicate keys the last counts, numbers judged by value.
 * @throws SyntaxError | TypeError where the bytes are no JSON object
 */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) throw new TypeError('the body is not UTF-8');
  const text = bytes.toString('utf8');
  const value: unknown = JSON.parse(FRACTION_OR_EXPONENT.test(text) ? withoutRounding(text) : text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new TypeError('the body is not a JSON object');
  }
  return value as Record<string, unknown>;
}

/**
 * JSON.parse rounds 9007199254740990.6 to an integer, and so would book an amount that nobody sent. Such a
 * literal becomes 0.5, which every integer check refuses. Valid JSON only: anything else fails to parse anyway.
 */
function withoutRounding(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || !Number.isInteger(Number(token)) || isInteger(token) ? token : '0.5',
  );
}

/** Whether the literal's exact value is an integer: no digit but zero is left of the point once it is moved. */
function isInteger(literal: string): boolean {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/0+$/, '');
  return digits === '' || digits.length <= whole.length + Number(exponent);
}
