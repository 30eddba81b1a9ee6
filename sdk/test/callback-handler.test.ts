import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import type * as SdkModule from '../src/index.js';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  CALLBACK_ROUTES,
  PLAY_ROUTE,
  CallbackRefusal,
  type CallbackHandlerOptions,
  type CallbackName,
  createCallbackHandler,
  MemoryNonceStore,
  ProviderClient,
} from '../src/index.js';
import { uncheckedSignature } from './support/unchecked-signature.js';

const NOW = 1_800_000_000;
const TENANT = { tenantId: 'spinwell', secret: 'secret' };
const BATCH = { externalRef: 'batch-1', playerRef: 'ann', gameId: 'reels' };
const BODIES = {
  grant: {
    requestRef: 'r-1',
    playerRef: 'ann',
    gameId: 'reels',
    spins: 10,
    betAmountMinor: 0,
    currency: 'EUR',
  },
  status: BATCH,
  cancel: BATCH,
  revoke: {
    revocationRef: 'v-1',
    sessionId: 's-1',
    playerRef: 'ann',
    gameId: 'reels',
    reason: 'KICK',
    revokedAt: '2027-01-15T08:00:00.000Z',
  },
} as const;
const NAMES = Object.keys(CALLBACK_ROUTES) as CallbackName[];

const calls: unknown[] = [];
const refusals: string[] = [];
const errors: unknown[] = [];
let nonces = 0;
beforeEach(() => {
  calls.length = refusals.length = errors.length = 0;
});

function handlerOf(options: Partial<CallbackHandlerOptions> = {}) {
  const called =
    <T>(name: string, answer: T) =>
    (body: unknown, context: unknown): T => {
      calls.push([name, body, context]);
      return answer;
    };
  return createCallbackHandler({
    ...TENANT,
    clock: () => NOW * 1000,
    onGrant: called('grant', { externalRef: 'batch-1' }),
    onStatus: called('status', { remainingSpins: 7, completed: false }),
    onCancel: called('cancel', undefined),
    onRevoke: called('revoke', undefined),
    onRefused: (reason) => refusals.push(reason),
    onError: (error) => errors.push(error),
    ...options,
  });
}

function request(
  name: CallbackName,
  changes: {
    body?: string;
    path?: string;
    signedPath?: string;
    secret?: string;
    nonce?: string;
    now?: number;
  } = {},
) {
  const path = changes.path ?? CALLBACK_ROUTES[name];
  const body = changes.body ?? JSON.stringify(BODIES[name]);
  const nonce = changes.nonce ?? `nonce-${(nonces += 1)}-of-test`;
  const signed = {
    method: 'POST',
    path: changes.signedPath ?? path,
    body,
    ...TENANT,
    nonce,
    now: NOW,
    ...changes,
  };
  const timestamp = String(signed.now);
  const headers: Record<string, string> = {
    'X-Tenant-ID': signed.tenantId,
    'X-Timestamp': timestamp,
    'X-Nonce': signed.nonce,
    // The SDK would refuse to sign some of these calls.
    'X-Signature': uncheckedSignature(signed.secret, { ...signed, timestamp }),
    'X-Request-Id': 'request-7',
  };
  return { method: 'POST', path, headers, body };
}

describe('a callback', () => {
  const ANSWERS = {
    grant: { externalRef: 'batch-1' },
    status: { remainingSpins: 7, completed: false },
    cancel: {},
    revoke: {},
  };
  test.each(NAMES)('%s reaches its function with exactly its known fields', async (name) => {
    const body = JSON.stringify({ ...BODIES[name], unknown: 1 });
    const answer = await handlerOf()(request(name, { body }));
    expect(answer).toEqual({
      status: 200,
      headers: { 'Content-Type': 'application/json; charset=utf-8' },
      body: JSON.stringify(ANSWERS[name]),
    });
    expect(calls).toEqual([[name, BODIES[name], { requestId: 'request-7' }]]);
  });

  test.each(NAMES)('%s without a function is a 501', async (name) => {
    const handler = createCallbackHandler({ ...TENANT, clock: () => NOW * 1000 });
    expect(await handler(request(name))).toMatchObject({ status: 501 });
  });

  test('may arrive at any base path, and without one that a proxy removed', async () => {
    expect(
      await handlerOf()(request('grant', { path: `/rgs/eu${CALLBACK_ROUTES.grant}?a=1` })),
    ).toMatchObject({ status: 200 });
    const cut = request('grant', { signedPath: `/rgs${CALLBACK_ROUTES.grant}` });
    expect(await handlerOf()(cut)).toMatchObject({ status: 401 });
    expect(await handlerOf({ strippedPrefix: '/rgs' })(cut)).toMatchObject({ status: 200 });
  });

  test('may be signed with either secret while one is rotated', async () => {
    const handler = createCallbackHandler({
      tenantId: 'spinwell',
      secrets: ['new', 'old'],
      clock: () => NOW * 1000,
      onRevoke: () => undefined,
    });
    expect(await handler(request('revoke', { secret: 'old' }))).toMatchObject({ status: 200 });
    expect(await handler(request('revoke', { secret: 'new' }))).toMatchObject({ status: 200 });
    expect(await handler(request('revoke', { secret: 'older' }))).toMatchObject({ status: 401 });
  });

  test('may be signed with a secret beside an empty or blank one, but not with that one', async () => {
    const secrets = ['', ' ', '\0', new Uint8Array(8) as unknown as string, 'old'];
    const handler = createCallbackHandler({
      tenantId: 'spinwell',
      secrets,
      clock: () => NOW * 1000,
      onRevoke: () => undefined,
    });
    expect(await handler(request('revoke', { secret: 'old' }))).toMatchObject({ status: 200 });
    for (const secret of secrets.slice(0, -1)) {
      expect(await handler(request('revoke', { secret }))).toMatchObject({ status: 401 });
    }
  });

  test('may have a byte order mark in front of its JSON, as bytes or text', async () => {
    const body = `\ufeff${JSON.stringify(BODIES.revoke)}`;
    const call = request('revoke', { body });
    expect(await handlerOf()(call)).toMatchObject({ status: 200 });
    const bytes = { ...request('revoke', { body }), body: Buffer.from(body) };
    expect(await handlerOf()(bytes)).toMatchObject({ status: 200 });
  });

  test.each([
    ['GET', CALLBACK_ROUTES.grant],
    ['POST', '/v1/game/free-spins'],
    ['POST', `${CALLBACK_ROUTES.grant}/`],
    ['POST', `/elsewhere?${CALLBACK_ROUTES.grant}`],
  ])('is not %s %s', async (method, path) => {
    expect(await handlerOf()({ ...request('grant'), method, path })).toMatchObject({ status: 404 });
  });
});

describe('a refused callback', () => {
  test.each([
    ['signature_mismatch', { secret: 'other' }],
    ['signature_mismatch', { signedPath: CALLBACK_ROUTES.cancel }],
    ['timestamp_expired', { now: NOW - 301 }],
    ['timestamp_in_future', { now: NOW + 301 }],
    ['malformed_header', { nonce: 'short' }],
  ])('is a 401 whose reason only `onRefused` gets: %s %j', async (reason, changes) => {
    expect(await handlerOf()(request('grant', changes))).toEqual({
      status: 401,
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: 'invalid signature',
    });
    expect(refusals).toEqual([reason]);
    expect(calls).toEqual([]);
  });

  test('is one whose nonce was used before, on any route, unless that call was refused', async () => {
    const handler = handlerOf();
    const nonce = 'the-same-nonce';
    expect(await handler(request('grant', { nonce, secret: 'other' }))).toMatchObject({ status: 401 });
    const first = request('grant', { nonce });
    const both = await Promise.all([handler(first), handler(first)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await handler(request('cancel', { nonce }))).toMatchObject({ status: 401 });
    expect(refusals).toEqual(['signature_mismatch', 'nonce_replayed', 'nonce_replayed']);
    expect(calls).toHaveLength(1);
  });

  test.each([
    ['grant', { spins: 0 }, 'spins must be a whole number of at least 1'],
    ['grant', { spins: '10' }, 'spins must be a whole number of at least 1'],
    ['grant', { betAmountMinor: -1 }, 'betAmountMinor must be a whole number of at least 0'],
    ['grant', { currency: 'eur' }, 'currency must be three upper-case letters'],
    ['grant', { requestRef: '' }, 'requestRef must be a non-empty string'],
    ['status', { externalRef: null }, 'externalRef must be a non-empty string'],
    ['cancel', { playerRef: 7 }, 'playerRef must be a non-empty string'],
    ['revoke', { sessionId: undefined }, 'sessionId must be a non-empty string'],
  ] as const)('%s with %j is a 400 that names the mistake', async (name, change, error) => {
    const body = JSON.stringify({ ...BODIES[name], ...change });
    expect(await handlerOf()(request(name, { body }))).toMatchObject({
      status: 400,
      body: JSON.stringify({ error }),
    });
    expect(calls).toEqual([]);
  });

  test.each(['', '{', 'null', '[]', '"text"'])('%j is not a valid body', async (body) => {
    expect(await handlerOf()(request('grant', { body }))).toMatchObject({ status: 400 });
  });

  test('is not a body that is too large', async () => {
    const handler = handlerOf({ maxBodyBytes: 10 });
    expect(await handler(request('revoke'))).toMatchObject({ status: 413 });
    expect(await handler({ ...request('revoke'), body: new Uint8Array(11) })).toMatchObject({ status: 413 });
  });
});

describe('the play route', () => {
  const play = (body: object = BODIES.status) =>
    request('status', { path: PLAY_ROUTE, body: JSON.stringify(body) });

  test('plays one spin for a signed call if there is onPlay', async () => {
    const handler = handlerOf({ onPlay: () => ({ remainingSpins: 6, completed: false }) });
    expect(await handler(play())).toMatchObject({
      status: 200,
      body: '{"remainingSpins":6,"completed":false}',
    });
    expect(await handler({ ...play(), headers: {} })).toMatchObject({ status: 401 });
    expect(await handler(play({ externalRef: 'batch-1' }))).toMatchObject({ status: 400 });
  });

  test('is not found without onPlay', async () => {
    expect(await handlerOf()(play())).toMatchObject({ status: 404 });
    expect(refusals).toEqual([]);
  });
});

describe('a function that does not answer', () => {
  test('may be thrown by the CommonJS copy of the package', async () => {
    const commonJs = createRequire(import.meta.url)('../dist/cjs/index.js') as typeof SdkModule;
    const theirs = new commonJs.CallbackRefusal(404, 'no such batch');
    expect(theirs).not.toBeInstanceOf(CallbackRefusal);
    const handler = handlerOf({ onStatus: () => Promise.reject(theirs) });
    expect(await handler(request('status'))).toMatchObject({
      status: 404,
      body: '{"error":"no such batch"}',
    });
    expect(errors).toEqual([]);
  });

  test('with its own message is answered with it, and the platform logs it', async () => {
    const handler = handlerOf({ onStatus: () => Promise.reject(new CallbackRefusal(404, 'no such batch')) });
    expect(await handler(request('status'))).toMatchObject({
      status: 404,
      body: '{"error":"no such batch"}',
    });
    expect(errors).toEqual([]);
  });

  test.each<Partial<CallbackHandlerOptions>>([
    { onGrant: () => Promise.reject(new Error('the database is gone')) },
    { onGrant: () => ({ externalRef: '' }) },
    { onGrant: () => ({ externalRef: 'batch\n1' }) },
    { onGrant: () => ({ externalRef: 'x'.repeat(257) }) },
    { onGrant: () => ({}) as { externalRef: string } },
    { onGrant: () => undefined as unknown as { externalRef: string } },
  ])('is a 500 whose cause only `onError` gets', async (options) => {
    expect(await handlerOf(options)(request('grant'))).toMatchObject({
      status: 500,
      body: '{"error":"internal error"}',
    });
    expect(errors).toHaveLength(1);
  });

  test.each([
    { remainingSpins: -1, completed: false },
    { remainingSpins: 1 },
    { remainingSpins: '1', completed: true },
  ])('with a status the platform could not read (%j) is a 500', async (status) => {
    const handler = handlerOf({ onStatus: () => status as { remainingSpins: number; completed: boolean } });
    expect(await handler(request('status'))).toMatchObject({ status: 500 });
  });

  test('is a 500 even if the log fails, too', async () => {
    const fail = () => {
      throw new Error('no');
    };
    expect(await handlerOf({ onGrant: fail, onError: fail })(request('grant'))).toMatchObject({
      status: 500,
    });
  });

  test('is a 500 even if the log fails later, and no rejection stays unhandled', async () => {
    const onGrant = () => Promise.reject(new Error('no'));
    const onError = () => Promise.reject(new Error('the log is full')) as unknown as undefined;
    const unhandled = vi.fn();
    process.once('unhandledRejection', unhandled);
    try {
      expect(await handlerOf({ onGrant, onError })(request('grant'))).toMatchObject({ status: 500 });
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });
});

test.each([undefined, null, BODIES.grant, new ArrayBuffer(2)])(
  'a body that is not raw (%j) is a 500 that says in the log what to do',
  async (body) => {
    const call = { ...request('grant'), body: body as string | undefined };
    expect(await handlerOf()(call)).toMatchObject({ status: 500 });
    expect(String(errors[0])).toContain('before express.json()');
  },
);

describe('the nonces', () => {
  test('are remembered as long as their timestamp may be valid, and no longer', () => {
    const store = new MemoryNonceStore();
    expect(store.claim('nonce', NOW + 601, NOW)).toBe(true);
    expect(store.claim('nonce', NOW + 1201, NOW + 600)).toBe(false);
    expect(store.claim('nonce', NOW + 1202, NOW + 601)).toBe(true);
  });

  test('outlive the last second of a timestamp from the future', async () => {
    let now = NOW;
    const handler = handlerOf({ clock: () => now * 1000 });
    const early = request('revoke', { now: NOW + 300 });
    expect(await handler(early)).toMatchObject({ status: 200 });
    now += 600;
    expect(await handler(early)).toMatchObject({ status: 401 });
    expect(refusals).toEqual(['nonce_replayed']);
  });

  test('are bounded: when the store is full, calls are refused', async () => {
    const handler = handlerOf({ nonceStore: new MemoryNonceStore(1) });
    expect(await handler(request('revoke'))).toMatchObject({ status: 200 });
    expect(await handler(request('revoke'))).toMatchObject({ status: 503 });
    expect(errors).toHaveLength(1);
  });

  test('may be kept elsewhere; while that store is unavailable, no call is accepted', async () => {
    const claimed: unknown[] = [];
    const claim = async (...claim: unknown[]) => claimed.push(claim) === 1;
    const handler = handlerOf({ nonceStore: { claim } });
    expect(await handler(request('revoke', { nonce: 'nonce-0001' }))).toMatchObject({ status: 200 });
    expect(await handler(request('revoke'))).toMatchObject({ status: 401 });
    expect(claimed[0]).toEqual(['nonce-0001', NOW + 601, NOW]);
    const down = handlerOf({ nonceStore: { claim: () => Promise.reject(new Error('down')) } });
    expect(await down(request('revoke'))).toMatchObject({ status: 503 });
    expect(calls).toHaveLength(1);
  });
});

test.each<[object, string]>([
  [{ tenantId: '' }, 'tenantId must have 1 to 64 characters'],
  [{ tenantId: undefined }, 'tenantId must have 1 to 64 characters'],
  [{ tenantId: 'spinwell\r\n' }, 'but has whitespace at its beginning or end'],
  [{ secret: '' }, 'secret must be the secret as it was shown'],
  [{ secret: 'secret\n' }, 'secret has whitespace'],
  [{ secrets: [] }, 'secrets must be a list'],
  [{ secrets: 'secret' }, 'secrets must be a list'],
  [{ secret: undefined, secrets: ['', ' \t'] }, 'secrets[0] must be the secret'],
  [{ secret: undefined, secrets: ['\0\u200b'] }, 'secrets[0] must be the secret'],
  [{ secret: undefined, secrets: [new Uint8Array(), new Uint8Array(32)] }, 'secrets[0] must be the secret'],
  [{ secret: new Uint8Array() }, 'secret must be the secret'],
  [{ secrets: ['new', undefined] }, 'secrets[1] must be the secret'],
  [{ onGranted: () => ({}) }, 'onGranted is not one of onGrant, onStatus'],
  [{ onCancel: 'cancel' }, 'onCancel must be a function'],
  [{ maxBodyBytes: Number.NaN }, 'maxBodyBytes must be a whole number'],
  [{ maxBodyBytes: 0 }, 'maxBodyBytes must be a whole number'],
  [{ maxBodyBytes: '65536' }, 'maxBodyBytes must be a whole number'],
  [{ toleranceSeconds: '300' }, 'toleranceSeconds must be a number'],
  [{ toleranceSeconds: Number.NaN }, 'toleranceSeconds must be a number'],
  [{ toleranceSeconds: -1 }, 'toleranceSeconds must be a number'],
  [{ strippedPrefix: 'rgs' }, 'strippedPrefix must begin with a slash'],
  [{ strippedPrefix: '/rgs/' }, 'strippedPrefix must begin with a slash'],
  [{ strippedPrefix: '/' }, 'strippedPrefix must begin with a slash'],
])('%j is refused at once', (options, sentence) => {
  expect(() => handlerOf(options)).toThrow(TypeError);
  expect(() => handlerOf(options)).toThrow(sentence);
});

test('no secret at all is refused at once', () => {
  expect(() => createCallbackHandler({ tenantId: 'spinwell' })).toThrow('secret is missing');
});

test.each([
  () => {
    throw new Error('the log is full');
  },
  () => Promise.reject(new Error('the log is full')) as unknown as undefined,
])('an onRefused that fails does not change the 401: %s', async (onRefused) => {
  const handler = handlerOf({ onRefused });
  expect(await handler(request('revoke', { secret: 'wrong' }))).toMatchObject({
    status: 401,
    body: 'invalid signature',
  });
  await expect.poll(() => errors).toHaveLength(1);
});

test('neither a handler nor a client shows its secret', () => {
  const options = {
    tenantId: 'spinwell',
    secret: 'that no log may show',
    baseUrl: 'https://platform.example',
  };
  for (const shown of [createCallbackHandler(options), new ProviderClient(options)]) {
    const seen = [inspect(shown, { depth: 9, showHidden: true }), JSON.stringify({ shown }), String(shown)];
    expect(seen.join()).not.toContain('that no log may show');
  }
});
