import { createHmac, hash } from 'node:crypto';
import type { CauseCode } from './causes.js';

export type Part = 'method' | 'path' | 'timestamp' | 'nonce' | 'body' | 'tenant';

/** How the signed parts are joined. */
export interface Layout {
  order: readonly Part[];
  separator: string;
  /** One separator for each gap between parts; replaces `separator`. */
  separators?: readonly string[];
  prefix?: string;
  suffix?: string;
  /** Builds the text from the parts, instead of joining them. */
  serialise?: (parts: Readonly<Record<Part, string>>) => string;
}

export type Digest = (key: Buffer, text: Buffer) => Buffer;

/** Everything that a signature depends on, correct or with mistakes. */
export interface Signing {
  method: string;
  path: string;
  timestamp: string;
  nonce: string;
  tenant: string;
  body: Buffer;
  key: Buffer;
  layout: Layout;
  digest: Digest;
}

export interface Mistake {
  code: CauseCode;
  /** A sentence for the person who made the mistake. */
  explanation: string;
}

/**
 * How likely a mistake is; 1 is the likeliest. Mistakes of ranks 1 and 2 are tried alone and in pairs, those of rank 3
 * only alone.
 */
export type Rank = 1 | 2 | 3;

/** A deviation from correct signing that belongs to one kind of mistake, such as a wrong key. */
export interface Variant {
  mistakes: readonly Mistake[];
  /** Other mistakes that lead to the same change. */
  alternatives?: readonly (readonly Mistake[])[];
  rank: Rank;
  change: Partial<Signing>;
}

export const RIGHT_LAYOUT: Layout = {
  order: ['method', 'path', 'timestamp', 'nonce', 'body'],
  separator: '\n',
};

/** The correct digest of any text. The SDK's `signatureOf` always joins the parts in the correct layout. */
export const RIGHT_DIGEST: Digest = (key, text) => createHmac('sha256', key).update(text).digest();

export function variant(rank: Rank, code: CauseCode, explanation: string, change: Partial<Signing>): Variant {
  return { rank, mistakes: [{ code, explanation }], change };
}

export function signedBytes(signing: Signing): Buffer {
  const length = write(signing, 0);
  return Buffer.from(scratch.subarray(0, length));
}

export function digestOf(signing: Signing): Buffer {
  return signing.digest(signing.key, signedBytes(signing));
}

/** The block size of SHA-256, in bytes. */
const BLOCK_BYTES = 64;
/** The size of a SHA-256 digest, in bytes. */
const DIGEST_BYTES = 32;

interface PaddedKey {
  inner: Buffer;
  /** Has room for the inner digest. */
  outer: Buffer;
}

const paddedKeys = new WeakMap<Buffer, PaddedKey>();

/**
 * The digest as a text with one character for each byte. A search computes hundreds of thousands with the same few keys:
 * two plain hashes over a prepared key and a buffer that is used again take a third of the time of `digestOf`.
 */
export function binaryDigestOf(signing: Signing): string {
  if (signing.digest !== RIGHT_DIGEST) return digestOf(signing).toString('latin1');
  let key = paddedKeys.get(signing.key);
  if (!key) {
    key = { inner: padded(signing.key, 0x36, 0), outer: padded(signing.key, 0x5c, DIGEST_BYTES) };
    paddedKeys.set(signing.key, key);
  }
  const length = write(signing, BLOCK_BYTES);
  key.inner.copy(scratch);
  key.outer.write(hash('sha256', scratch.subarray(0, length), 'binary'), BLOCK_BYTES, 'latin1');
  return hash('sha256', key.outer, 'binary');
}

/** The key, padded to a block and combined with one of the two bytes of RFC 2104, with room behind it. */
function padded(key: Buffer, pad: number, room: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES + room);
  (key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key).copy(block);
  for (let at = 0; at < BLOCK_BYTES; at += 1) block[at]! ^= pad;
  return block;
}

let scratch = Buffer.allocUnsafe(16 * 1024);

/** Writes the signed bytes to `scratch`, and returns the position after them. */
function write(signing: Signing, start: number): number {
  const { order, separator, separators, prefix = '', suffix = '', serialise } = signing.layout;
  if (serialise) return writeText(serialise({ ...signing, body: signing.body.toString() }), start);
  let at = start;
  let text = prefix;
  for (let index = 0; index < order.length; index += 1) {
    const part = order[index]!;
    if (index > 0) text += separators?.[index - 1] ?? separator;
    if (part === 'body') {
      at = writeText(text, at);
      reserve(at, signing.body.length);
      at += signing.body.copy(scratch, at);
      text = '';
    } else {
      text += signing[part];
    }
  }
  return writeText(text + suffix, at);
}

function writeText(text: string, at: number): number {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  reserve(at, 3 * text.length);
  return at + scratch.write(text, at);
}

function reserve(at: number, length: number): void {
  if (at + length <= scratch.length) return;
  const larger = Buffer.allocUnsafe(2 * (at + length));
  scratch.copy(larger, 0, 0, at);
  scratch = larger;
}
