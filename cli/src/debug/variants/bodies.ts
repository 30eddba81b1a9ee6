import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { CauseCode } from '../causes.js';
import { type Rank, type Variant, variant } from '../signing.js';
import { isLarge } from './body-size.js';
import { fromWindows1252, utf16be, utf8Twice, windows1252 } from './encodings.js';
import { jsonBodyVariants } from './json-bodies.js';
import { jsonFieldVariants } from './json-fields.js';
import { jsonSpellings } from './json-spellings.js';

/** Variants of the body that a faulty signer could have signed by mistake, instead of the bytes that were sent. */
export function bodyVariants(body: Buffer): Variant[] {
  const text = body.toString();
  if (isLarge(body)) return [...placeholders(body), ...ofEnds(text)];
  return [
    ...placeholders(body),
    ...ofEnds(text),
    ...ofEncoding(body, text),
    ...digests(body),
    ...jsonSpellings(text).map(({ text: spelling, mistakes }): Variant => ({
      rank: mistakes.length === 1 ? 1 : mistakes.length === 2 ? 2 : 3,
      mistakes,
      change: { body: Buffer.from(spelling) },
    })),
    ...jsonBodyVariants(text),
    ...jsonFieldVariants(text),
    ...ofPrintedBytes(body),
    ...compressed(body),
  ];
}

const of = (rank: Rank, code: CauseCode, explanation: string, body: Buffer | string): Variant =>
  variant(rank, code, explanation, { body: Buffer.from(body) });

function placeholders(body: Buffer): Variant[] {
  const explanation = (signed: string) =>
    `${signed === '' ? 'An empty body' : signed} was signed${body.length === 0 ? ', and no body was sent. Sign nothing where nothing is sent.' : ' instead of the body.'}`;
  const texts = ['{}', 'null', '""', '[]', 'undefined', '[object Object]', 'None', 'nil', ' ', '0', 'false'];
  const types = [
    'Array',
    'Object',
    'System.Byte[]',
    'System.Object',
    'System.Collections.Generic.Dictionary`2[System.String,System.Object]',
    '[object ArrayBuffer]',
    '[object Promise]',
    '[object ReadableStream]',
  ];
  return [
    of(1, 'body-empty', explanation(''), ''),
    ...texts.map((text) => of(1, 'body-placeholder', explanation(text), text)),
    ...types.map((text) => of(2, 'body-placeholder', explanation(text), text)),
  ];
}

function ofEnds(text: string): Variant[] {
  const sent = 'The body was sent with a newline or space at its end that was not signed.';
  const added = 'A newline or space was signed at the end of the body, and not sent.';
  const ends = 'Line ends were changed between signing and sending.';
  return [
    ...['\n', '\r\n'].map((end) => of(1, 'newline-at-end', added, text + end)),
    ...[' ', '\t', '\0', '\n\n', '\r'].map((end) => of(2, 'newline-at-end', added, text + end)),
    ...['\n', '\r\n', ' '].map((start) =>
      of(2, 'layout-before-body', 'An empty line or a space was signed in front of the body.', start + text),
    ),
    of(1, 'body-end-not-signed', sent, text.replace(/\r?\n$/, '')),
    of(1, 'body-end-not-signed', sent, text.replace(/(?<![ \t\r\n])[ \t\r\n]+$/, '')),
    of(
      1,
      'body-trimmed',
      'The body was trimmed before it was signed.',
      text.replace(/^[ \t\r\n]+/, '').replace(/(?<![ \t\r\n])[ \t\r\n]+$/, ''),
    ),
    of(1, 'body-line-ends', ends, text.replaceAll('\r\n', '\n')),
    of(1, 'body-line-ends', ends, text.replaceAll(/\r?\n/g, '\r\n')),
    of(1, 'body-line-ends', ends, text.replaceAll(/\r?\n/g, '')),
    of(2, 'body-whitespace', 'The body was signed without its whitespace.', text.replaceAll(/\s/g, '')),
  ];
}

function ofEncoding(body: Buffer, text: string): Variant[] {
  const bom = 'A byte order mark was only signed or only sent.';
  const form = 'The body was signed in another Unicode normalization form than it was sent in.';
  const latin1 = 'The body was signed in Latin-1, Windows-1252 or ASCII, and sent in UTF-8.';
  const utf16 = 'The body was signed in UTF-16, and sent in UTF-8.';
  const little = Buffer.from(text, 'utf16le');
  const encoded = 'An encoded form of the body was signed, but the body was sent as it is.';
  return [
    of(1, 'body-bom', bom, `\ufeff${text}`),
    of(1, 'body-bom', bom, text.replace(/^\ufeff/, '')),
    ...(['NFC', 'NFD', 'NFKC', 'NFKD'] as const).map((each) =>
      of(1, 'body-unicode-form', form, text.normalize(each)),
    ),
    of(1, 'body-latin1', latin1, Buffer.from(text, 'latin1')),
    of(2, 'body-latin1', latin1, windows1252(text)),
    of(2, 'body-latin1', latin1, text.replaceAll(/[\u0080-\u{10ffff}]/gu, '?')),
    of(2, 'body-latin1', latin1, text.replaceAll(/[\u0080-\uffff]/g, '?')),
    of(2, 'body-latin1', latin1, text.replaceAll(/[\u0080-\uffff]/g, '')),
    of(2, 'body-latin1', latin1, body.toString('latin1').replaceAll(/[\u0080-\uffff]/g, '\ufffd')),
    of(1, 'body-utf16', utf16, little),
    of(2, 'body-utf16', utf16, utf16be(text)),
    of(2, 'body-utf16', utf16, Buffer.concat([Buffer.from([0xff, 0xfe]), little])),
    ...readAsLatin1(body, text),
    ...sentInUtf16(body),
    of(1, 'body-encoded', encoded, body.toString('base64')),
    of(2, 'body-encoded', encoded, body.toString('base64url')),
    of(2, 'body-encoded', encoded, body.toString('hex')),
    of(2, 'body-encoded', encoded, encodeURIComponent(text)),
    of(2, 'body-encoded', encoded, encodeURI(text)),
    of(2, 'body-case', 'The body was signed in lower case.', text.toLowerCase()),
    of(
      3,
      'body-cut',
      'The signed body is cut: its length was counted in characters, not in bytes.',
      body.subarray(0, text.length),
    ),
  ];
}

/**
 * The body, taken for Latin-1 and encoded as UTF-8. If the sent body is not UTF-8, it was sent in Latin-1; if the result
 * is not, no second encoding has made the sent body of it.
 */
function readAsLatin1(body: Buffer, text: string): Variant[] {
  if (!isUtf8(body)) {
    const sent = 'The body was sent in Latin-1 or Windows-1252, and signed in UTF-8. Send UTF-8.';
    return [body.toString('latin1'), fromWindows1252(body)].map((each) => of(1, 'body-latin1', sent, each));
  }
  const once = Buffer.from(text, 'latin1');
  const twice = (when: string) => `The body was encoded as UTF-8 twice before it was ${when}.`;
  return [
    of(1, 'body-utf8-twice', twice('signed'), utf8Twice(body)),
    ...(isUtf8(once) ? [of(1, 'body-utf8-twice', twice('sent'), once)] : []),
  ];
}

function sentInUtf16(body: Buffer): Variant[] {
  if (body.length % 2 !== 0 || !body.includes(0)) return [];
  const explanation = 'The body was sent in UTF-16, and signed in UTF-8. Send UTF-8.';
  return [body.toString('utf16le'), Buffer.from(body).swap16().toString('utf16le')].flatMap((each) =>
    [each, each.replace(/^\ufeff/, '')].map((text) => of(1, 'body-utf16', explanation, text)),
  );
}

function digests(body: Buffer): Variant[] {
  const algorithms = ['sha256', 'md5', 'sha1', 'sha512'];
  return algorithms.flatMap((algorithm) => {
    const digest = createHash(algorithm).update(body).digest();
    const hex = digest.toString('hex');
    const explanation = `A ${algorithm.toUpperCase()} digest of the body was signed instead of the body.`;
    const rank = algorithm === 'sha256' ? 1 : 2;
    const base64 = digest.toString('base64');
    const name = algorithm.replace(/^sha/, 'sha-');
    const fields = [`${algorithm}=${hex}`, `${name.toUpperCase()}=${base64}`, `${name}=:${base64}:`];
    return [hex, base64, hex.toUpperCase(), digest, ...fields].map((each, index) =>
      of(index < 2 ? rank : 2, 'body-digest', explanation, each),
    );
  });
}

/** The bytes of the body as programming languages print them. */
function ofPrintedBytes(body: Buffer): Variant[] {
  const explanation = 'The printed form of the bytes was signed, not the bytes.';
  const numbers = [...body];
  return [
    `b'${numbers.map(pythonByte).join('')}'`,
    numbers.join(','),
    `[${numbers.join(', ')}]`,
    `[${numbers.map((byte) => (byte << 24) >> 24).join(', ')}]`,
    `[${numbers.join(' ')}]`,
  ].map((printed) => of(2, 'body-printed', explanation, printed));
}

const PYTHON_ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\' }),
);

/**
 * A byte as Python's `repr` prints it. JSON usually contains a double quotation mark, and in this case `repr` encloses
 * the bytes in single quotation marks and escapes each single quotation mark.
 */
function pythonByte(byte: number): string {
  const character = String.fromCharCode(byte);
  const printable = character >= ' ' && character <= '~';
  return (
    PYTHON_ESCAPES.get(character) ?? (printable ? character : `\\x${byte.toString(16).padStart(2, '0')}`)
  );
}

/** Compresses only: the bytes of a stranger are no input for a decoder. */
function compressed(body: Buffer): Variant[] {
  const signed =
    'The compressed body was signed, and the plain one sent. The platform takes no compressed bodies.';
  // The ninth and tenth bytes of gzip's header name the level and the system, and differ between libraries.
  return [constants.Z_DEFAULT_COMPRESSION, 1, 9].flatMap((level) => {
    const gzip = gzipSync(body, { level });
    const headers = [0, 2, 4].flatMap((flags) => [3, 0, 10, 11, 19, 255].map((system) => [flags, system]));
    return [
      ...headers.map(([flags = 0, system = 0]) => {
        const bytes = Buffer.from(gzip);
        bytes[8] = flags;
        bytes[9] = system;
        return of(2, 'body-compressed', signed, bytes);
      }),
      of(2, 'body-compressed', signed, deflateSync(body, { level })),
      of(2, 'body-compressed', signed, deflateRawSync(body, { level })),
    ];
  });
}
