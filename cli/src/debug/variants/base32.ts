const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes as base32, with padding. RFC 4648. */
export function base32Encoded(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((value >> bits) & 31);
    }
  }
  if (bits > 0) text += ALPHABET.charAt((value << (5 - bits)) & 31);
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=');
}

/**
 * Decodes base32.
 * @returns undefined if the text is not base32
 */
export function base32Decoded(text: string): Buffer | undefined {
  const digits = text.replace(/(?<!=)=+$/, '').toUpperCase();
  if (!/^[A-Z2-7]+$/.test(digits)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const digit of digits) {
    value = ((value << 5) | ALPHABET.indexOf(digit)) & 0xffff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 255);
    }
  }
  return Buffer.from(bytes);
}
