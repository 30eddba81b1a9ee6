const NAMED = new Map([
  ['\n', '␊'],
  ['\r', '␍'],
  ['\t', '␉'],
  ['\u0000', '␀'],
  ['\ufeff', '⟨BOM⟩'],
  ['\u007f', '␡'],
]);

/** Renders bytes as text: control characters as symbols, invalid UTF-8 as `⟨ff⟩`. Keeps line breaks. */
export function visible(bytes: Buffer): string {
  const text = decode(bytes);
  return text
    .replace(/[\p{Cc}\u2028\u2029\ufeff]/gu, (sign) => NAMED.get(sign) ?? byCode(sign))
    .replaceAll('␊', '␊\n');
}

/** Like {@link visible}, but on one line. */
export function visibleLine(bytes: Buffer): string {
  return visible(bytes).replaceAll('\n', '');
}

function byCode(sign: string): string {
  return `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The bytes are not UTF-8, so each one is shown by itself.
    return [...bytes]
      .map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : `⟨${byte.toString(16)}⟩`))
      .join('');
  }
}
