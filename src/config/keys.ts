import { ConfigurationError, optional, type Reader } from './variable-reader.js';
import {
  patternOfKey,
  SANDBOX_ADMIN_API_KEY,
  SANDBOX_SECRETS_KEY,
  weaknessOfAdminKey,
  weaknessOfSecretsKey,
} from './weak-keys.js';

const CREATE_KEY = 'create one with `openssl rand -base64 32`';

/** The keys for the stored tenant secrets, as `Configuration` describes them. */
export interface SecretsKeys {
  readonly secretsKey: Buffer;
  readonly secretsKeyPrevious?: Buffer;
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
  const weakness = publicAllowed ? undefined : weaknessOfAdminKey(value);
  if (weakness) throw new ConfigurationError(`ADMIN_API_KEY: ${weakness}; ${CREATE_KEY}`);
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
  const weakness = publicAllowed ? undefined : weaknessOfSecretsKey(secretsKey);
  if (weakness) throw new ConfigurationError(`SECRETS_KEY: ${weakness}; ${CREATE_KEY}`);
  const secretsKeyPrevious = key32(read, 'SECRETS_KEY_PREVIOUS');
  if (secretsKeyPrevious?.equals(secretsKey)) {
    throw new ConfigurationError('SECRETS_KEY_PREVIOUS: must not be the same key as SECRETS_KEY');
  }
  return { secretsKey, ...optional('secretsKeyPrevious', secretsKeyPrevious) };
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
