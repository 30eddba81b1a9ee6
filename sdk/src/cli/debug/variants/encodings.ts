/** UTF-16 in big-endian order, without a byte order mark. */
export function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/** UTF-8 bytes taken for Latin-1 and encoded as UTF-8 once more. */
export function utf8Twice(utf8: Buffer): Buffer {
  return Buffer.from(utf8.toString('latin1'));
}

/** The characters of the bytes 0x80 to 0x9f: only these differ between Windows-1252 and Latin-1. */
const WINDOWS_1252 = [...'€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'];

/** Encodes a text as Windows-1252. Characters that it lacks are cut to their lowest byte, as `latin1` does. */
export function windows1252(text: string): Buffer {
  const bytes = [...text].map((sign) => {
    const at = WINDOWS_1252.indexOf(sign);
    return at < 0 ? (sign.codePointAt(0) ?? 0) : 0x80 + at;
  });
  return Buffer.from(bytes);
}
