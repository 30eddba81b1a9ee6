import ipaddr from 'ipaddr.js';

/** The sandbox's own keys. They are public, so they may guard only play money on a loopback address. */
export const SANDBOX_ADMIN_API_KEY = 'sandbox-admin-key-for-play-money-only';
export const SANDBOX_SECRETS_KEY = Buffer.alloc(32, 'croupier sandbox');

const PUBLIC = "is the sandbox's own key, which is public";

/** Why an admin key is too weak; undefined if it may be used. */
export function weaknessOfAdminKey(key: string): string | undefined {
  if (key === SANDBOX_ADMIN_API_KEY) return PUBLIC;
  if (new Set(key).size === 1) return 'is one character repeated';
  return undefined;
}

/** Why an encryption key is too weak; undefined if it may be used. */
export function weaknessOfSecretsKey(key: Buffer): string | undefined {
  if (key.equals(SANDBOX_SECRETS_KEY)) return PUBLIC;
  if (new Set(key).size === 1) return 'is one byte repeated';
  return undefined;
}

/** Longest part whose repetition is refused, in characters. */
const LONGEST_REPEATED_PART = 3;
const SEQUENCE_SHARE = 0.75;
/** The bytes of a key are often written like this. */
const HEX = /^(?:[\da-f]{2})+$/i;
const PLACEHOLDER = /changeme|password/i;

/**
 * Why a key is not random, although it is none of the sandbox's keys and has more than one character; undefined if it
 * looks random. A random key is refused less often than once in 10^9 keys.
 * @param text the characters of the key, or its bytes as characters
 */
export function patternOfKey(text: string): string | undefined {
  if (PLACEHOLDER.test(text)) return 'contains changeme or password';
  for (let length = 1; length <= LONGEST_REPEATED_PART; length += 1) {
    if (text.slice(length) === text.slice(0, -length)) return 'repeats a few characters';
  }
  const decoded = HEX.test(text) ? Buffer.from(text, 'hex').toString('latin1') : '';
  return [text, decoded].some(isSequence) ? 'is a sequence' : undefined;
}

/** Whether three quarters of the characters are the one before, or its neighbour in the order of characters. */
function isSequence(text: string): boolean {
  if (text === '') return false;
  const codes = Array.from(text, (character) => character.charCodeAt(0));
  const steps = codes.slice(1).map((code, index) => code - codes[index]!);
  return steps.filter((step) => Math.abs(step) <= 1).length > steps.length * SEQUENCE_SHARE;
}

/**
 * Whether only this machine can reach a listener on the host. False for a name other than `localhost`, because it may
 * resolve to any address.
 */
export function isLoopback(host: string): boolean {
  if (!ipaddr.isValid(host)) return host.toLowerCase() === 'localhost';
  return ipaddr.process(host).range() === 'loopback';
}
