/** Encodes a text as UTF-16 in big-endian order, without a byte order mark. */
export function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/** Encodes UTF-8 bytes as UTF-8 once more, as if they were Latin-1. */
export function utf8Twice(utf8: Buffer): Buffer {
  return Buffer.from(utf8.toString('latin1'));
}

/** The characters of the bytes 0x80 to 0x9f: only these differ between Windows-1252 and Latin-1. */
const WINDOWS_1252 = [...'€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'];

/** Encodes a text as Windows-1252. Cuts characters that Windows-1252 lacks to their lowest byte, as `latin1` does. */
export function windows1252(text: string): Buffer {
  const bytes = [...text].map((sign) => {
    const at = WINDOWS_1252.indexOf(sign);
    return at < 0 ? (sign.codePointAt(0) ?? 0) : 0x80 + at;
  });
  return Buffer.from(bytes);
}

/** Decodes a text in Windows-1252. */
export function fromWindows1252(bytes: Buffer): string {
  return [...bytes]
    .map((byte) => (byte >= 0x80 && byte < 0xa0 ? WINDOWS_1252[byte - 0x80] : String.fromCharCode(byte)))
    .join('');
}
