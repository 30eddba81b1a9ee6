import { CALLBACK_ROUTES, signatureOf } from '@croupier/provider-sdk';
import { gzipSync } from 'node:zlib';
import { type Call, ok, refused, RIGHT, SECRET, TENANT, verification } from '../reference-provider.js';
import { delay, type Mutation, RACE_MS } from './mutation.js';

const { grant, status, cancel, revoke } = CALLBACK_ROUTES;
const seconds = (call: Call) => Number(call.headers['x-timestamp']);
const rightSignature = ({ path, headers, raw }: Call) =>
  signatureOf(SECRET, {
    method: 'POST',
    path,
    timestamp: headers['x-timestamp'] ?? '',
    nonce: headers['x-nonce'] ?? '',
    body: raw,
  });
const without = (path: string): Mutation[1] => ({
  verifies: (call) => call.path === path || verification(call),
  claims: (key, stored) => key === '' || RIGHT.claims(key, stored),
});

export const SIGNATURES: Mutation[] = [
  ['does not verify a status', without(status), 'every-route-secret'],
  ['does not verify a cancel', without(cancel), 'every-route-unsigned'],
  ['does not verify a revocation', without(revoke), 'every-route-body'],
  ['does not verify a grant', without(grant), 'secret-wrong'],
  [
    'does not check the time of a revocation',
    { verifies: (call) => verification(call, call.path === revoke ? { now: seconds(call) } : {}) },
    'every-route-old',
  ],
  [
    'does not check the tenant of a cancel',
    {
      verifies: (call) =>
        verification(call, call.path === cancel ? { tenantId: call.headers['x-tenant-id'] ?? '' } : {}),
    },
    'every-route-tenant',
  ],
  [
    'does not check the nonce of a status',
    { nonceKey: (call) => (call.path === status ? String(Math.random()) : RIGHT.nonceKey(call)) },
    'every-route-nonce',
  ],
  [
    'accepts any signature of a known tenant',
    {
      verifies: ({ headers }) =>
        headers['x-tenant-id'] === TENANT &&
        Math.abs(Date.now() / 1000 - Number(headers['x-timestamp'])) < 300,
    },
    'secret-wrong',
  ],
  [
    'verifies a signature only if there is one',
    { verifies: (call) => !call.headers['x-signature'] || verification(call) },
    'signature-missing',
  ],
  [
    'accepts any tenant',
    { verifies: (call) => verification(call, { tenantId: call.headers['x-tenant-id'] ?? '' }) },
    'tenant-wrong',
  ],
  [
    'compares the tenant regardless of case',
    {
      verifies: (call) =>
        verification({
          ...call,
          headers: {
            ...call.headers,
            'x-tenant-id': call.headers['x-tenant-id']?.toLowerCase() === TENANT.toLowerCase() ? TENANT : '',
          },
        }),
    },
    'tenant-similar',
  ],
  [
    'compares the beginning of the tenant',
    {
      verifies: (call) =>
        verification({
          ...call,
          headers: {
            ...call.headers,
            'x-tenant-id': TENANT.startsWith(call.headers['x-tenant-id'] || '-') ? TENANT : '',
          },
        }),
    },
    'tenant-similar',
  ],
  [
    'accepts a future timestamp',
    { verifies: (call) => verification(call, { now: Math.max(seconds(call) || 0, Date.now() / 1000) }) },
    'timestamp-future',
  ],
  [
    'accepts an old timestamp',
    { verifies: (call) => verification(call, { now: Math.min(seconds(call) || 0, Date.now() / 1000) }) },
    'timestamp-old',
  ],
  [
    'accepts an hour',
    {
      verifies: (call) =>
        verification(call, Math.abs(seconds(call) - Date.now() / 1000) < 3600 ? { now: seconds(call) } : {}),
    },
    'timestamp-old',
  ],
  [
    'accepts half a minute',
    { verifies: (call) => verification(call) && Math.abs(seconds(call) - Date.now() / 1000) < 30 },
    'clock-behind',
  ],
  [
    'accepts a timestamp that is no number',
    {
      verifies: (call) =>
        Number.isNaN(seconds(call)) && call.headers['x-timestamp']
          ? call.headers['x-signature'] === rightSignature(call)
          : verification(call),
    },
    'timestamp-no-number',
  ],
  [
    'accepts a signature with more behind it',
    {
      verifies: (call) =>
        call.headers['x-signature']?.startsWith(rightSignature(call))
          ? verification({ ...call, headers: { ...call.headers, 'x-signature': rightSignature(call) } })
          : false,
    },
    'signature-extended',
  ],
  [
    'accepts the beginning of a signature',
    {
      verifies: (call) =>
        rightSignature(call).startsWith(call.headers['x-signature'] || '-')
          ? verification({ ...call, headers: { ...call.headers, 'x-signature': rightSignature(call) } })
          : false,
    },
    'signature-shortened',
  ],
  [
    'accepts an empty signature',
    { verifies: (call) => (call.headers['x-signature'] === '' ? true : verification(call)) },
    'headers-empty',
  ],
  [
    'also accepts a signature over an empty body',
    {
      verifies: (call) =>
        call.headers['x-signature'] === rightSignature({ ...call, raw: '' }) || verification(call),
    },
    'every-route-empty-body',
  ],
  [
    'verifies the body without white space',
    { verifies: (call) => verification({ ...call, raw: call.raw.trim() }) },
    'body-spaced',
  ],
  [
    'verifies JSON that it has written again',
    {
      verifies: (call) => {
        try {
          return verification({ ...call, raw: JSON.stringify(JSON.parse(call.raw)) });
        } catch {
          return verification(call);
        }
      },
    },
    'body-spelled-unusually',
  ],
  [
    'verifies the path without its query',
    { verifies: (call) => verification({ ...call, path: call.path.split('?')[0] ?? '' }) },
    'query-added',
  ],
  [
    'verifies any route',
    {
      verifies: (call) =>
        [grant, status, cancel, revoke, call.path].some((path) => verification({ ...call, path })),
    },
    'path-changed',
  ],
];

export const NONCES: Mutation[] = [
  [
    'keeps the last 50 nonces',
    {
      claims: (key, { nonces }) => {
        if (nonces.has(key)) return false;
        nonces.set(key, 0);
        if (nonces.size > 50) nonces.delete([...nonces.keys()][0] ?? '');
        return true;
      },
    },
    'first-nonce-replayed',
    'whole run',
  ],
  [
    'keeps nonces for half a second',
    {
      claims: (key, { nonces }) => {
        const isFresh = Date.now() - (nonces.get(key) ?? 0) > 500;
        if (isFresh) nonces.set(key, Date.now());
        return isFresh;
      },
    },
    'first-nonce-replayed',
  ],
  [
    'keeps nonces together with their second',
    { nonceKey: ({ headers }) => `${headers['x-nonce']} ${headers['x-timestamp']}` },
    'first-nonce-replayed',
  ],
  [
    'keeps signatures in place of nonces',
    { nonceKey: ({ headers }) => headers['x-signature'] ?? '' },
    'nonce-replayed-elsewhere',
  ],
  [
    'keeps nonces by route',
    { nonceKey: ({ headers, path }) => `${path} ${headers['x-nonce']}` },
    'nonce-replayed-elsewhere',
  ],
  ['keeps no nonces', { claims: () => true }, 'nonce-replayed'],
  [
    'compares nonces regardless of case',
    { nonceKey: ({ headers }) => (headers['x-nonce'] ?? '').toLowerCase() },
    'nonce-case',
  ],
  [
    'cuts nonces at 64 characters',
    { nonceKey: ({ headers }) => (headers['x-nonce'] ?? '').slice(0, 64) },
    'nonce-case',
  ],
  [
    'refuses long nonces',
    { verifies: (call) => (call.headers['x-nonce'] ?? '').length <= 64 && verification(call) },
    'nonce-case',
  ],
  [
    'claims a nonce before it verifies',
    () => {
      const claimed = new Map<string, number>();
      return {
        verifies: (call) => {
          const nonce = RIGHT.nonceKey(call);
          if (claimed.has(nonce)) return false;
          claimed.set(nonce, 0);
          return verification(call);
        },
        claims: () => true,
      };
    },
    'forged-call-leaves-nonce',
  ],
];

export const REFUSALS: Mutation[] = [
  ['refuses signatures with 400', { refusal: refused(400) }, 'secret-wrong'],
  ['refuses signatures with 403', { refusal: refused(403) }, 'secret-wrong'],
  ['refuses signatures with 500', { refusal: refused(500) }, 'secret-wrong'],
  [
    'refuses signatures with 200 and an error',
    { refusal: ok({ error: 'invalid signature' }) },
    'secret-wrong',
  ],
  [
    'stores the requestRef of a grant that it refuses',
    () => {
      const spoilt = new Set<string>();
      const refOf = ({ raw }: Call) => /"requestRef":"([^"]*)"/.exec(raw)?.[1] ?? '';
      return {
        verifies: (call) => {
          const isRight = verification(call);
          if (!isRight && call.path === grant) spoilt.add(refOf(call));
          return isRight;
        },
        objection: (body) =>
          spoilt.has(body['requestRef'] as string) ? refused(409) : RIGHT.objection(body),
      };
    },
    'refused-grant-books-nothing',
  ],
];

export const TRANSPORTS: Mutation[] = [
  ['answers 200 on every route', { elsewhere: ok() }, 'unknown-route'],
  [
    'answers grants as text/html',
    {
      finish: (answer, { path }) =>
        path === grant && answer.status === 200
          ? { ...answer, headers: { 'Content-Type': 'text/html' } }
          : answer,
    },
    'answer-content-type',
  ],
  [
    'answers grants without a Content-Type',
    {
      finish: (answer, { path }) =>
        path === grant && answer.status === 200 ? { ...answer, headers: {} } : answer,
    },
    'answer-content-type',
  ],
  [
    'compresses its answers',
    {
      finish: (answer) => ({
        ...answer,
        body: gzipSync(JSON.stringify(answer.body)).toString('latin1'),
        headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      }),
    },
    'grant-reference',
  ],
  [
    'answers with more than 64 KiB',
    {
      finish: (answer) => ({ ...answer, body: { ...(answer.body as object), padding: 'x'.repeat(70_000) } }),
    },
    'signed-call',
  ],
  [
    'redirects',
    {
      finish: (answer, { path }) =>
        path === grant ? { ...answer, status: 307, headers: { Location: '/elsewhere' } } : answer,
    },
    'signed-call',
  ],
  [
    'carries out four calls at a time',
    () => {
      let underWay = 0;
      return {
        work: async () => {
          underWay += 1;
          const isTooMuch = underWay > 4;
          await delay(RACE_MS);
          underWay -= 1;
          if (isTooMuch) throw new Error('too many');
        },
      };
    },
    'grants-at-once',
  ],
  [
    'works on one call after the other',
    () => {
      let turn = Promise.resolve();
      return { work: () => (turn = turn.then(() => delay(25))) };
    },
    'calls-in-parallel',
  ],
];
