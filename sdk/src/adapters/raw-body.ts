import { isTextOrBytes } from '../signature.js';

/** A request whose body others may have read before the adapter. */
export interface MaybeRead {
  /**
   * The bytes as received, or their text: set by Firebase, Google Cloud Functions, Nest with `{rawBody: true}`, or the
   * `verify` option of `express.json()`.
   */
  readonly rawBody?: unknown;
  /** The bytes as received, if `express.raw()` has read them; otherwise a parsed body. */
  readonly body?: unknown;
}

/** The body as received, if something has kept it; undefined if it has to be read from the connection. */
export function keptBody({ rawBody, body }: MaybeRead): Uint8Array | string | undefined {
  if (isTextOrBytes(rawBody)) return rawBody;
  return body instanceof Uint8Array ? body : undefined;
}

/** Smallest average size of the chunks of a body that reaches the maximum, in bytes: each chunk takes time and memory. */
const AVERAGE_CHUNK_BYTES = 16;

/**
 * Reads a body. For a body that is too large or has too many chunks, resolves with one byte more than the maximum
 * without reading the rest, so that the handler answers 413. Rejects if the connection is lost.
 */
export async function readRawBody(chunks: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const bytes = chunk as Uint8Array;
    length += bytes.byteLength;
    if (length > maxBytes || read.length > maxBytes / AVERAGE_CHUNK_BYTES)
      return new Uint8Array(maxBytes + 1);
    read.push(bytes);
  }
  return Buffer.concat(read);
}
