/**
 * An id with a random part in hexadecimal digits. `crypto.randomUUID` needs HTTPS; this does not.
 * @param bytes length of the random part
 */
export function randomId(prefix: string, bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return `${prefix}-${Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
