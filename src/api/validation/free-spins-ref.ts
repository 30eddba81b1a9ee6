/**
 * The `externalRef` of a grant, or the `freeSpinsRef` of its WINs, as the OpenAPI documents publish it. The pattern
 * compiles in RE2 and means the same with and without JavaScript's `u` flag. Such a pattern cannot express the whole
 * grammar of `wallet/rules/free-spins-ref.ts`; the description has the rest.
 */
export const FREE_SPINS_REF_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$',
} as const;

/** The whole grammar, for descriptions and messages. */
export const FREE_SPINS_REF_WORDS =
  '1 to 256 characters without control characters, line separators, bidirectional controls and lone surrogates';
