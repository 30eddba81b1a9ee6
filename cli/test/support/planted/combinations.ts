import { createHash } from 'node:crypto';
import type { Call, CallOptions, Deviation, PlantedMistake } from './call.js';
import { python } from './json.js';

interface Parts {
  method: string;
  path: string;
  timestamp: string;
  nonce: string;
  body: Buffer;
}

/** A signer, which deviates from the right one in a single step. */
interface Signer {
  code: string;
  name: string;
  key?: (secret: string) => string | Buffer;
  parts?: (parts: Parts, call: Call) => Partial<Parts>;
  join?: (parts: Buffer[]) => Buffer;
  algorithm?: string;
  spell?: (digest: Buffer) => string;
}

const json = (change: (text: string) => string) => (parts: Parts) => ({
  body: Buffer.from(change(parts.body.toString())),
});
const between = (separator: string) => (parts: Buffer[]) =>
  Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(separator), part])));

/** One list for each step of signing. Two signers of the same list cannot be combined. */
const SIGNERS: readonly (readonly Signer[])[] = [
  [
    { code: 'key-whitespace', name: 'key with a newline', key: (secret) => `${secret}\n` },
    { code: 'key-quoted', name: 'quoted key', key: (secret) => `"${secret}"` },
    { code: 'key-base64-decoded', name: 'decoded key', key: (secret) => Buffer.from(secret, 'base64') },
    {
      code: 'key-hashed',
      name: 'hashed key',
      key: (secret) => createHash('sha256').update(secret).digest('hex'),
    },
    { code: 'key-hex-encoded', name: 'key in hex', key: (secret) => Buffer.from(secret).toString('hex') },
    { code: 'key-utf16', name: 'key in UTF-16', key: (secret) => Buffer.from(secret, 'utf16le') },
  ],
  [
    {
      code: 'path-query-missing',
      name: 'no query',
      parts: ({ path }) => ({ path: path.split('?')[0]! }),
    },
    {
      code: 'path-base-missing',
      name: 'no base path',
      parts: ({ path }) => ({ path: path.slice(path.indexOf('/v1/')) }),
    },
    { code: 'path-host', name: 'host', parts: ({ path }, { host }) => ({ path: `https://${host}${path}` }) },
    { code: 'path-slash', name: 'no first slash', parts: ({ path }) => ({ path: path.slice(1) }) },
    { code: 'path-query', name: 'no question mark', parts: ({ path }) => ({ path: path.replace('?', '') }) },
  ],
  [
    {
      code: 'body-whitespace',
      name: 'indented body',
      parts: json((text) => JSON.stringify(JSON.parse(text), null, 2)),
    },
    { code: 'body-whitespace', name: 'body of Python', parts: json(python) },
    {
      code: 'body-key-order',
      name: 'sorted body',
      parts: json((text) => {
        const fields = Object.entries(JSON.parse(text) as object);
        return JSON.stringify(Object.fromEntries(fields.sort(([a], [b]) => a.localeCompare(b))));
      }),
    },
    { code: 'newline-at-end', name: 'newline at the end', parts: json((text) => `${text}\n`) },
    { code: 'body-empty', name: 'empty body', parts: () => ({ body: Buffer.alloc(0) }) },
    {
      code: 'body-digest',
      name: 'digest of the body',
      parts: ({ body }) => ({ body: Buffer.from(createHash('sha256').update(body).digest('hex')) }),
    },
    { code: 'body-bom', name: 'byte order mark', parts: json((text) => `\ufeff${text}`) },
    {
      code: 'body-numbers',
      name: 'numbers as texts',
      parts: json((text) => text.replaceAll(/:(\d+)/g, ':"$1"')),
    },
  ],
  [
    { code: 'method-case', name: 'lower-case method', parts: () => ({ method: 'post' }) },
    { code: 'method-other', name: 'another method', parts: () => ({ method: 'PUT' }) },
  ],
  [
    {
      code: 'timestamp-milliseconds',
      name: 'milliseconds',
      parts: ({ timestamp }) => ({ timestamp: `${timestamp}000` }),
    },
    {
      code: 'timestamp-differs',
      name: 'two seconds later',
      parts: ({ timestamp }) => ({ timestamp: String(Number(timestamp) + 2) }),
    },
    {
      code: 'timestamp-fraction',
      name: 'fraction',
      parts: ({ timestamp }) => ({ timestamp: `${timestamp}.0` }),
    },
  ],
  [
    { code: 'nonce-case', name: 'upper-case nonce', parts: ({ nonce }) => ({ nonce: nonce.toUpperCase() }) },
    {
      code: 'nonce-dashes',
      name: 'nonce without dashes',
      parts: ({ nonce }) => ({ nonce: nonce.split('-').join('') }),
    },
  ],
  [
    { code: 'layout-separator', name: 'joined with dots', join: between('.') },
    { code: 'layout-separator', name: 'joined with CRLF', join: between('\r\n') },
    { code: 'layout-separator', name: 'joined with nothing', join: between('') },
    {
      code: 'layout-order',
      name: 'nonce before timestamp',
      join: ([method, path, timestamp, nonce, body]) =>
        between('\n')([method!, path!, nonce!, timestamp!, body!]),
    },
    {
      code: 'layout-nonce-missing',
      name: 'no nonce',
      join: ([method, path, timestamp, , body]) => between('\n')([method!, path!, timestamp!, body!]),
    },
    {
      code: 'layout-before-body',
      name: 'nothing before the body',
      join: (parts) => Buffer.concat([between('\n')(parts.slice(0, 4)), parts[4]!]),
    },
  ],
  [
    { code: 'digest-algorithm', name: 'SHA-512', algorithm: 'sha512' },
    { code: 'digest-algorithm', name: 'SHA-1', algorithm: 'sha1' },
  ],
  [
    { code: 'signature-base64', name: 'base64', spell: (digest) => digest.toString('base64') },
    {
      code: 'signature-upper-case',
      name: 'upper case',
      spell: (digest) => digest.toString('hex').toUpperCase(),
    },
    { code: 'signature-prefix', name: 'prefix', spell: (digest) => `sha256=${digest.toString('hex')}` },
  ],
];

const NEEDS: Partial<CallOptions> = { body: 'plain', query: true, basePath: true };

function deviation(call: Call, one: Signer, other: Signer): Deviation {
  const { method, path, timestamp, nonce } = call;
  let parts: Parts = { method, path, timestamp, nonce, body: Buffer.from(call.body) };
  for (const signer of [one, other]) parts = { ...parts, ...signer.parts?.(parts, call) };
  const join = one.join ?? other.join ?? between('\n');
  const head = [parts.method, parts.path, parts.timestamp, parts.nonce].map((part) => Buffer.from(part));
  const key = (one.key ?? other.key)?.(call.secret);
  const algorithm = one.algorithm ?? other.algorithm;
  const spell = one.spell ?? other.spell;
  return {
    text: join([...head, parts.body]),
    ...(key !== undefined && { key }),
    ...(algorithm !== undefined && { algorithm }),
    ...(spell && { spell }),
  };
}

/** Two steps of which one hides the other. */
const HIDDEN = /nonce.*; no nonce$/;

/** Each two signers of different lists. */
export const COMBINATIONS: readonly PlantedMistake[] = SIGNERS.flatMap((ones, index) =>
  SIGNERS.slice(index + 1)
    .flat()
    .flatMap((other) =>
      ones.map((one) => ({
        kind: `${one.name}; ${other.name}`,
        codes: [`${one.code}+${other.code}`],
        plant: (call: Call) => deviation(call, one, other),
        needs: NEEDS,
      })),
    ),
).filter(({ kind }) => !HIDDEN.test(kind));
