const NAMED = new Map([
  ['\n', '␊'],
  ['\r', '␍'],
  ['\t', '␉'],
  ['\u0000', '␀'],
  ['\ufeff', '⟨BOM⟩'],
  ['\u007f', '␡'],
]);

/** Control characters, line separators and bidirectional controls, for a character class with the flag `u`. */
export const CONTROLS = String.raw`\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`;

/** Also the byte order mark. */
const UNSAFE = new RegExp(`[${CONTROLS}\\ufeff]`, 'gu');

/**
 * Foreign text for a terminal, a report or a log line: on one line, with a symbol or a code point in place of each
 * character that could move the cursor, begin a line or change the order of the text.
 */
export function visibleText(text: string): string {
  return text.replace(UNSAFE, (sign) => NAMED.get(sign) ?? byCode(sign));
}

/** Foreign bytes as {@link visibleText}; invalid UTF-8 becomes `⟨ff⟩`. */
export function visibleBytes(bytes: Buffer): string {
  return visibleText(decode(bytes));
}

/** JSON whose strings contain none of these characters: they are escaped, so that a parser reads the same values. */
export function visibleJson(value: unknown): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // JSON.stringify escapes the controls below U+0020, so that a line feed here is its own indentation.
  return JSON.stringify(value, null, 2).replace(UNSAFE, (sign) => (sign === '\n' ? sign : escaped(sign)));
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
