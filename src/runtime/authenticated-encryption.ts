import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** The length of an initialisation vector, which must be random for each text, in bytes. */
export const IV_BYTES = 12;

/**
 * Encrypts with AES-256-GCM.
 * @param data is not stored, but needed to decrypt: it binds the text to its place
 * @returns the ciphertext and its tag
 */
export function encryptText(key: Buffer, data: string, iv: Buffer, text: string): Buffer {
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(data));
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** @returns undefined if the text was altered, or encrypted with another key, data or initialisation vector */
export function decryptText(key: Buffer, data: string, iv: Buffer, bytes: Buffer): string | undefined {
  if (iv.length !== IV_BYTES || bytes.length < TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(data));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(0, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

/** Derives a key from `SECRETS_KEY` by HKDF-SHA256. Each purpose has a key of its own. */
export function keyFor(purpose: string, secretsKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', purpose, KEY_BYTES));
}
