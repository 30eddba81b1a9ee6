/** UTF-16 in big-endian order, without a byte order mark. */
export function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/** UTF-8 bytes taken for Latin-1 and encoded as UTF-8 once more. */
export function utf8Twice(utf8: Buffer): Buffer {
  return Buffer.from(utf8.toString('latin1'));
}
