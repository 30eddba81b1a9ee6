/**
 * Reads a body. For a body that is too large, resolves with one byte more than the maximum without reading the rest, so
 * that the handler answers 413. Rejects if the connection is lost.
 */
export async function readRawBody(chunks: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const bytes = chunk as Uint8Array;
    length += bytes.byteLength;
    if (length > maxBytes) return new Uint8Array(maxBytes + 1);
    read.push(bytes);
  }
  return Buffer.concat(read);
}
