import { BEYOND_PATTERN } from './schema-extensions.js';

/** 1–128 printable ASCII characters without spaces, not `.` or `..`. Contract, section 3. */
const IDENTIFIER = /^(?!\.{1,2}$)[!-~]{1,128}$/;

/** An identifier as it is published. The pattern compiles in RE2, which has no look-ahead. */
export const IDENTIFIER_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[!-~]+$',
  [BEYOND_PATTERN]: 'not `.` or `..`',
} as const;

export function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && IDENTIFIER.test(value);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** An ISO 4217 currency code. */
export const CURRENCY = /^[A-Z]{3}$/;

/** Follows the name of a field or parameter in a refusal. */
export const CURRENCY_WORDS = 'must be 3 upper-case letters (ISO 4217)';
