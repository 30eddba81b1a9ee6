import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { SecretsKeys } from '../config/keys.js';
import { keyIdOf } from '../runtime/digest.js';
import { lengthPrefixed } from './chain.js';
import type { Seal, Witness } from './entry.js';

/** Separates the sealing key from other uses of `SECRETS_KEY`. */
const KEY_PURPOSE = 'croupier audit seal';
const KEY_BYTES = 32;

/**
 * Seals audit entries: HMAC-SHA256 over the seal's number and the entry's place and hash, with keys derived from
 * `SECRETS_KEY` by HKDF-SHA256. Write access to the database alone does not suffice to forge a seal.
 */
export class Sealer {
  /** Identifies the key that makes new seals. */
  readonly keyId: string;
  /** Identifies the keys whose seals can be verified. */
  readonly keyIds: readonly string[];
  private readonly keys: ReadonlyMap<string, Buffer>;

  /** Makes seals with `secretsKey`; verifies seals of both keys. */
  constructor({ secretsKey, secretsKeyPrevious }: SecretsKeys) {
    this.keyId = keyIdOf(secretsKey);
    const known = secretsKeyPrevious ? [secretsKey, secretsKeyPrevious] : [secretsKey];
    this.keys = new Map(known.map((key) => [keyIdOf(key), sealingKey(key)]));
    this.keyIds = [...this.keys.keys()];
  }

  /** @param number one more than the previous seal's number; 1 for the first seal */
  seal(number: number, { day, position, hash }: Witness): Seal {
    const mac = macOf(this.keys.get(this.keyId)!, number, { day, position, hash }).toString('hex');
    return { number, day, position, keyId: this.keyId, mac };
  }

  /** Whether the seal was made for an entry with this hash. */
  judge(seal: Seal, hash: string): 'valid' | 'forged' | 'unknown-key' {
    const key = this.keys.get(seal.keyId);
    if (!key) return 'unknown-key';
    const expected = macOf(key, seal.number, { day: seal.day, position: seal.position, hash });
    return timingSafeEqual(expected, Buffer.from(seal.mac, 'hex')) ? 'valid' : 'forged';
  }
}

function sealingKey(secretsKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', KEY_PURPOSE, KEY_BYTES));
}

function macOf(key: Buffer, number: number, { day, position, hash }: Witness): Buffer {
  const fields = ['croupier audit', 'seal', String(number), day, String(position), hash];
  return createHmac('sha256', key).update(lengthPrefixed(fields)).digest();
}
