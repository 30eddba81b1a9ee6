import { visibleText } from '@croupier/provider-sdk';

/** Foreign bytes as `visibleText`; invalid UTF-8 becomes `⟨ff⟩`. */
export function visibleBytes(bytes: Buffer): string {
  return visibleText(decode(bytes));
}

/** JSON in which the characters that `visibleText` replaces are escaped, so that a parser reads the same values. */
export function visibleJson(value: unknown): string {
  // JSON.stringify escapes the controls below U+0020, so that a line feed here is its own indentation.
  return JSON.stringify(value, null, 2).replace(/[^\n]/gu, (sign) =>
    visibleText(sign) === sign ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
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
