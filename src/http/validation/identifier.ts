/** 1–128 printable ASCII characters without spaces, not `.` or `..`. Contract, section 3. */
export const IDENTIFIER = /^(?!\.{1,2}$)[!-~]{1,128}$/;

export const IDENTIFIER_SCHEMA = { type: 'string', maxLength: 128, pattern: IDENTIFIER.source } as const;

export function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && IDENTIFIER.test(value);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}
