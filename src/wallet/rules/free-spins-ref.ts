/**
 * The grammar of a grant's `externalRef`, which its WINs name as `freeSpinsRef`: 1 to 256 characters (code points)
 * without control characters, line separators, bidirectional controls and lone surrogates. Contract, section 6. The SDK
 * repeats it in `callbacks.ts`; sdk/test/external-ref.unit.test.ts compares both.
 */
export const FREE_SPINS_REF =
  /^[^\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]{1,256}$/u;

export function isFreeSpinsRef(value: unknown): value is string {
  return typeof value === 'string' && FREE_SPINS_REF.test(value);
}
