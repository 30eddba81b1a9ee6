/** Only the simplest variants of a larger body are tried: to build and to sign all takes too long. */
export const LARGE_BODY_BYTES = 128 * 1024;

export function isLarge(body: Buffer): boolean {
  return body.length > LARGE_BODY_BYTES;
}
