import { createHash, timingSafeEqual } from 'node:crypto';

export function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

/** Compares two texts of any length in constant time. */
export function equalInConstantTime(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

/** Names a key without revealing it: the first 8 hex digits of its SHA-256. Only for random keys. */
export function keyIdOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8);
}
