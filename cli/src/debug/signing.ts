import { createHmac } from 'node:crypto';

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
  /** Stable: scripts may rely on it. */
  code: string;
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
  rank: Rank;
  change: Partial<Signing>;
}

export const RIGHT_LAYOUT: Layout = {
  order: ['method', 'path', 'timestamp', 'nonce', 'body'],
  separator: '\n',
};

/** The correct digest of any text. The SDK's `signatureOf` always joins the parts in the correct layout. */
export const RIGHT_DIGEST: Digest = (key, text) => createHmac('sha256', key).update(text).digest();

export function variant(rank: Rank, code: string, explanation: string, change: Partial<Signing>): Variant {
  return { rank, mistakes: [{ code, explanation }], change };
}

export function signedBytes(signing: Signing): Buffer {
  const { order, separator, separators, prefix = '', suffix = '', serialise } = signing.layout;
  if (serialise) return Buffer.from(serialise({ ...signing, body: signing.body.toString() }));
  const chunks: Buffer[] = [];
  let text = prefix;
  order.forEach((part, index) => {
    if (index > 0) text += separators?.[index - 1] ?? separator;
    if (part !== 'body') {
      text += signing[part];
    } else {
      chunks.push(Buffer.from(text), signing.body);
      text = '';
    }
  });
  chunks.push(Buffer.from(text + suffix));
  return Buffer.concat(chunks);
}

export function digestOf(signing: Signing): Buffer {
  return signing.digest(signing.key, signedBytes(signing));
}
