import { createHash, createHmac } from 'node:crypto';

/** One way to sign a request, right or wrong. */
export interface Attempt {
  method: string;
  path: string;
  timestamp: string;
  nonce: string;
  body: Buffer;
  key: Buffer;
  /** What stands between the five parts. */
  separator: string;
  order: readonly ('method' | 'path' | 'timestamp' | 'nonce')[];
  algorithm: string;
}

/** A mistake, in words, and what it makes of a right attempt. */
export interface Mistake {
  cause: string;
  attempt: Attempt;
}

export const RIGHT_ORDER = ['method', 'path', 'timestamp', 'nonce'] as const;

/** The bytes that an attempt signs. */
export function signedBytes(attempt: Attempt): Buffer {
  const { separator, body, order } = attempt;
  const head = order.map((part) => attempt[part] + separator).join('');
  return Buffer.concat([Buffer.from(head), body]);
}

/**
 * What this attempt would have sent. The scheme itself is in signature.ts: this one exists to be wrong in every way that
 * is tried.
 */
export function digestOf(attempt: Attempt): Buffer {
  return createHmac(attempt.algorithm, attempt.key).update(signedBytes(attempt)).digest();
}

/** The mistakes one knows, in groups of which a signer makes at most one each. @param host for the whole address */
export function mistakes(right: Attempt, host: string | undefined): ((attempt: Attempt) => Mistake[])[] {
  const changes = [
    bodies(right.body),
    paths(right.path, host),
    methods(right.method),
    timestamps(right.timestamp),
    layouts(),
    keys(right.key),
  ];
  return changes.map(
    (group) => (attempt) => group.map(([cause, change]) => ({ cause, attempt: { ...attempt, ...change } })),
  );
}

type Change = [cause: string, change: Partial<Attempt>];

function bodies(body: Buffer): Change[] {
  const text = body.toString();
  const as = (cause: string, changed: string): Change => [cause, { body: Buffer.from(changed) }];
  return [
    ...reserialised(text).map((changed) =>
      as('the body was serialised anew: sign the very bytes that are sent, once they are made', changed),
    ),
    as('a newline was signed after the body and not sent', `${text}\n`),
    as('a newline was signed after the body and not sent', `${text}\r\n`),
    as('a newline at the end of the body was sent and not signed', text.replace(/\r?\n$/, '')),
    as('the body was trimmed before it was signed', text.trim()),
    as('line ends were changed between signing and sending', text.replaceAll('\r\n', '\n')),
    as('line ends were changed between signing and sending', text.replace(/\r?\n/g, '\r\n')),
    as('an empty body was signed', ''),
    as('"{}" was signed in place of the body', '{}'),
    as('the byte order mark was sent and not signed', text.replace(/^\ufeff/, '')),
    ['the body was signed in Latin-1 and sent in UTF-8', { body: Buffer.from(text, 'latin1') }],
    as('a digest of the body was signed in its place', createHash('sha256').update(body).digest('hex')),
  ];
}

/** The same JSON as other languages and settings write it. */
function reserialised(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const ascii = (json: string) =>
    json.replace(/[\u007f-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const spellings = [value, sorted(value)].flatMap((each) => [
    JSON.stringify(each),
    spaced(each),
    JSON.stringify(each, null, 2),
    JSON.stringify(each, null, 4),
  ]);
  return spellings.flatMap((json) => [
    json,
    ascii(json),
    json.replaceAll('/', '\\/'),
    ascii(json).replaceAll('/', '\\/'),
  ]);
}

/** As Python writes it by default: a space after each comma and colon. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${spaced(member)}`);
  return `{${members.join(', ')}}`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, sorted(member)]));
}

function paths(path: string, host: string | undefined): Change[] {
  const [pathname = '', ...query] = path.split('?');
  const search = query.length > 0 ? `?${query.join('?')}` : '';
  const inner = [...pathname.matchAll(/\//g)].slice(1).map(({ index }) => pathname.slice(index));
  const hosts = host === undefined ? [] : [`https://${host}`, `http://${host}`];
  return [
    ['the query string was not signed', { path: pathname }],
    [
      'the question mark was not signed, or the query was signed without it',
      { path: pathname + search.slice(1) },
    ],
    ...inner.map((rest): Change => ['the base path was not signed', { path: rest + search }]),
    ...inner.map((rest): Change => ['neither the base path nor the query string was signed', { path: rest }]),
    ...hosts.map((origin): Change => [
      'the whole address was signed, not the path alone',
      { path: origin + path },
    ]),
    ['a slash at the end of the path was signed and not sent', { path: `${pathname}/${search}` }],
    [
      'a slash at the end of the path was sent and not signed',
      { path: pathname.replace(/\/$/, '') + search },
    ],
    ['the path was signed without its first slash', { path: path.slice(1) }],
    ...decoded(path).map((text): Change => ['the path was decoded before it was signed', { path: text }]),
    ['the path was signed in lower case', { path: path.toLowerCase() }],
  ];
}

function decoded(path: string): string[] {
  try {
    return [decodeURIComponent(path)];
  } catch {
    return [];
  }
}

function methods(method: string): Change[] {
  const others = ['GET', 'POST', 'PUT'].filter((other) => other !== method);
  return [
    ['the method was signed in lower case', { method: method.toLowerCase() }],
    ...others.map((other): Change => ['another method was signed than sent', { method: other }]),
  ];
}

function timestamps(timestamp: string): Change[] {
  return [
    ['the timestamp was signed in milliseconds and sent in seconds', { timestamp: `${timestamp}000` }],
    ['the timestamp was signed in seconds and sent in milliseconds', { timestamp: timestamp.slice(0, -3) }],
    ['the timestamp was not signed', { timestamp: '' }],
  ];
}

function layouts(): Change[] {
  return [
    ['the parts were joined with CRLF, not with LF', { separator: '\r\n' }],
    ['the parts were joined with nothing between them', { separator: '' }],
    ['the parts were joined with a backslash and an n, not with a newline', { separator: '\\n' }],
    ...[' ', '.', ':', '|', '&'].map((separator): Change => [
      `the parts were joined with "${separator}", not with a newline`,
      { separator },
    ]),
    [
      'timestamp and nonce were signed in the other order',
      { order: ['method', 'path', 'nonce', 'timestamp'] },
    ],
    ['the nonce was not signed', { order: ['method', 'path', 'timestamp'] }],
    ['method and path were not signed', { order: ['timestamp', 'nonce'] }],
    ['the body alone was signed', { order: [] }],
    ['SHA-512 was taken, not SHA-256', { algorithm: 'sha512' }],
    ['SHA-1 was taken, not SHA-256', { algorithm: 'sha1' }],
  ];
}

function keys(key: Buffer): Change[] {
  const text = key.toString();
  const as = (cause: string, changed: Buffer | string): Change => [cause, { key: Buffer.from(changed) }];
  return [
    as('the secret was taken with a newline at its end', `${text}\n`),
    as('the secret was taken with a newline at its end', `${text}\r\n`),
    as('CROUPIER_SECRET has spaces or a newline around that were not in the key', text.trim()),
    as('the secret was decoded as base64: its text is the key', Buffer.from(text, 'base64')),
    as('the secret was decoded as hex: its text is the key', Buffer.from(text, 'hex')),
    as('the secret was hashed: its text is the key', createHash('sha256').update(key).digest()),
    as('the secret was taken with quotation marks', `"${text}"`),
  ];
}
