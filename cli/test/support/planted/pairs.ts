import { hex, kind, pathname, type PlantedMistake } from './call.js';
import { python } from './json.js';

export const PAIRS: readonly PlantedMistake[] = [
  kind(
    'no query, newline at the end',
    'path-query-missing+newline-at-end',
    (call) => ({
      parts: { path: pathname(call), body: `${call.body}\n` },
    }),
    { query: true },
  ),
  kind(
    'no base path, base64 key',
    'path-base-missing+key-base64-decoded',
    ({ path, secret }) => ({
      parts: { path: path.replace(/^\/[a-z]+/, '') },
      key: Buffer.from(secret, 'base64url'),
    }),
    { basePath: true },
  ),
  kind('indented body, hashed key', 'body-whitespace+key-hashed', ({ body, secret }) => ({
    parts: { body: JSON.stringify(JSON.parse(body), null, 2) },
    key: hex('sha256', secret),
  })),
  kind('host in the path, joined with a dot', 'path-host+layout-separator', (call) => ({
    text: [call.method, `https://${call.host}${call.path}`, call.timestamp, call.nonce, call.body].join('.'),
  })),
  kind('base64 signature, lower-case method', 'signature-base64+method-case', () => ({
    parts: { method: 'post' },
    spell: (digest) => digest.toString('base64'),
  })),
  kind('milliseconds, and SHA-512', 'timestamp-milliseconds+digest-algorithm', ({ timestamp }) => ({
    parts: { timestamp: `${timestamp}000` },
    algorithm: 'sha512',
  })),
  kind(
    'Python body, key with a newline',
    'body-whitespace+key-whitespace',
    ({ body, secret }) => ({
      parts: { body: python(body) },
      key: `${secret}\n`,
    }),
    { body: 'plain' },
  ),
  kind(
    'sorted keys, no query',
    'body-key-order+path-query-missing',
    (call) => {
      const entries = Object.entries(JSON.parse(call.body) as object).sort(([a], [b]) => (a < b ? -1 : 1));
      return { parts: { path: pathname(call), body: JSON.stringify(Object.fromEntries(entries)) } };
    },
    { body: 'plain', query: true },
  ),

  kind(
    'Standard Webhooks in full',
    'layout-standard-webhooks+key-base64-decoded+signature-prefix+signature-base64',
    ({ nonce, timestamp, body, secret }) => {
      const issued = Buffer.from(secret).toString('base64');
      return {
        text: `${nonce}.${timestamp}.${body}`,
        key: Buffer.from(issued, 'base64'),
        sent: { secret: `whsec_${issued}` },
        spell: (digest) => `v1,${digest.toString('base64')}`,
      };
    },
  ),
  kind('Stripe in full', 'layout-stripe+signature-prefix', ({ timestamp, body }) => ({
    text: `${timestamp}.${body}`,
    spell: (digest) => `t=${timestamp},v1=${digest.toString('hex')}`,
  })),
  kind('GitHub in full', 'layout-body-only+signature-prefix', ({ body }) => ({
    text: body,
    spell: (digest) => `sha256=${digest.toString('hex')}`,
  })),
  kind(
    'no query, base64 signature',
    'path-query-missing+signature-base64',
    (call) => ({
      parts: { path: pathname(call) },
      spell: (digest) => digest.toString('base64'),
    }),
    { query: true },
  ),
  kind('a second later, newline at the end', 'timestamp-differs+newline-at-end', ({ timestamp, body }) => ({
    parts: { timestamp: String(Number(timestamp) + 1), body: `${body}\n` },
  })),
  kind('key with a newline, nothing between the parts', 'key-whitespace+layout-separator', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce, call.body].join(''),
    key: `${call.secret}\n`,
  })),
  kind(
    'nonce before timestamp, base path missing',
    'layout-order+path-base-missing',
    (call) => ({
      text: [call.method, call.path.replace(/^\/[a-z]+/, ''), call.nonce, call.timestamp, call.body].join(
        '\n',
      ),
    }),
    { basePath: true },
  ),
  kind('digest of the body, tenant added', 'body-digest+layout-tenant-added', (call) => ({
    text: [call.tenant, call.method, call.path, call.timestamp, call.nonce, hex('sha256', call.body)].join(
      '\n',
    ),
  })),
  kind('empty body signed, lower-case method', 'body-empty+method-case', () => ({
    parts: { body: '', method: 'post' },
  })),
  kind(
    'quoted key, no base path',
    'key-quoted+path-base-missing',
    ({ path, secret }) => ({
      parts: { path: path.replace(/^\/[a-z]+/, '') },
      key: `"${secret}"`,
    }),
    { basePath: true },
  ),
  kind('SHA-1, and a key in hex', 'digest-algorithm+key-hex-encoded', ({ secret }) => ({
    algorithm: 'sha1',
    key: Buffer.from(secret).toString('hex'),
  })),
  kind(
    'late clock, no query',
    'clock-behind+path-query-missing',
    (call) => ({
      parts: { path: pathname(call) },
      now: Number(call.timestamp) + 420,
    }),
    { query: true },
  ),
  kind('another tenant, hashed key', 'tenant-mismatch+key-hashed', ({ secret }) => ({
    sent: { tenant: 'somebody-else' },
    key: hex('sha256', secret),
  })),
  kind(
    'UTF-16 key, Python body',
    'key-utf16+body-whitespace',
    ({ body, secret }) => ({
      parts: { body: python(body) },
      key: Buffer.from(secret, 'utf16le'),
    }),
    { body: 'plain' },
  ),
];
