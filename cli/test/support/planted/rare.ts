import { canonical, hmac, kind, type PlantedMistake } from './call.js';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 by way of a text of binary digits. */
function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  const letters = groups.map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]!).join('');
  return letters.padEnd(Math.ceil(letters.length / 8) * 8, '=');
}

/** Mistakes that are seldom made. */
export const RARE: readonly PlantedMistake[] = [
  kind('no signature at all in the header', 'signature-malformed', () => ({ signature: 'to be done!' })),
  kind('an unknown key, the right bytes', 'key-other', () => ({
    key: 'not the secret',
    givesSignedBytes: true,
  })),
  kind('an unknown key', 'unknown', () => ({ key: 'not the secret' })),
  kind('key of OAuth 1', 'key-ampersand', ({ secret }) => ({ key: `${secret}&` })),
  kind('key pasted twice', 'key-doubled', ({ secret }) => ({ key: secret + secret })),
  kind('key in base32', 'key-base32-encoded', ({ secret }) => ({ key: base32(Buffer.from(secret)) })),
  kind('key decoded from base32', 'key-base32-decoded', ({ secret }) => {
    const bytes = hmac(secret, 'key').subarray(0, 20);
    return { key: bytes, sent: { secret: base32(bytes) } };
  }),
  kind('key in Latin-1', 'key-latin1', ({ secret }) => ({
    key: Buffer.from(`ë${secret}`, 'latin1'),
    sent: { secret: `ë${secret}` },
  })),
  kind('key encoded twice', 'key-utf8-twice', ({ secret }) => ({
    key: Buffer.from(`ë${secret}`).toString('latin1'),
    sent: { secret: `ë${secret}` },
  })),
  kind('key in another form', 'key-unicode-form', ({ secret }) => ({
    key: `e\u0308${secret}`,
    sent: { secret: `ë${secret}` },
  })),
  kind('key backwards', 'key-reversed', ({ secret }) => ({ key: [...secret].reverse().join('') })),
  kind('text as a JSON string', 'text-json', (call) => ({ text: JSON.stringify(canonical(call)) })),
  kind('method left empty', 'method-empty', () => ({ parts: { method: '' } })),
  kind('path left empty', 'path-empty', () => ({ parts: { path: '' } })),
  kind('timestamp left empty', 'timestamp-empty', () => ({ parts: { timestamp: '' } })),
  kind('timestamp with a space', 'timestamp-whitespace', ({ timestamp }) => ({
    parts: { timestamp: ` ${timestamp}` },
  })),
  kind('nonce with a space', 'nonce-whitespace', ({ nonce }) => ({ parts: { nonce: `${nonce} ` } })),
  kind('body in lower case', 'body-case', ({ body }) => ({ parts: { body: body.toLowerCase() } })),
  kind(
    'values of the fields alone',
    'body-values-only',
    ({ body }) => ({ parts: { body: Object.values(JSON.parse(body) as object).join('') } }),
    { body: 'plain' },
  ),
];
