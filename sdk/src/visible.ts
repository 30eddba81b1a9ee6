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

function byCode(sign: string): string {
  return `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
