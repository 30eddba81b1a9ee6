import { createHash } from 'node:crypto';
import type { CauseCode } from '../causes.js';
import { type Mistake, type Rank, type Variant, variant } from '../signing.js';
import { base32Decoded, base32Encoded } from './base32.js';
import { utf16be, utf8Twice } from './encodings.js';

/** Characters that replace a mistyped one: those of base64url, in which the platform issues secrets, and of base64. */
const SECRET_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=';
/** Longest secret, in characters, that is searched for a wrong character. */
const MAX_TYPO_LENGTH = 96;

/** Keys that a signer may use instead of the secret's UTF-8 bytes. */
export function keyVariants(secret: string, tenant: string): Variant[] {
  const key = Buffer.from(secret);
  return [
    ...withSomethingAround(secret),
    ...decoded(secret),
    ...encoded(key),
    ...hashed(key),
    ...echoed(secret),
    ...respelt(secret),
    ...placeholders(secret, tenant),
    ...cut(key),
  ];
}

const of = (rank: Rank, code: CauseCode, explanation: string, key: Buffer | string): Variant =>
  variant(rank, code, explanation, { key: Buffer.from(key) });

const WHITESPACE: Mistake = {
  code: 'key-whitespace',
  explanation:
    'The key has whitespace around the secret. Trim the value when you read it from a file or variable.',
};
const QUOTED: Mistake = {
  code: 'key-quoted',
  explanation:
    'The key includes quotation marks around the secret. Remove them where the secret is configured.',
};

function withSomethingAround(secret: string): Variant[] {
  const trimmed = secret.trim();
  const whitespace = ['\n', '\r\n', ' ', '\t', '\r', '\n\n', '\0', '\u00a0', '\u200b'].flatMap((space) => [
    secret + space,
    trimmed + space,
    space + secret,
    space + secret + space,
  ]);
  const quoted = ['"', "'", '`'].map((mark) => mark + secret + mark);
  const quotedLines = quoted.flatMap((text) => [`${text}\n`, `${text}\r\n`]);
  const prefixes = ['whsec_', 'Bearer ', 'sha256=', 'secret:', 'secret=', 'CROUPIER_SECRET=', 'sk_', '0x'];
  return [
    ...whitespace.map((key) => of(1, WHITESPACE.code, WHITESPACE.explanation, key)),
    ...[
      ...quoted,
      JSON.stringify(secret),
      `<${secret}>`,
      `[${secret}]`,
      `\u201c${secret}\u201d`,
      `\u2018${secret}\u2019`,
    ].map((key) => of(1, QUOTED.code, QUOTED.explanation, key)),
    ...quotedLines.map((key): Variant => ({
      rank: 2,
      mistakes: [QUOTED, WHITESPACE],
      change: { key: Buffer.from(key) },
    })),
    ...[';', ',', '.', '%', '$', '\\', '"', "'"].map((end) =>
      of(2, 'key-suffix', `The key ends with ${end}, which is not part of the secret.`, secret + end),
    ),
    ...prefixes
      .flatMap((prefix) => [prefix + secret, secret.startsWith(prefix) ? secret.slice(prefix.length) : ''])
      .filter((key) => key !== '')
      .map((key) =>
        of(2, 'key-prefix', 'The key has a prefix that the secret does not have, or lacks one.', key),
      ),
    of(2, 'key-ampersand', 'The key is the secret followed by "&", as in OAuth 1.', `${secret}&`),
    of(2, 'key-bom', 'The key begins with a byte order mark.', `\ufeff${secret}`),
    of(2, 'key-doubled', 'The key is the secret twice in a row.', secret + secret),
  ];
}

function decoded(secret: string): Variant[] {
  const text = secret.trim();
  const base64 =
    'The secret was decoded as base64. Its text is the key, even where it looks like base64: do not decode it.';
  const hex =
    'The secret was decoded as hex. Its text is the key, even where it looks like hex: do not decode it.';
  const base32 = base32Decoded(text);
  const base64Texts = [text, text.replace(/[^A-Za-z0-9+/]/g, ''), text.replace(/^[a-z]+_/, '')];
  return [
    ...base64Texts.map((each) => of(1, 'key-base64-decoded', base64, Buffer.from(each, 'base64'))),
    ...base64Texts
      .flatMap((each) => asText(Buffer.from(each, 'base64')))
      .map((key) => of(2, 'key-base64-decoded', base64, key)),
    ...hexDecoded(text.replace(/^0x/i, '')).flatMap((key) => [
      of(1, 'key-hex-decoded', hex, key),
      ...asText(key).map((each) => of(2, 'key-hex-decoded', hex, each)),
    ]),
    ...(base32
      ? [of(2, 'key-base32-decoded', 'The secret was decoded as base32: its text is the key.', base32)]
      : []),
  ];
}

/** Decoded bytes, read as UTF-8 or Latin-1 text and turned into UTF-8 bytes again. */
function asText(bytes: Buffer): string[] {
  return [bytes.toString(), bytes.toString('latin1')];
}

/** What decoders of hex return. Many accept a text that is not hex: they stop at it, skip it, or take its lowest bits. */
function hexDecoded(text: string): Buffer[] {
  const pairs = text.match(/../gs) ?? [];
  const bits = (sign: string) => {
    const code = sign.charCodeAt(0);
    return /[A-Za-z]/.test(sign) ? ((code & 7) + 9) & 15 : code & 15;
  };
  const digit = (sign: string) => (/[0-9a-f]/i.test(sign) ? Number.parseInt(sign, 16) : -1);
  const parsed = (pair: string) => Number.parseInt(pair, 16) || 0;
  return [
    Buffer.from(text, 'hex'),
    Buffer.from(pairs.map(parsed)),
    Buffer.from(pairs.map((pair) => (digit(pair.charAt(0)) << 4) + digit(pair.charAt(1)))),
    Buffer.from(
      (text.length % 2 === 0 ? text : `${text}0`)
        .match(/../gs)
        ?.map((pair) => (bits(pair.charAt(0)) << 4) | bits(pair.charAt(1))) ?? [],
    ),
    Buffer.from(text.replaceAll(/[^0-9a-f]/gi, ''), 'hex'),
  ];
}

function encoded(key: Buffer): Variant[] {
  const hex = key.toString('hex');
  const base64 = key.toString('base64');
  const base64url = key.toString('base64url');
  const spellings = [base64, base64.replace(/(?<!=)=+$/, ''), base64url, `${base64}\n`];
  return [
    ...spellings.map((text) =>
      of(1, 'key-base64-encoded', 'The secret was encoded as base64. Its text itself is the key.', text),
    ),
    ...[hex, hex.toUpperCase()].map((text) =>
      of(1, 'key-hex-encoded', 'The secret was encoded as hex. Its text itself is the key.', text),
    ),
    of(
      2,
      'key-base32-encoded',
      'The secret was encoded as base32. Its text itself is the key.',
      base32Encoded(key),
    ),
  ];
}

function hashed(key: Buffer): Variant[] {
  return ['sha256', 'md5', 'sha1', 'sha512', 'sha384', 'sha224', 'sha3-256'].flatMap((algorithm) => {
    const digest = createHash(algorithm).update(key).digest();
    const hex = digest.toString('hex');
    const spellings = [
      digest,
      hex,
      hex.toUpperCase(),
      digest.toString('base64'),
      digest.toString('base64url'),
    ];
    const rank = algorithm === 'sha256' ? 1 : 2;
    const mistake = hashedWith(algorithm);
    const cutTo = (length: number): Mistake => ({
      code: 'key-cut',
      explanation: `Only the first ${length} characters of that hash were used.`,
    });
    return [
      ...spellings.map((each) => of(rank, mistake.code, mistake.explanation, each)),
      ...[16, 32].map((length): Variant => ({
        rank: 3,
        mistakes: [mistake, cutTo(length)],
        change: { key: Buffer.from(hex.slice(0, length)) },
      })),
    ];
  });
}

function hashedWith(algorithm: string): Mistake {
  const explanation = `The secret was hashed with ${algorithm.toUpperCase()}. Its text itself is the key.`;
  return { code: 'key-hashed', explanation };
}

/** The secret with the newline that `echo` appends in a shell, encoded or hashed by the next command. */
function echoed(secret: string): Variant[] {
  const line = Buffer.from(`${secret}\n`);
  const base64 = line.toString('base64');
  const hex = line.toString('hex');
  const encodedAs = (name: 'base64' | 'hex'): Mistake => ({
    code: `key-${name}-encoded`,
    explanation: `The secret was encoded as ${name}. Its text itself is the key.`,
  });
  const both = (mistake: Mistake, key: string): Variant => ({
    rank: 3,
    mistakes: [WHITESPACE, mistake],
    change: { key: Buffer.from(key) },
  });
  return [
    both(encodedAs('base64'), base64),
    both(encodedAs('base64'), `${base64}\n`),
    both(encodedAs('hex'), hex),
    both(encodedAs('hex'), `${hex}\n`),
    ...['sha256', 'md5', 'sha1', 'sha512'].map((algorithm) =>
      both(hashedWith(algorithm), createHash(algorithm).update(line).digest('hex')),
    ),
  ];
}

function respelt(secret: string): Variant[] {
  const utf16 = Buffer.from(secret, 'utf16le');
  const wide = [utf16, utf16be(secret), Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])];
  const escaped = [encodeURIComponent(secret), encodeURI(secret), ...percentDecoded(secret)];
  const form = [secret.normalize('NFC'), secret.normalize('NFD'), secret.normalize('NFKC')];
  const alphabet = [
    secret.replaceAll('-', '+').replaceAll('_', '/'),
    secret.replaceAll('+', '-').replaceAll('/', '_'),
    secret.replaceAll('+', ' '),
    secret.replace(/(?<!=)=+$/, ''),
    `${secret}=`,
    `${secret}==`,
    secret.replaceAll('-', ''),
    secret.replace(/[^A-Za-z0-9]/g, ''),
  ];
  return [
    ...[secret.toLowerCase(), secret.toUpperCase()].map((key) =>
      of(1, 'key-case', 'The key has other upper- and lower-case letters than the secret.', key),
    ),
    ...wide.map((key) =>
      of(1, 'key-utf16', 'The secret was turned into bytes as UTF-16. Use its UTF-8 bytes.', key),
    ),
    of(
      2,
      'key-latin1',
      'The secret was turned into bytes as Latin-1. Use its UTF-8 bytes.',
      Buffer.from(secret, 'latin1'),
    ),
    of(2, 'key-utf8-twice', 'The secret was encoded as UTF-8 twice.', utf8Twice(Buffer.from(secret))),
    ...escaped.map((key) => of(2, 'key-url-encoded', 'The secret was URL-encoded or URL-decoded.', key)),
    ...form.map((key) =>
      of(2, 'key-unicode-form', 'The key is in another Unicode normalization form than the secret.', key),
    ),
    ...alphabet.map((key) =>
      of(2, 'key-alphabet', 'The key lacks or replaces characters of the secret, such as - _ + / =.', key),
    ),
    of(3, 'key-reversed', 'The key is the secret backwards.', [...secret].reverse().join('')),
  ];
}

function percentDecoded(text: string): string[] {
  try {
    return [decodeURIComponent(text), decodeURIComponent(text.replaceAll('+', ' '))];
  } catch {
    return [];
  }
}

function placeholders(secret: string, tenant: string): Variant[] {
  const names = [
    'CROUPIER_SECRET',
    'SECRET',
    'secret',
    'undefined',
    'null',
    'None',
    '[object Object]',
    'changeme',
    '${CROUPIER_SECRET}',
    '$CROUPIER_SECRET',
    'process.env.CROUPIER_SECRET',
  ];
  return [
    of(
      1,
      'key-empty',
      'The key is empty: no secret was configured where the request was signed, or decoding it failed.',
      '',
    ),
    of(1, 'key-tenant-id', 'The tenant id was used as the key, not the secret.', tenant),
    ...['', ':', '.', '-', '_', '|', '&'].flatMap((separator) =>
      [tenant + separator + secret, secret + separator + tenant].map((key) =>
        of(
          2,
          'key-with-tenant-id',
          'The key is the secret joined with the tenant id. The secret alone is the key.',
          key,
        ),
      ),
    ),
    ...names.map((key) =>
      of(
        1,
        'key-placeholder',
        `The key is the text "${key}": no secret was configured where the request was signed.`,
        key,
      ),
    ),
  ];
}

function cut(key: Buffer): Variant[] {
  const explanation = (length: number, end: string) =>
    `The key is only the ${end} ${length} bytes of the secret. Check how long the column or variable may be.`;
  const lengths = Array.from({ length: Math.min(key.length - 1, 256) }, (_, index) => index + 1).reverse();
  return [
    ...lengths.flatMap((length) => [
      of(rankOfCut(length, key), 'key-cut', explanation(length, 'first'), key.subarray(0, length)),
      of(3, 'key-cut', explanation(length, 'last'), key.subarray(key.length - length)),
    ]),
  ];
}

/** A secret is most likely cut to a common size of keys and columns, or by one byte. */
function rankOfCut(length: number, key: Buffer): Rank {
  return [16, 24, 32, 64, key.length - 1].includes(length) ? 1 : 3;
}

/** Secrets that differ from the given one by a single character, or by two adjacent characters that are swapped. */
export function keyTypos(secret: string): Variant[] {
  if (secret.length > MAX_TYPO_LENGTH) return [];
  const explanation = (position: number) =>
    `The key differs from the secret in one character, at position ${position + 1}. Copy the secret again.`;
  const variants: Variant[] = [];
  for (let at = 0; at <= secret.length; at += 1) {
    const before = secret.slice(0, at);
    const after = secret.slice(at + 1);
    const add = (key: string) => variants.push(of(3, 'key-typo', explanation(at), key));
    // A secret without its first or last character is one that was cut.
    if (at > 0 && at < secret.length - 1) add(before + after);
    add(before + secret.slice(at + 1, at + 2) + secret.slice(at, at + 1) + secret.slice(at + 2));
    for (const character of SECRET_ALPHABET) {
      add(before + character + after);
      add(before + character + secret.slice(at));
    }
  }
  return variants;
}
