import { canonical, hmac, kind, letters, type PlantedMistake } from './call.js';

export const HEADERS: readonly PlantedMistake[] = [
  kind('timestamp a second later', 'timestamp-differs', ({ timestamp }) => ({
    parts: { timestamp: String(Number(timestamp) + 1) },
  })),
  kind('timestamp five seconds earlier', 'timestamp-differs', ({ timestamp }) => ({
    parts: { timestamp: String(Number(timestamp) - 5) },
  })),
  kind('timestamp signed in milliseconds', 'timestamp-milliseconds', ({ timestamp }, random) => ({
    parts: { timestamp: String(Number(timestamp) * 1000 + Math.floor(random() * 1000)) },
  })),
  kind('timestamp sent and signed in milliseconds', 'timestamp-not-in-seconds', ({ timestamp }) => ({
    parts: { timestamp: `${timestamp}123` },
    sent: { timestamp: `${timestamp}123` },
  })),
  kind('timestamp with a fraction', 'timestamp-fraction', ({ timestamp }, random) => ({
    parts: { timestamp: `${timestamp}.${String(Math.floor(random() * 1000)).padStart(3, '0')}` },
  })),
  kind('timestamp with .0', 'timestamp-fraction', ({ timestamp }) => ({
    parts: { timestamp: `${timestamp}.0` },
  })),
  kind('timestamp of a float in Python', 'unknown', ({ timestamp }, random) => ({
    parts: { timestamp: `${timestamp}.${1_000_000 + Math.floor(random() * 8_999_999)}` },
  })),
  kind('timestamp as ISO text', 'timestamp-text', ({ timestamp }) => ({
    parts: { timestamp: new Date(Number(timestamp) * 1000).toISOString() },
  })),
  kind('timestamp in local time', 'timestamp-time-zone', ({ timestamp }) => ({
    parts: { timestamp: String(Number(timestamp) + 19_800) },
  })),
  kind('clock an hour ahead', 'clock-time-zone', ({ timestamp }) => ({ now: Number(timestamp) - 3600 })),
  kind('clock 400 s behind', 'clock-behind', ({ timestamp }) => ({ now: Number(timestamp) + 400 })),
  kind('nonce in upper case', 'nonce-case', ({ nonce }) => ({ parts: { nonce: nonce.toUpperCase() } })),
  kind('nonce without dashes', 'nonce-dashes', ({ nonce }) => ({
    parts: { nonce: nonce.replaceAll('-', '') },
  })),
  kind('request id for the nonce', 'nonce-other-header', () => ({
    parts: { nonce: '3f0e7a52-1111-4222-8333-444455556666' },
  })),
  kind('another nonce', 'unknown', (_, random) => ({ parts: { nonce: letters(random, 32) } })),
  kind('nonce too short', 'nonce-malformed', () => ({ parts: { nonce: 'abc' }, sent: { nonce: 'abc' } })),
  kind('nonce sent twice', 'header-twice', ({ nonce }) => ({ extraHeaders: [['X-Nonce', nonce]] })),
  kind('signature missing', 'header-missing', () => ({ without: 'X-Signature' })),
  kind('tenant of somebody else', 'tenant-mismatch', () => ({ sent: { tenant: 'somebody-else' } })),
  kind('method in lower case', 'method-case', () => ({ parts: { method: 'post' } })),
  kind('another method', 'method-other', () => ({ parts: { method: 'PUT' } })),
  kind('signature in upper case', 'signature-upper-case', () => ({
    spell: (digest) => digest.toString('hex').toUpperCase(),
  })),
  kind('signature in base64', 'signature-base64', () => ({ spell: (digest) => digest.toString('base64') })),
  kind('signature with a prefix', 'signature-prefix', () => ({
    spell: (digest) => `sha256=${digest.toString('hex')}`,
  })),
  kind('signature cut', 'signature-length', () => ({
    spell: (digest) => digest.toString('hex').slice(0, 40),
  })),
  kind('signature in base64 of hex', 'signature-encoded-twice', () => ({
    spell: (digest) => Buffer.from(digest.toString('hex')).toString('base64'),
  })),

  kind('timestamp half a minute later', 'timestamp-differs', ({ timestamp }) => ({
    parts: { timestamp: String(Number(timestamp) + 30) },
  })),
  kind('timestamp in microseconds', 'timestamp-milliseconds', ({ timestamp }) => ({
    parts: { timestamp: `${timestamp}000000` },
  })),
  kind('timestamp as ISO text without milliseconds', 'timestamp-text', ({ timestamp }) => ({
    parts: { timestamp: new Date(Number(timestamp) * 1000).toISOString().replace('.000', '') },
  })),
  kind('timestamp as an HTTP date', 'timestamp-text', ({ timestamp }) => ({
    parts: { timestamp: new Date(Number(timestamp) * 1000).toUTCString() },
  })),
  kind(
    'timestamp sent with a fraction',
    ['timestamp-malformed', 'timestamp-malformed+timestamp-fraction'],
    ({ timestamp }) => ({
      sent: { timestamp: `${timestamp}.123` },
    }),
  ),
  kind('timestamp sent as ISO text', 'timestamp-malformed', ({ timestamp }) => {
    const text = new Date(Number(timestamp) * 1000).toISOString();
    return { parts: { timestamp: text }, sent: { timestamp: text } };
  }),
  kind(
    'timestamp sent in milliseconds, signed in seconds',
    ['timestamp-not-in-seconds+timestamp-milliseconds', 'timestamp-not-in-seconds'],
    ({ timestamp }) => ({
      sent: { timestamp: `${timestamp}123` },
    }),
  ),
  kind('timestamp with a leading zero', 'timestamp-text', ({ timestamp }) => ({
    parts: { timestamp: `0${timestamp}` },
  })),
  kind('timestamp in scientific notation', 'timestamp-text', ({ timestamp }) => ({
    parts: { timestamp: Number(timestamp).toExponential().replace('e+', 'E') },
  })),
  kind('clock 400 s ahead', 'clock-ahead', ({ timestamp }) => ({ now: Number(timestamp) - 400 })),
  kind('nonce signed in lower case', 'nonce-case', ({ nonce }) => ({
    parts: { nonce },
    sent: { nonce: nonce.toUpperCase() },
  })),
  kind('nonce in braces', 'nonce-dashes', ({ nonce }) => ({ parts: { nonce: `{${nonce}}` } })),
  kind('nonce in quotes', 'nonce-quoted', ({ nonce }) => ({ parts: { nonce: `"${nonce}"` } })),
  kind('the counter of the next nonce', 'nonce-differs', () => ({
    parts: { nonce: 'nonce-000100' },
    sent: { nonce: 'nonce-000099' },
  })),
  kind('nonce of the same bytes in base64', 'nonce-encoded', ({ nonce }) => {
    const digits = nonce.replaceAll('-', '');
    return { parts: { nonce: Buffer.from(digits, 'hex').toString('base64') }, sent: { nonce: digits } };
  }),
  kind('nonce URL-encoded', 'nonce-encoded', ({ nonce }) => ({
    parts: { nonce: `a%3A${nonce}` },
    sent: { nonce: `a:${nonce}` },
  })),
  kind('nonce in base64, with + and /', 'nonce-malformed', () => ({
    parts: { nonce: 'q83+/asdf+zz1==' },
    sent: { nonce: 'q83+/asdf+zz1==' },
  })),
  kind('nonce left empty', 'nonce-empty', () => ({ parts: { nonce: '' } })),
  kind('timestamp and nonce swapped', 'layout-order', ({ timestamp, nonce }) => ({
    parts: { timestamp: nonce, nonce: timestamp },
  })),
  kind('signature sent twice', 'header-twice', () => ({ extraHeaders: [['X-Signature', 'a'.repeat(64)]] })),
  kind('timestamp missing', 'header-missing', () => ({ without: 'X-Timestamp' })),
  kind('tenant missing', 'header-missing', () => ({ without: 'X-Tenant-ID' })),
  kind('method capitalised', 'method-case', () => ({ parts: { method: 'Post' } })),
  kind('method of the redirect', 'method-other', () => ({ parts: { method: 'GET' } })),
  kind('signature in base64url', 'signature-base64', () => ({
    spell: (digest) => digest.toString('base64url'),
  })),
  kind('signature in hex twice', 'signature-encoded-twice', () => ({
    spell: (digest) => Buffer.from(digest.toString('hex')).toString('hex'),
  })),
  kind('signature as Stripe sends it', 'signature-prefix', ({ timestamp }) => ({
    spell: (digest) => `t=${timestamp},v1=${digest.toString('hex')}`,
  })),
  kind('signature with a prefix, in base64', 'signature-prefix+signature-base64', () => ({
    spell: (digest) => `v1,${digest.toString('base64')}`,
  })),
  kind('signature with colons', 'signature-separators', () => ({
    spell: (digest) => digest.toString('hex').replaceAll(/(..)(?!$)/g, '$1:'),
  })),
  kind('signature in quotes', 'signature-quoted', () => ({
    spell: (digest) => `"${digest.toString('hex')}"`,
  })),
  kind('signature without its leading zero', 'signature-zeros', (call) => {
    const nonces = Array.from({ length: 200 }, (_, index) => `nonce-${1000 + index}`);
    const nonce = nonces.find((each) => hmac(call.secret, canonical({ ...call, nonce: each }))[0]! < 16)!;
    return {
      parts: { nonce },
      sent: { nonce },
      spell: (digest) => digest.toString('hex').replace(/^0+/, ''),
    };
  }),
  kind('signature without the zeros of its bytes', 'signature-zeros', () => ({
    spell: (digest) => [...digest].map((byte) => byte.toString(16)).join(''),
  })),
  kind('signature as signed bytes of Java', 'signature-printed', () => ({
    spell: (digest) => [...digest].map((byte) => (byte > 127 ? byte - 256 : byte)).join(','),
  })),
  kind('signature as Python prints bytes', 'signature-printed', () => ({
    spell: (digest) => `b'${digest.toString('hex')}'`,
  })),
  kind('signature cut by one digit', 'signature-length', () => ({
    spell: (digest) => digest.toString('hex').slice(0, 63),
  })),
  kind('signature in URL-encoded base64', ['signature-url-encoded+signature-base64'], () => ({
    spell: (digest) => encodeURIComponent(digest.toString('base64')),
  })),
  kind('timestamp in minutes', 'timestamp-text', ({ timestamp }) => ({
    parts: { timestamp: String(Math.floor(Number(timestamp) / 60)) },
  })),
  kind('timestamp in hex', 'timestamp-text', ({ timestamp }) => ({
    parts: { timestamp: Number(timestamp).toString(16) },
  })),
];
