import { createHmac } from 'node:crypto';
import type { SignedParts } from '../../src/signature.js';

/** The signature with any key, also an empty or blank one, which the SDK refuses to sign with. */
export function uncheckedSignature(
  key: string | Uint8Array,
  { method, path, timestamp, nonce, body }: SignedParts,
): string {
  const head = `${method}\n${path}\n${timestamp}\n${nonce}\n`;
  return createHmac('sha256', key).update(head).update(body).digest('hex');
}
