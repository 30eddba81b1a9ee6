import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Randomness } from '../runtime/randomness.js';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

/**
 * Keeps the tenants' secrets unreadable at rest: AES-256-GCM, with the tenant's id as additional data, so that
 * a sealed secret put into another tenant's row does not open. Contract, section 8, `SECRETS_KEY`.
 */
export class SecretBox {
  /** Which key sealed a text: the first 8 hex digits of the key's SHA-256. */
  readonly keyId: string;

  /** What opens, by key id: the key, and the other one while `SECRETS_KEY` itself is rotated. */
  private readonly keys: ReadonlyMap<string, Buffer>;

  /**
   * @param key 32 bytes, seals and opens
   * @param previousKey 32 bytes, opens only: `SECRETS_KEY_PREVIOUS`
   */
  constructor(
    private readonly key: Buffer,
    private readonly randomness: Randomness,
    previousKey?: Buffer,
  ) {
    this.keyId = idOf(key);
    this.keys = new Map([key, ...(previousKey ? [previousKey] : [])].map((each) => [idOf(each), each]));
  }

  /** Whether the present key sealed it. */
  isCurrent(sealedSecret: string): boolean {
    return SEALED.exec(sealedSecret)?.[1] === this.keyId;
  }

  /** @returns `v1.<key id>.<iv>.<ciphertext and tag>`, the last two in base64url */
  seal(tenantId: string, secret: string): string {
    const iv = this.randomness.bytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, iv, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(tenantId));
    const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${this.keyId}.${iv.toString('base64url')}.${sealed.toString('base64url')}`;
  }

  /** @throws Error where it is no sealed text, was sealed with another key or for another tenant, or was altered */
  open(tenantId: string, sealedSecret: string): string {
    const [, keyId, iv, body] = SEALED.exec(sealedSecret) ?? [];
    if (keyId === undefined || iv === undefined || body === undefined)
      throw new Error('it is no sealed secret');
    const key = this.keys.get(keyId);
    if (!key) {
      throw new Error(
        `it was sealed with key ${keyId}, known is key ${[...this.keys.keys()].join(' and key ')}`,
      );
    }
    const bytes = Buffer.from(body, 'base64url');
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(iv, 'base64url'), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(tenantId));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new Error('it was altered, or sealed for another tenant');
    }
  }
}

function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}
