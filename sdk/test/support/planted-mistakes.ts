import { createHash, createHmac } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import type { SentRequest } from '../../src/cli/debug/diagnosis.js';

/** What a signer has at hand. The mistakes are made here by other means than the command tries them. */
interface Call {
  method: string;
  host: string;
  /** The request target. */
  path: string;
  tenant: string;
  timestamp: string;
  nonce: string;
  body: string;
  secret: string;
}

/** What is signed, by which key, and what is sent. */
interface Deviation {
  text?: string | Buffer;
  parts?: Partial<Record<'method' | 'path' | 'timestamp' | 'nonce', string>> & { body?: string | Buffer };
  key?: string | Buffer;
  signature?: string;
  spell?: (digest: Buffer) => string;
  algorithm?: string;
  sent?: Partial<Pick<Call, 'path' | 'timestamp' | 'nonce' | 'tenant' | 'secret'>> & {
    body?: string | Buffer;
  };
  extraHeaders?: [string, string][];
  without?: string;
  now?: number;
}

export interface PlantedMistake {
  kind: string;
  /** The codes that name it, joined by `+`. Several where the bytes do not tell two mistakes apart. */
  codes: readonly string[];
  plant(call: Call, random: Random): Deviation;
  /** Restricts the generated calls to those in which the mistake shows. */
  needs?: Partial<CallOptions>;
}

export interface CallOptions {
  query: boolean;
  body: 'rich' | 'plain' | 'none';
  basePath: boolean;
  percent: boolean;
  route: string;
}

/** Numbers from a seed, 0 ≤ x < 1 (mulberry32). */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const WORDS = ['reels', 'gold', 'fire', 'lotus', 'pirate', 'star', 'wolf', 'sun', 'mine', 'ice'];
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function pick<T>(random: Random, items: ArrayLike<T>): T {
  return items[Math.floor(random() * items.length)]!;
}

function letters(random: Random, count: number, alphabet = LETTERS): string {
  return Array.from({ length: count }, () => pick(random, alphabet)).join('');
}

export function callOf(random: Random, needs: Partial<CallOptions> = {}): Call {
  const { query = random() < 0.4, basePath = random() < 0.5, percent = false } = needs;
  const body = needs.body ?? (random() < 0.7 ? 'rich' : 'plain');
  const route =
    needs.route ??
    pick(random, ['/v1/wallet/transaction', '/v1/wallet/balance', '/v1/game/free-spins/grant']);
  const base = basePath ? `/${pick(random, ['rgs', 'platform', 'api'])}` : '';
  const search = query ? `?trace=${letters(random, 6)}&env=${pick(random, WORDS)}&b=2` : '';
  const escapes = percent ? `${query ? '&' : '?'}name=Zo%C3%AB%20A%2Fb` : '';
  const uuid = letters(random, 32, '0123456789abcdef').replace(
    /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
    '$1-$2-$3-$4-$5',
  );
  return {
    method: 'POST',
    host: `${pick(random, WORDS)}.example:8443`,
    path: base + route + search + escapes,
    tenant: `${pick(random, WORDS)}-${pick(random, WORDS)}`,
    timestamp: String(1_800_000_000 + Math.floor(random() * 1e7)),
    nonce: uuid,
    body: bodyOf(random, body),
    // It has letters of both cases, as issued secrets do.
    secret: `aZ${letters(random, 41)}`,
  };
}

function bodyOf(random: Random, kind: CallOptions['body']): string {
  if (kind === 'none') return '';
  const plain = {
    sessionToken: letters(random, 20),
    transactionId: `bet-${letters(random, 8, '0123456789')}`,
    amountMinor: 1 + Math.floor(random() * 9000),
    gameId: pick(random, WORDS),
  };
  if (kind === 'plain') return JSON.stringify(plain);
  return JSON.stringify({
    ...plain,
    playerRef: `Zoë/${letters(random, 4)} <vip> & "d'or"`,
    currency: null,
    round: { id: letters(random, 6), closed: true, lines: [1, 2, 3 + Math.floor(random() * 9)] },
  });
}

/** The request that the signer sends. */
export function requestOf(call: Call, deviation: Deviation): SentRequest {
  const { parts = {}, sent = {} } = deviation;
  const head = [
    parts.method ?? call.method,
    parts.path ?? call.path,
    parts.timestamp ?? call.timestamp,
    parts.nonce ?? call.nonce,
    '',
  ].join('\n');
  const text = deviation.text ?? Buffer.concat([Buffer.from(head), Buffer.from(parts.body ?? call.body)]);
  const digest = createHmac(deviation.algorithm ?? 'sha256', deviation.key ?? call.secret)
    .update(text)
    .digest();
  const signature = deviation.signature ?? (deviation.spell ?? ((bytes) => bytes.toString('hex')))(digest);
  const timestamp = sent.timestamp ?? call.timestamp;
  const headers: [string, string][] = [
    ['Host', call.host],
    ['Content-Type', 'application/json'],
    ['X-Request-Id', '3f0e7a52-1111-4222-8333-444455556666'],
    ['X-Tenant-ID', sent.tenant ?? call.tenant],
    ['X-Timestamp', timestamp],
    ['X-Nonce', sent.nonce ?? call.nonce],
    ['X-Signature', signature],
    ...(deviation.extraHeaders ?? []),
  ];
  return {
    method: call.method,
    path: sent.path ?? call.path,
    headers: headers.filter(([name]) => name !== deviation.without),
    body: Buffer.from(sent.body ?? call.body),
    secret: sent.secret ?? call.secret,
    tenantId: call.tenant,
    now: deviation.now ?? Number(call.timestamp) + 3,
  };
}

const hex = (algorithm: string, text: string | Buffer) => createHash(algorithm).update(text).digest('hex');
const hmac = (key: string | Buffer, text: string | Buffer) => createHmac('sha256', key).update(text).digest();
const canonical = ({ method, path, timestamp, nonce, body }: Call) =>
  [method, path, timestamp, nonce, body].join('\n');
const pathname = ({ path }: Call) => path.split('?')[0]!;
const search = ({ path }: Call) => path.slice(pathname({ path } as Call).length);

function kind(
  name: string,
  codes: string | readonly string[],
  plant: PlantedMistake['plant'],
  needs?: Partial<CallOptions>,
): PlantedMistake {
  return { kind: name, codes: typeof codes === 'string' ? [codes] : codes, plant, ...(needs && { needs }) };
}

/** The same JSON with something done to each string of it. */
function rewritten(body: string, change: (json: string) => string): string {
  return body.replaceAll(/"(?:[^"\\]|\\.)*"/g, change);
}
const escaped =
  (signs: RegExp, upper = false) =>
  (json: string) =>
    json.replaceAll(signs, (sign) => {
      const code = sign.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${upper ? code.toUpperCase() : code}`;
    });
const python = (body: string) =>
  rewritten(
    body.replaceAll(
      /("(?:[^"\\]|\\.)*")|([,:])/g,
      (_, text: string | undefined, sign: string) => text ?? `${sign} `,
    ),
    escaped(/[\u0080-\uffff]/g),
  );

const keys: PlantedMistake[] = [
  kind('key with a newline', 'key-whitespace', ({ secret }) => ({ key: `${secret}\n` })),
  kind('key with CRLF', 'key-whitespace', ({ secret }) => ({ key: `${secret}\r\n` })),
  kind('key with a leading space', 'key-whitespace', ({ secret }) => ({ key: ` ${secret}` })),
  kind('key in double quotes', 'key-quoted', ({ secret }) => ({ key: `"${secret}"` })),
  kind('key in single quotes', 'key-quoted', ({ secret }) => ({ key: `'${secret}'` })),
  kind('given secret with a newline', 'given-secret-whitespace', ({ secret }) => ({
    key: secret,
    sent: { secret: `${secret}\n` },
  })),
  kind('given secret in quotes', 'given-secret-quoted', ({ secret }) => ({
    key: secret,
    sent: { secret: `"${secret}"` },
  })),
  kind('key decoded from base64url', 'key-base64-decoded', ({ secret }) => ({
    key: Buffer.from(secret, 'base64url'),
  })),
  kind('key decoded from hex', 'key-hex-decoded', ({ secret }) => ({
    key: Buffer.from(hex('md5', secret), 'hex'),
    sent: { secret: hex('md5', secret) },
  })),
  kind('key encoded in base64', 'key-base64-encoded', ({ secret }) => ({
    key: Buffer.from(secret).toString('base64'),
  })),
  kind('key encoded in hex', 'key-hex-encoded', ({ secret }) => ({
    key: Buffer.from(secret).toString('hex'),
  })),
  kind('key hashed with SHA-256, bytes', 'key-hashed', ({ secret }) => ({
    key: createHash('sha256').update(secret).digest(),
  })),
  kind('key hashed with SHA-256, hex', 'key-hashed', ({ secret }) => ({ key: hex('sha256', secret) })),
  kind('key hashed with MD5, hex', 'key-hashed', ({ secret }) => ({ key: hex('md5', secret) })),
  kind('key hashed with SHA-1, hex', 'key-hashed', ({ secret }) => ({ key: hex('sha1', secret) })),
  kind('key cut to 32', 'key-cut', ({ secret }) => ({ key: secret.slice(0, 32) })),
  kind('key cut by one', 'key-cut', ({ secret }) => ({ key: secret.slice(0, -1) })),
  kind('key cut anywhere', 'key-cut', ({ secret }, random) => ({
    key: secret.slice(0, 5 + Math.floor(random() * 30)),
  })),
  kind('key in lower case', 'key-case', ({ secret }) => ({ key: secret.toLowerCase() })),
  kind('key in upper case', 'key-case', ({ secret }) => ({ key: secret.toUpperCase() })),
  kind('key in UTF-16', 'key-utf16', ({ secret }) => ({ key: Buffer.from(secret, 'utf16le') })),
  kind('key not configured', 'key-empty', () => ({ key: '' })),
  kind('key undefined', 'key-placeholder', () => ({ key: 'undefined' })),
  kind('key is the tenant', 'key-tenant-id', ({ tenant }) => ({ key: tenant })),
  kind('key with a typing mistake', ['key-typo', 'key-case'], ({ secret }, random) => {
    const at = 3 + Math.floor(random() * (secret.length - 4));
    return { key: secret.slice(0, at) + (secret[at] === 'x' ? 'y' : 'x') + secret.slice(at + 1) };
  }),
];

const digests: PlantedMistake[] = [
  kind('SHA-256 without a key', 'digest-without-key', (call) => ({
    signature: hex('sha256', canonical(call)),
  })),
  kind('key prepended', 'digest-key-prepended', (call) => ({
    signature: hex('sha256', call.secret + canonical(call)),
  })),
  kind('key appended', 'digest-key-appended', (call) => ({
    signature: hex('sha256', canonical(call) + call.secret),
  })),
  kind('HMAC of a hash in hex', 'digest-of-hash', (call) => ({ text: hex('sha256', canonical(call)) })),
  kind('HMAC of a hash', 'digest-of-hash', (call) => ({
    text: createHash('sha256').update(canonical(call)).digest(),
  })),
  kind('double HMAC', 'digest-twice', (call) => ({ text: hmac(call.secret, canonical(call)) })),
  kind('key and text swapped', 'digest-swapped', (call) => ({ key: canonical(call), text: call.secret })),
  ...['sha1', 'sha224', 'sha384', 'sha512', 'sha3-256', 'md5'].map((algorithm) =>
    kind(`HMAC with ${algorithm}`, 'digest-algorithm', () => ({ algorithm })),
  ),
  kind('MD5 without a key', 'digest-without-key+digest-algorithm', (call) => ({
    signature: hex('md5', canonical(call)),
  })),
  kind('text in UTF-16', 'text-utf16', (call) => ({ text: Buffer.from(canonical(call), 'utf16le') })),
];

const layouts: PlantedMistake[] = [
  ...['.', ':', '|', '&', '', ',', ' ', '\r\n', '\\n', ';'].map((separator) =>
    kind(`joined with ${JSON.stringify(separator)}`, 'layout-separator', (call) => ({
      text: [call.method, call.path, call.timestamp, call.nonce, call.body].join(separator),
    })),
  ),
  kind('joined with " - "', 'unknown', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce, call.body].join(' - '),
  })),
  kind('nothing before the body', 'layout-before-body', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce].join('\n') + call.body,
  })),
  kind('newline at the end', 'newline-at-end', (call) => ({ text: `${canonical(call)}\n` })),
  kind('nonce before timestamp', 'layout-order', (call) => ({
    text: [call.method, call.path, call.nonce, call.timestamp, call.body].join('\n'),
  })),
  kind('timestamp and nonce first', 'layout-order', (call) => ({
    text: [call.timestamp, call.nonce, call.method, call.path, call.body].join('\n'),
  })),
  kind('body first', 'layout-order', (call) => ({
    text: [call.body, call.method, call.path, call.timestamp, call.nonce].join('\n'),
  })),
  kind('any order, any separator', 'layout-order+layout-separator', (call, random) => ({
    text: [call.timestamp, call.body, call.path, call.nonce, call.method].join(pick(random, ['.', ':', '|'])),
  })),
  kind('without the method', 'layout-method-missing', (call) => ({
    text: [call.path, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('without the path', 'layout-path-missing', (call) => ({
    text: [call.method, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('without the timestamp', 'layout-timestamp-missing', (call) => ({
    text: [call.method, call.path, call.nonce, call.body].join('\n'),
  })),
  kind('without the nonce', 'layout-nonce-missing', (call) => ({
    text: [call.method, call.path, call.timestamp, call.body].join('\n'),
  })),
  kind('without the body', 'layout-body-missing', (call) => ({
    text: [call.method, call.path, call.timestamp, call.nonce].join('\n'),
  })),
  kind('with the tenant', 'layout-tenant-added', (call) => ({
    text: [call.tenant, canonical(call)].join('\n'),
  })),
  kind('with the tenant behind the path', 'layout-tenant-added', (call) => ({
    text: [call.method, call.path, call.tenant, call.timestamp, call.nonce, call.body].join('\n'),
  })),
  kind('as Stripe', 'layout-stripe', ({ timestamp, body }) => ({ text: `${timestamp}.${body}` })),
  kind('as Standard Webhooks', 'layout-standard-webhooks', ({ nonce, timestamp, body }) => ({
    text: `${nonce}.${timestamp}.${body}`,
  })),
  kind('as GitHub', 'layout-body-only', ({ body }) => ({ text: body })),
  kind('as Slack', 'layout-slack', ({ timestamp, body }) => ({ text: `v0:${timestamp}:${body}` })),
  kind('labelled parts', 'layout-labelled', (call) => ({
    text: `method=${call.method}&path=${call.path}&timestamp=${call.timestamp}&nonce=${call.nonce}&body=${call.body}`,
  })),
];

const headers: PlantedMistake[] = [
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
];

const RICH = { body: 'rich' } as const;
const bodies: PlantedMistake[] = [
  kind('byte order mark signed', 'body-bom', ({ body }) => ({ parts: { body: `\ufeff${body}` } })),
  kind('byte order mark sent', 'body-bom', ({ body }) => ({ sent: { body: `\ufeff${body}` } })),
  kind('newline sent', ['body-end-not-signed', 'body-trimmed'], ({ body }) => ({
    sent: { body: `${body}\n` },
  })),
  kind('newline signed', 'newline-at-end', ({ body }) => ({ parts: { body: `${body}\n` } })),
  kind('space signed', 'newline-at-end', ({ body }) => ({ parts: { body: `${body} ` } })),
  kind('CRLF sent, LF signed', 'body-line-ends', ({ body }) => {
    const pretty = JSON.stringify(JSON.parse(body), null, 2);
    return { parts: { body: pretty }, sent: { body: pretty.replaceAll('\n', '\r\n') } };
  }),
  kind('NFD signed', 'body-unicode-form', ({ body }) => ({ parts: { body: body.normalize('NFD') } }), RICH),
  kind(
    'Latin-1 signed',
    ['body-latin1', 'body-utf8-twice'],
    ({ body }) => ({ parts: { body: Buffer.from(body, 'latin1') } }),
    RICH,
  ),
  kind('UTF-16 signed', 'body-utf16', ({ body }) => ({ parts: { body: Buffer.from(body, 'utf16le') } })),
  kind(
    'UTF-8 twice',
    'body-utf8-twice',
    ({ body }) => ({
      parts: { body: Buffer.from(Buffer.from(body).toString('latin1')) },
    }),
    RICH,
  ),
  kind('gzip signed', 'body-compressed', ({ body }) => ({ parts: { body: gzipSync(body) } })),
  kind('gzip sent', 'body-compressed', ({ body }) => ({ sent: { body: gzipSync(body) } })),
  kind('deflate signed', 'body-compressed', ({ body }) => ({ parts: { body: deflateSync(body) } })),
  ...[1, 2, 3, 4, 8, '\t'].map((indent) =>
    kind(`indented by ${JSON.stringify(indent)}`, 'body-whitespace', ({ body }) => ({
      parts: { body: JSON.stringify(JSON.parse(body), null, indent) },
    })),
  ),
  kind('indentation sent', 'body-whitespace', ({ body }) => ({
    sent: { body: JSON.stringify(JSON.parse(body), null, 2) },
  })),
  kind('as Python writes it', 'body-whitespace', ({ body }) => ({ parts: { body: python(body) } }), {
    body: 'plain',
  }),
  kind(
    'as Python writes it, with escapes',
    'body-whitespace+body-escapes',
    ({ body }) => ({ parts: { body: python(body) } }),
    RICH,
  ),
  kind(
    'keys sorted',
    'body-key-order',
    ({ body }) => {
      const entries = Object.entries(JSON.parse(body) as object).sort(([a], [b]) => (a < b ? -1 : 1));
      return { parts: { body: JSON.stringify(Object.fromEntries(entries)) } };
    },
    { body: 'plain' },
  ),
  kind(
    'escapes of Go',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, escaped(/[<>&]/g)) },
    }),
    RICH,
  ),
  kind(
    'escapes of .NET',
    'body-escapes',
    ({ body }) => ({
      parts: {
        body: rewritten(body, (json) =>
          escaped(/[&'+<>\u0080-\uffff]/g, true)(json).replaceAll('\\"', '\\u0022'),
        ),
      },
    }),
    RICH,
  ),
  kind(
    'escapes of Gson',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, escaped(/[<>&=']/g)) },
    }),
    RICH,
  ),
  kind(
    'escapes of PHP',
    'body-escapes',
    ({ body }) => ({
      parts: { body: rewritten(body, (json) => escaped(/[\u0080-\uffff]/g)(json).replaceAll('/', '\\/')) },
    }),
    RICH,
  ),
  kind(
    'Go, with its newline at the end',
    'body-escapes+newline-at-end',
    ({ body }) => ({
      parts: { body: `${rewritten(body, escaped(/[<>&]/g))}\n` },
    }),
    RICH,
  ),
  kind('numbers as text', 'body-numbers', ({ body }) => ({
    parts: { body: body.replaceAll(/([:[,])(\d+)(?=[,\]}])/g, '$1"$2"') },
  })),
  kind('numbers with .0', 'body-numbers', ({ body }) => ({
    parts: { body: body.replaceAll(/([:[,])(\d+)(?=[,\]}])/g, '$1$2.0') },
  })),
  kind(
    'nulls left out',
    'body-nulls',
    ({ body }) => ({
      parts: { body: body.replace('"currency":null,', '') },
    }),
    RICH,
  ),
  kind(
    'form encoded',
    'body-form-encoded',
    ({ body }) => ({
      parts: { body: new URLSearchParams(JSON.parse(body) as Record<string, string>).toString() },
    }),
    { body: 'plain' },
  ),
  kind('JSON of JSON', 'body-json-twice', ({ body }) => ({ parts: { body: JSON.stringify(body) } })),
  kind('digest of the body', 'body-digest', ({ body }) => ({ parts: { body: hex('sha256', body) } })),
  kind('MD5 of the body', 'body-digest', ({ body }) => ({ parts: { body: hex('md5', body) } })),
  kind('base64 of the body', 'body-encoded', ({ body }) => ({
    parts: { body: Buffer.from(body).toString('base64') },
  })),
  kind('empty body signed', 'body-empty', () => ({ parts: { body: '' } })),
  kind('object printed', 'body-placeholder', () => ({ parts: { body: '[object Object]' } })),
  kind(
    'dictionary of Python printed',
    'body-printed',
    ({ body }) => ({
      parts: { body: python(body).replaceAll('"', "'") },
    }),
    { body: 'plain' },
  ),
  ...['{}', 'null', '""', '[]', 'undefined', '[object Object]'].map((text) =>
    kind(`${text} for no body`, 'body-placeholder', () => ({ parts: { body: text } }), { body: 'none' }),
  ),
  kind(
    'one letter changed on the way',
    'unknown',
    ({ body }) => ({
      sent: { body: body.replace('bet-', 'win-') },
    }),
    { body: 'plain' },
  ),
];

const paths: PlantedMistake[] = [
  kind('with https and host', 'path-host', ({ host, path }) => ({
    parts: { path: `https://${host}${path}` },
  })),
  kind('with host', 'path-host', ({ host, path }) => ({ parts: { path: host + path } })),
  kind('with http and host without port', 'path-host', ({ host, path }) => ({
    parts: { path: `http://${host.split(':')[0]!}${path}` },
  })),
  kind('without the first slash', 'path-slash', ({ path }) => ({ parts: { path: path.slice(1) } })),
  kind('with a slash at the end', 'path-slash', (call) => ({
    parts: { path: `${pathname(call)}/${search(call)}` },
  })),
  kind('decoded', 'path-decoded', ({ path }) => ({ parts: { path: decodeURIComponent(path) } }), {
    percent: true,
  }),
  kind('encoded again', 'path-encoded', ({ path }) => ({ parts: { path: encodeURI(path) } }), {
    percent: true,
  }),
  kind(
    '+ for %20',
    ['path-space', 'path-encoding'],
    ({ path }) => ({ parts: { path: path.replaceAll('%20', '+') } }),
    { percent: true },
  ),
  kind(
    'percent-encoding in lower case',
    'path-encoding',
    ({ path }) => ({
      parts: { path: path.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()) },
    }),
    { percent: true },
  ),
  kind('without the query', 'path-query-missing', (call) => ({ parts: { path: pathname(call) } }), {
    query: true,
  }),
  kind(
    'query sorted',
    'path-query-order',
    (call) => ({
      parts: { path: `${pathname(call)}?${search(call).slice(1).split('&').sort().join('&')}` },
    }),
    { query: true },
  ),
  kind(
    'without the base path',
    'path-base-missing',
    ({ path }) => ({
      parts: { path: path.replace(/^\/[a-z]+/, '') },
    }),
    { basePath: true },
  ),
  kind(
    'without base path and query',
    'path-base-missing',
    (call) => ({
      parts: { path: pathname(call).replace(/^\/[a-z]+/, '') },
    }),
    { basePath: true, query: true },
  ),
  kind('with a base path that a proxy cuts off', 'path-base-added', ({ path }) => ({
    parts: { path: `/gateway${path}` },
  })),
  kind(
    'the template of the route',
    'path-template',
    ({ path }) => ({
      parts: { path: path.replace('b1946ac9', '{sessionId}') },
    }),
    { route: '/v1/operator/sessions/b1946ac9/revoke', basePath: false },
  ),
  kind(
    'another route',
    'path-other-route',
    ({ path }) => ({
      parts: { path: path.replace('/v1/wallet/transaction', '/v1/wallet/balance') },
    }),
    { route: '/v1/wallet/transaction' },
  ),
  kind('path in lower case', 'path-case', ({ path }) => ({ parts: { path: path.toLowerCase() } }), {
    percent: true,
  }),
];

const pairs: PlantedMistake[] = [
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
];

/** Every kind of mistake that is planted; one that `codes` calls `unknown` leaves no trace that a search could find. */
export const PLANTED_MISTAKES: readonly PlantedMistake[] = [
  ...keys,
  ...digests,
  ...layouts,
  ...headers,
  ...bodies,
  ...paths,
  ...pairs,
];
