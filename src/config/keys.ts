import { ConfigurationError, type Reader } from './variable-reader.js';

/** The sandbox's own keys. They are public, so they may guard only play money on a loopback address. */
const SANDBOX_ADMIN_API_KEY = 'sandbox-admin-key-for-play-money-only';
const SANDBOX_SECRETS_KEY = Buffer.alloc(32, 'croupier sandbox');

export function isSandboxAdminKey(key: string): boolean {
  return key === SANDBOX_ADMIN_API_KEY;
}

const CREATE_KEY = 'create one with `openssl rand -base64 32`';

/** The keys for the stored tenant secrets, as `Configuration` describes them. */
export interface SecretsKeys {
  readonly secretsKey: Buffer;
  readonly secretsKeyPrevious?: Buffer | undefined;
}

/**
 * Reads `ADMIN_API_KEY`.
 * @param publicAllowed whether the sandbox's own key, or another weak one, may be used
 * @throws ConfigurationError
 */
export function adminApiKey(read: Reader, publicAllowed: boolean): string {
  const value = read.text('ADMIN_API_KEY');
  if (value === undefined && publicAllowed) return SANDBOX_ADMIN_API_KEY;
  if (value === undefined) throw missingKey('ADMIN_API_KEY');
  if (!/^[\x21-\x7e]{32,256}$/.test(value)) {
    throw new ConfigurationError(
      `ADMIN_API_KEY: must be 32 to 256 printable ASCII characters without spaces; ${CREATE_KEY}`,
    );
  }
  if (!publicAllowed) refuseWeak('ADMIN_API_KEY', value, SANDBOX_ADMIN_API_KEY, 'character');
  return value;
}

function missingKey(name: string): ConfigurationError {
  return new ConfigurationError(
    `${name}: is required, except where SANDBOX=true listens on a loopback HOST; ${CREATE_KEY}`,
  );
}

/**
 * Reads `SECRETS_KEY` and `SECRETS_KEY_PREVIOUS`. The latter may always be weak: it encrypts nothing, and it must be
 * possible to replace a weak key.
 * @param publicAllowed whether the sandbox's own key, or another weak one, may be used
 * @throws ConfigurationError
 */
export function secretsKeys(read: Reader, publicAllowed: boolean): SecretsKeys {
  const secretsKey = key32(read, 'SECRETS_KEY') ?? (publicAllowed ? SANDBOX_SECRETS_KEY : undefined);
  if (!secretsKey) throw missingKey('SECRETS_KEY');
  if (!publicAllowed) {
    refuseWeak('SECRETS_KEY', secretsKey.toString('latin1'), SANDBOX_SECRETS_KEY.toString('latin1'), 'byte');
  }
  const secretsKeyPrevious = key32(read, 'SECRETS_KEY_PREVIOUS');
  if (secretsKeyPrevious?.equals(secretsKey)) {
    throw new ConfigurationError('SECRETS_KEY_PREVIOUS: must not be the same key as SECRETS_KEY');
  }
  return { secretsKey, secretsKeyPrevious };
}

/**
 * Checks what only production demands of the keys: that they differ, and that neither is a pattern that people type.
 * @throws ConfigurationError
 */
export function checkProductionKeys(read: Reader, adminKey: string, { secretsKey }: SecretsKeys): void {
  // Without the padding and the last digit, which has two bits of padding and cannot continue every pattern.
  const secretsText = (read.text('SECRETS_KEY') ?? '').replaceAll('=', '').slice(0, -1);
  const bytes = secretsKey.toString('latin1');
  refusePattern('ADMIN_API_KEY', [adminKey]);
  refusePattern('SECRETS_KEY', [secretsText, bytes]);
  if (adminKey === bytes || Buffer.from(adminKey, 'base64').equals(secretsKey)) {
    throw new ConfigurationError(`ADMIN_API_KEY: must not be the same key as SECRETS_KEY; ${CREATE_KEY}`);
  }
}

function refusePattern(name: string, texts: readonly string[]): void {
  const pattern = texts.map(patternOfKey).find((found) => found !== undefined);
  if (pattern) throw new ConfigurationError(`${name}: ${pattern}; ${CREATE_KEY}`);
}

function key32(read: Reader, name: string): Buffer | undefined {
  const value = read.text(name);
  if (value === undefined) return undefined;
  const key = Buffer.from(value, 'base64');
  if (key.length !== 32 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(value)) {
    throw new ConfigurationError(`${name}: must be 32 bytes in base64; ${CREATE_KEY}`);
  }
  return key;
}

/** @throws ConfigurationError if the key is the sandbox's own, or one `unit` repeated */
function refuseWeak(name: string, key: string, sandboxKey: string, unit: 'character' | 'byte'): void {
  if (key === sandboxKey)
    throw new ConfigurationError(`${name}: is the sandbox's own key, which is public; ${CREATE_KEY}`);
  if (new Set(key).size === 1)
    throw new ConfigurationError(`${name}: is one ${unit} repeated; ${CREATE_KEY}`);
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
