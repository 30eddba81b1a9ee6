import { createHash, createHmac } from 'node:crypto';
import type { CauseCode } from '../causes.js';
import { type Digest, type Mistake, type Rank, type Variant, variant } from '../signing.js';
import { utf16be } from './encodings.js';

const ALGORITHMS = [
  'sha256',
  'sha512',
  'sha1',
  'sha384',
  'sha224',
  'md5',
  'sha3-256',
  'sha3-512',
  'sha3-224',
  'sha3-384',
  'sha512-256',
  'ripemd160',
  'blake2b512',
  'blake2s256',
];

/** Ways to combine key and text other than HMAC-SHA256 of the text. */
export function digestVariants(): Variant[] {
  return [...ALGORITHMS.flatMap(withAlgorithm), ...withTextEncodings()];
}

function withAlgorithm(algorithm: string): Variant[] {
  const name = algorithm.toUpperCase();
  const hash = (...parts: (Buffer | string)[]) => {
    const sum = createHash(algorithm);
    for (const part of parts) sum.update(part);
    return sum.digest();
  };
  const hmac = (key: Buffer, text: Buffer | string) => createHmac(algorithm, key).update(text).digest();
  const isRight = algorithm === 'sha256';
  const rank: Rank = isRight ? 1 : 3;
  const other = isRight ? '' : ` with ${name}`;
  const of = (code: CauseCode, explanation: string, digest: Digest, itsRank: Rank = rank): Variant => {
    const own: Mistake = { code, explanation };
    const algorithmToo: Mistake = { code: 'digest-algorithm', explanation: `${name} was used, not SHA-256.` };
    const mistakes = isRight ? [own] : [own, algorithmToo];
    return { rank: itsRank, mistakes, change: { digest } };
  };
  const algorithmItself = variant(
    ['sha512', 'sha1', 'md5'].includes(algorithm) ? 1 : 2,
    'digest-algorithm',
    `HMAC with ${name} was used, not with SHA-256.`,
    { digest: hmac },
  );
  return [
    ...(isRight ? [] : [algorithmItself]),
    of(
      'digest-without-key',
      `A plain hash${other} was sent: the secret was not used at all. Use HMAC.`,
      (_, text) => hash(text),
    ),
    ...['', '\n', ':', '.', '|'].flatMap((separator) => [
      of(
        'digest-key-prepended',
        `The secret was put in front of the text and hashed${other}. Use HMAC, with the secret as the key.`,
        (key, text) => hash(key, separator, text),
        separator === '' ? rank : 3,
      ),
      of(
        'digest-key-appended',
        `The secret was appended to the text and hashed${other}. Use HMAC, with the secret as the key.`,
        (key, text) => hash(text, separator, key),
        separator === '' ? rank : 3,
      ),
    ]),
    of(
      'digest-key-around',
      `The secret was put around the text and hashed${other}. Use HMAC, with the secret as the key.`,
      (key, text) => hash(key, text, key),
    ),
    ...(['binary', 'hex', 'base64'] as const).flatMap((encoding) => {
      const spelt = (bytes: Buffer) => (encoding === 'binary' ? bytes : bytes.toString(encoding));
      return [
        of(
          'digest-of-hash',
          `The text was hashed${other} before the HMAC was made of it. Make the HMAC of the text itself.`,
          (key, text) => hmac(key, spelt(hash(text))),
        ),
        of(
          'digest-twice',
          `The HMAC of an HMAC was sent${other}. Compute the HMAC once, of the text.`,
          (key, text) => hmac(key, spelt(hmac(key, text))),
        ),
        of(
          'digest-hashed-again',
          `The HMAC was hashed once more${other}. Send the HMAC itself.`,
          (key, text) => hash(spelt(hmac(key, text))),
        ),
      ];
    }),
    of(
      'digest-swapped',
      'Key and text were swapped in the call of the HMAC function: the secret is the key.',
      (key, text) => hmac(text, key),
    ),
    ...['', '\n', '.', ':', '|'].flatMap((joint) => {
      const separator = Buffer.from(joint);
      const inText = (join: (key: Buffer, text: Buffer) => Buffer[]) =>
        of(
          'digest-key-in-text',
          'The secret was signed along with the text. It is the key, and no part of the text.',
          (key, text) => hmac(key, Buffer.concat(join(key, text))),
          3,
        );
      return [inText((key, text) => [key, separator, text]), inText((key, text) => [text, separator, key])];
    }),
  ];
}

/** HMACs of the whole text after its encoding, letter case or format was changed. */
function withTextEncodings(): Variant[] {
  const hmac = (key: Buffer, text: Buffer | string) => createHmac('sha256', key).update(text).digest();
  const utf16 = 'The text was turned into bytes as UTF-16. Use its UTF-8 bytes.';
  const encoded = (name: string) => `The whole text was encoded as ${name} before it was signed.`;
  return [
    variant(1, 'text-utf16', utf16, {
      digest: (key, text) => hmac(key, Buffer.from(text.toString(), 'utf16le')),
    }),
    variant(2, 'text-utf16', utf16, { digest: (key, text) => hmac(key, utf16be(text.toString())) }),
    variant(2, 'text-encoded', encoded('base64'), {
      digest: (key, text) => hmac(key, text.toString('base64')),
    }),
    variant(2, 'text-encoded', encoded('hex'), { digest: (key, text) => hmac(key, text.toString('hex')) }),
    variant(2, 'text-encoded', encoded('a URL component'), {
      digest: (key, text) => hmac(key, encodeURIComponent(text.toString())),
    }),
    variant(2, 'text-case', 'The whole text was signed in lower case.', {
      digest: (key, text) => hmac(key, text.toString().toLowerCase()),
    }),
    variant(2, 'text-json', 'The whole text was signed as a JSON string, in quotation marks.', {
      digest: (key, text) => hmac(key, JSON.stringify(text.toString())),
    }),
  ];
}
