import { hex, kind, type PlantedMistake } from './call.js';

/** A secret that was given to the command, and to the signer, in this form. */
const both = (name: string, code: string, dress: (secret: string) => string) =>
  kind(name, code, ({ secret }) => ({ key: dress(secret), sent: { secret: dress(secret) } }));

/** The lowest four bits of a letter, as `pack('H*')` of Ruby and Perl reads it. */
function lenientDigit(letter: string): number {
  const code = letter.charCodeAt(0);
  return code >= 65 ? (code % 8) + 9 - (code % 8 > 6 ? 16 : 0) : code % 16;
}

export const SECRETS: readonly PlantedMistake[] = [
  both('both secrets with a newline', 'given-secret-whitespace', (secret) => `${secret}\n`),
  both('both secrets with CRLF', 'given-secret-whitespace', (secret) => `${secret}\r\n`),
  both('both secrets between spaces', 'given-secret-whitespace', (secret) => ` ${secret} `),
  both('both secrets in double quotes', 'given-secret-quoted', (secret) => `"${secret}"`),
  both('both secrets in single quotes', 'given-secret-quoted', (secret) => `'${secret}'`),
  both(
    'both secrets in quotes, with a newline',
    'given-secret-quoted+given-secret-whitespace',
    (secret) => `"${secret}"\n`,
  ),
  both('both secrets with the variable', 'given-secret-prefix', (secret) => `CROUPIER_SECRET=${secret}`),
  kind(
    'both secrets with a newline, lower-case method',
    'given-secret-whitespace+method-case',
    ({ secret }) => ({
      key: `${secret}\n`,
      parts: { method: 'post' },
      sent: { secret: `${secret}\n` },
    }),
  ),
  kind(
    'given secret in quotes, newline at the end',
    'given-secret-quoted+newline-at-end',
    ({ secret, body }) => ({
      key: secret,
      parts: { body: `${body}\n` },
      sent: { secret: `"${secret}"` },
    }),
  ),
  kind('given secret with a newline, key in quotes', 'given-secret-whitespace+key-quoted', ({ secret }) => ({
    key: `"${secret}"`,
    sent: { secret: `${secret}\n` },
  })),
  kind('hex decoder of Node on a secret that is not hex', ['key-hex-decoded', 'key-empty'], ({ secret }) => ({
    key: Buffer.from(`a0${secret}`, 'hex'),
    sent: { secret: `a0${secret}` },
  })),
  kind('hex decoder that fails', ['key-hex-decoded', 'key-empty'], ({ secret }) => ({
    key: '',
    sent: { secret: `z${secret}` },
  })),
  kind('hex decoder of Ruby', 'key-hex-decoded', ({ secret }) => {
    const digits = [...secret.replaceAll(/[-_]/g, '7')].slice(0, 42);
    const bytes = digits.flatMap((digit, index) =>
      index % 2 === 0 ? [lenientDigit(digit) * 16 + lenientDigit(digits[index + 1]!)] : [],
    );
    return { key: Buffer.from(bytes), sent: { secret: digits.join('') } };
  }),
  kind('hex decoder of crypto-js', 'key-hex-decoded', ({ secret }) => {
    const bytes = Array.from({ length: Math.floor(secret.length / 2) }, (_, index) => {
      const byte = Number.parseInt(secret.slice(2 * index, 2 * index + 2), 16);
      return Number.isNaN(byte) ? 0 : byte;
    });
    return { key: Buffer.from(bytes), sent: { secret: secret.slice(0, 2 * bytes.length) } };
  }),
  kind('hex secret decoded', 'key-hex-decoded', ({ secret }) => {
    const issued = Buffer.from(secret.slice(0, 32)).toString('hex');
    return { key: Buffer.from(issued, 'hex'), sent: { secret: issued } };
  }),
  kind('base64 decoded, then read as text', 'key-base64-decoded', ({ secret }) => ({
    key: Buffer.from(secret, 'base64').toString('utf8'),
  })),
  kind('base64 decoded by atob', 'key-base64-decoded', ({ secret }) => ({
    key: Buffer.from(secret, 'base64').toString('latin1'),
  })),
  kind('hashed, with a newline', 'key-hashed+key-whitespace', ({ secret }) => ({
    key: `${hex('sha256', secret)}\n`,
  })),
];
