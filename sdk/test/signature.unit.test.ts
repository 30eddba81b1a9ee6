import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type HeadersLike,
  ProviderClient,
  signRequest,
  verifyPlatformSignature,
  type VerifyInput,
} from '../src/index.js';
import { headerOf, isKey, signatureOf } from '../src/signature.js';
import { uncheckedSignature } from './support/unchecked-signature.js';

const NOW = 1_800_000_000;
const CALL = { method: 'POST', path: '/rgs/v1/game/free-spins/grant?a=1', body: '{"a":"ü"}' };
const SIGNED = { ...CALL, tenantId: 'spinwell', secret: 'ses¢ret', nonce: 'nonce-0001', now: NOW };

const headersOf = (changes: object = {}) => signRequest({ ...SIGNED, ...changes });
const verify = (changes: Partial<VerifyInput> = {}) =>
  verifyPlatformSignature({ headers: headersOf(), ...SIGNED, ...changes });
const refused = (reason: string) => ({ ok: false, reason });

// printf 'POST\n/rgs/v1/game/free-spins/grant?a=1\n1800000000\nnonce-0001\n{"a":"ü"}' | openssl dgst -sha256 -hmac 'ses¢ret'
const OPENSSL_SAYS = '3c6348ee1de3663a56e560bff9c432684ac5774c552c253295d718e3873cdd9b';

test('the signature equals that of openssl over the same bytes', () => {
  expect(headersOf()).toEqual({
    'X-Tenant-ID': 'spinwell',
    'X-Timestamp': '1800000000',
    'X-Nonce': 'nonce-0001',
    'X-Signature': OPENSSL_SAYS,
  });
});

describe('headers', () => {
  // The tests sign, not the code around them: an error there would not count as a failed test.
  const entries = () => Object.entries(headersOf());
  const lower = () => Object.fromEntries(entries().map(([name, value]) => [name.toLowerCase(), value]));
  const upper = () => Object.fromEntries(entries().map(([name, value]) => [name.toUpperCase(), value]));
  test.each<[string, () => HeadersLike]>([
    ['an object', headersOf],
    ['an object in lower case', lower],
    ['an object in upper case', upper],
    ['an object of lists', () => Object.fromEntries(entries().map(([name, value]) => [name, [value]]))],
    ['a Headers', () => new Headers({ ...headersOf() })],
    ['a Map in lower case', () => new Map(Object.entries(lower()))],
    ['pairs', entries],
    ['a flat list', () => entries().flat()],
  ])('may be %s', (_, given) => {
    expect(verify({ headers: given() })).toEqual({ ok: true });
  });

  test.each<[string, (name: string, value: string) => HeadersLike]>([
    ['in an object', (name, value) => ({ ...headersOf(), [name]: [value, value] })],
    ['in a Headers', (name, value) => new Headers([...entries(), [name, value]])],
    ['in pairs', (name, value) => [...entries(), [name.toLowerCase(), value]]],
    ['in a flat list', (name, value) => [...entries().flat(), name, value]],
  ])('given twice %s are not trusted', (_, twice) => {
    for (const [name, value] of entries()) {
      const reason = name === 'X-Tenant-ID' ? 'tenant_mismatch' : 'malformed_header';
      expect(verify({ headers: twice(name, value) })).toEqual(refused(reason));
    }
  });

  test.each(['X-Tenant-ID', 'X-Timestamp', 'X-Nonce', 'X-Signature'])('without %s are not enough', (name) => {
    const rest = entries().filter(([other]) => other !== name);
    expect(verify({ headers: rest })).toEqual(refused('missing_header'));
    expect(verify({ headers: { ...headersOf(), [name]: '' } })).toEqual(refused('missing_header'));
    expect(verify({ headers: { ...headersOf(), [name]: undefined } })).toEqual(refused('missing_header'));
  });

  test.each<[string, HeadersLike, string | undefined]>([
    ['an object', { 'X-Nonce': 'n' }, 'n'],
    ['an object of lists', { 'x-nonce': ['n', 'm'] }, 'n, m'],
    ['an object with a header named get', { get: 'g', 'x-nonce': 'n' }, 'n'],
    ['an object without it', { 'x-nonce-2': 'n' }, undefined],
    ['a Headers', new Headers({ 'X-Nonce': 'n' }), 'n'],
    ['a Headers without it', new Headers(), undefined],
    ['pairs', [['X-Nonce', 'n']], 'n'],
    [
      'pairs, given twice',
      [
        ['X-Nonce', 'n'],
        ['x-nonce', 'm'],
      ],
      'n, m',
    ],
    ['pairs without it', [['X-Nonce-2', 'n']], undefined],
    ['a pair without a value', [['X-Nonce']] as unknown as HeadersLike, ''],
    ['a pair without anything', [[], ['X-Nonce', 'n']] as unknown as HeadersLike, 'n'],
    ['a flat list', ['X-Nonce', 'n'], 'n'],
    ['a flat list in which a value is the name', ['Vary', 'X-Nonce', 'X-Nonce', 'n'], 'n'],
    ['a flat list without its last value', ['Vary', 'x', 'X-Nonce'], ''],
  ])('are read from %s', (_, given, value) => {
    expect(headerOf(given, 'x-nonce')).toBe(value);
  });

  test('undefined headers count as missing', () => {
    expect(verify({ headers: {} })).toEqual(refused('missing_header'));
    expect(verify({ headers: [] })).toEqual(refused('missing_header'));
    expect(verify({ headers: new Headers() })).toEqual(refused('missing_header'));
  });
});

describe('what is signed', () => {
  test('is a body of text or of the same bytes', () => {
    expect(verify({ body: new TextEncoder().encode(CALL.body) })).toEqual({ ok: true });
    expect(verify({ body: Buffer.from(CALL.body) })).toEqual({ ok: true });
  });

  test('is bytes that are not text', () => {
    const body = new Uint8Array([0, 255, 254, 10]);
    expect(verify({ body, headers: headersOf({ body }) })).toEqual({ ok: true });
    expect(verify({ body: Buffer.from(body).toString(), headers: headersOf({ body }) }).ok).toBe(false);
  });

  test('is not a parsed body', () => {
    for (const body of [{ a: 'ü' }, undefined, null, 1]) {
      expect(verify({ body: body as unknown as string })).toEqual(refused('signature_mismatch'));
    }
  });

  test.each([
    { path: '/rgs/v1/game/free-spins/grant' },
    { method: 'PUT' },
    { body: '{"a": "ü"}' },
    { secret: 'other' },
  ])('is not %j', (change) => expect(verify(change)).toEqual(refused('signature_mismatch')));

  test('is the method in upper case', () => {
    expect(verify({ method: 'post' })).toEqual({ ok: true });
  });
});

describe('secrets', () => {
  const without = { secret: undefined } as unknown as { secret: string };
  test('may be several: one of them has to match', () => {
    expect(verify({ ...without, secrets: ['new', SIGNED.secret] })).toEqual({ ok: true });
    expect(verify({ secret: 'new', secrets: [SIGNED.secret] })).toEqual({ ok: true });
    expect(verify({ ...without, secrets: ['new', 'old'] })).toEqual(refused('signature_mismatch'));
  });

  test('that are empty admit no call', () => {
    const signature = uncheckedSignature('', { ...CALL, timestamp: String(NOW), nonce: SIGNED.nonce });
    const headers = { ...headersOf(), 'X-Signature': signature };
    for (const given of [
      { secret: '' },
      { ...without, secrets: [''] },
      { ...without, secrets: [] },
      without,
    ]) {
      expect(verify({ headers, ...given })).toEqual(refused('signature_mismatch'));
    }
  });
});

describe('what is no key', () => {
  const bytes = (text: string) => new TextEncoder().encode(text) as unknown as string;
  const NO_KEYS: [string, unknown][] = [
    ['an empty text', ''],
    ['spaces', '  '],
    ['a tab and a line feed', '\t\n'],
    ['a no-break space', '\u00a0'],
    ['a byte order mark', '\ufeff'],
    ['a zero-width space', '\u200b'],
    ['a Hangul filler', '\u3164'],
    ['empty Braille patterns', '\u2800\u2800'],
    ['NUL, which HMAC pads every key with', '\0\0'],
    ['no bytes', new Uint8Array()],
    ['an empty Buffer', Buffer.alloc(0)],
    ['bytes of spaces', bytes('  ')],
    ['bytes of NUL', new Uint8Array(32)],
    ['an empty ArrayBuffer', new ArrayBuffer(0)],
    ['an empty DataView', new DataView(new ArrayBuffer(0))],
    ['null', null],
    ['nothing', undefined],
  ];
  /** The headers of a stranger who signs with this key. */
  const strangers = (key: unknown) => {
    const signed = { ...CALL, timestamp: String(NOW), nonce: SIGNED.nonce };
    const isBinary = ArrayBuffer.isView(key) || key instanceof ArrayBuffer;
    const signature = uncheckedSignature(isBinary || typeof key === 'string' ? (key as string) : '', signed);
    return { ...headersOf(), 'X-Signature': signature };
  };

  test.each(NO_KEYS)('%s signs nothing', (_, key) => {
    const parts = { ...CALL, timestamp: String(NOW), nonce: SIGNED.nonce };
    expect(() => signatureOf(key as string, parts)).toThrow('secret is empty or blank');
  });

  test.each(NO_KEYS)('%s admits no call', (_, key) => {
    const secret = key as string;
    const headers = strangers(key);
    for (const given of [
      { secret },
      { secret: undefined, secrets: [secret] },
      { secret, secrets: [secret, secret] },
      { secret: SIGNED.secret, secrets: [secret] },
    ]) {
      expect(verify({ headers, ...given })).toEqual(refused('signature_mismatch'));
    }
  });

  test.each(NO_KEYS)('%s is ignored beside a good one', (_, key) => {
    const secret = key as string;
    expect(verify({ secret: undefined, secrets: [secret, SIGNED.secret] })).toEqual({ ok: true });
    expect(verify({ secrets: [secret] })).toEqual({ ok: true });
    expect(verify({ secret, secrets: [SIGNED.secret] })).toEqual({ ok: true });
  });

  test.each(NO_KEYS)('%s signs nothing, for a request or for a client', (_, key) => {
    const secret = key as string;
    expect(() => headersOf({ secret })).toThrow(TypeError);
    const client = () => new ProviderClient({ baseUrl: 'https://platform.example', tenantId: 't', secret });
    expect(client).toThrow(/^secret must be the secret as it was shown at creation/);
  });

  test('a good key may be bytes', () => {
    expect(verify({ secret: bytes(SIGNED.secret) })).toEqual({ ok: true });
  });

  test.each([' a', 'a ', '\u3164a', 'a\0', '\0a'])('one visible character makes a key: %j', (key) => {
    expect([isKey(key), isKey(new TextEncoder().encode(key))]).toEqual([true, true]);
  });
});

test('a plain string of secrets is not a list of one-letter secrets', () => {
  const { secret: _, ...unsigned } = SIGNED;
  const headers = headersOf({ secret: 'a' });
  const secrets = 'abc' as unknown as string[];
  expect(verifyPlatformSignature({ ...unsigned, headers, secrets })).toEqual(refused('signature_mismatch'));
});

test.each([
  [{ now: NOW * 1000 }, 'seconds: divide milliseconds by 1000'],
  [{ now: undefined }, /seconds$/],
  [{ now: Number.NaN }, 'seconds'],
  [{ now: -1 }, 'seconds'],
  [{ now: 100_000_000_000 }, 'seconds'],
  [{ now: String(NOW) }, 'seconds'],
  [{ tenantId: 'spinwell\n' }, 'tenantId'],
  [{ tenantId: 'spin:well' }, 'tenantId'],
  [{ tenantId: undefined }, 'tenantId'],
  [{ nonce: 'short-1' }, 'nonce'],
  [{ nonce: 'n'.repeat(129) }, 'nonce'],
  [{ nonce: 'nonce 0001' }, 'nonce'],
  [{ nonce: 'nonce-0001\n' }, 'nonce'],
  [{ nonce: undefined }, 'nonce'],
  [{ path: 'v1/wallet/balance' }, 'path must be the request target'],
  [{ path: 'https://platform.example/v1/wallet/balance' }, 'path must be the request target'],
  [{ path: undefined }, 'path must be the request target'],
  [{ body: { a: 'ü' } }, 'body must be the text or bytes'],
  [{ body: undefined }, 'body must be the text or bytes'],
  [{ body: new ArrayBuffer(2) }, 'body must be the text or bytes'],
  [{ secret: '' }, 'secret must be the secret as it was shown at creation, but is empty'],
  [{ secret: '  ' }, 'secret must be the secret as it was shown at creation, but is empty'],
  [{ secret: undefined }, 'secret must be the secret as it was shown at creation, but is no text'],
  [
    { secret: Buffer.from('ses¢ret') },
    'secret must be the secret as it was shown at creation, but is no text',
  ],
  [{ secret: 'ses¢ret\n' }, 'whitespace'],
  [{ secret: ' ses¢ret' }, 'secret has whitespace at its beginning or end'],
])('%j is not signed, and the error says why without the secret', (changes, sentence) => {
  expect(() => headersOf(changes)).toThrow(TypeError);
  expect(() => headersOf(changes)).toThrow(sentence);
  expect(() => headersOf(changes)).not.toThrow('ses¢ret');
});

test.each([
  [0, '0'],
  [NOW + 0.9, String(NOW)],
  [99_999_999_999, '99999999999'],
])('the time %d is signed as %s', (now, timestamp) => {
  expect(headersOf({ now })['X-Timestamp']).toBe(timestamp);
});

test.each([
  [{ now: NOW + 300 }, { ok: true }],
  [{ now: NOW - 300 }, { ok: true }],
  [{ now: NOW + 300.9 }, { ok: true }],
  [{ now: NOW + 301 }, refused('timestamp_expired')],
  [{ now: NOW - 301 }, refused('timestamp_in_future')],
  [{ now: NOW + 5, toleranceSeconds: 5 }, { ok: true }],
  [{ now: NOW + 6, toleranceSeconds: 5 }, refused('timestamp_expired')],
  [{ now: NOW * 1000 }, refused('timestamp_expired')],
  [{ now: Number.NaN }, refused('timestamp_expired')],
  [{ toleranceSeconds: Number.NaN }, refused('timestamp_expired')],
  [{ tenantId: 'Spinwell' }, refused('tenant_mismatch')],
])('%j is answered %j', (change, expected) => {
  expect(verify(change)).toEqual(expected);
});

test('without a time it is the wall clock’s', () => {
  const now = Date.now() / 1000;
  const { now: _now, ...timeless } = { headers: headersOf({ now }), ...SIGNED };
  expect(verifyPlatformSignature(timeless)).toEqual({ ok: true });
});

describe('whatever is given', () => {
  const ANSWER = expect.objectContaining({ ok: expect.any(Boolean) as boolean }) as object;

  test('it returns a result and does not throw', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(anything, (input) => {
        expect(verifyPlatformSignature(input as VerifyInput)).toEqual(ANSWER);
      }),
    );
    const record = fc.record({
      method: anything,
      path: anything,
      headers: anything,
      body: anything,
      secret: anything,
      secrets: anything,
      tenantId: anything,
      now: anything,
      toleranceSeconds: anything,
    });
    fc.assert(
      fc.property(record, (changes) => {
        expect(verifyPlatformSignature(changes as VerifyInput)).toEqual(ANSWER);
        expect(verify(changes as VerifyInput)).toEqual(ANSWER);
      }),
    );
  });

  test('of hostile objects too', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
        has: () => {
          throw new Error('no');
        },
      },
    );
    expect(verifyPlatformSignature(hostile as VerifyInput)).toEqual(refused('malformed_header'));
    expect(verify({ headers: hostile })).toEqual(refused('malformed_header'));
    expect(verifyPlatformSignature(undefined as unknown as VerifyInput)).toEqual(refused('malformed_header'));
  });

  const call = fc.record({
    method: fc.constantFrom('GET', 'POST', 'put'),
    path: fc.webPath().map((path) => `/${path}`),
    body: fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 300 })),
    tenantId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
    secret: fc
      .string({ minLength: 1, unit: 'grapheme' })
      .filter((secret) => secret !== '' && secret === secret.trim()),
    nonce: fc.stringMatching(/^[A-Za-z0-9\-_.:]{8,128}$/),
    now: fc.integer({ min: 0, max: 99_999_999_999 }),
  });

  test('a signed request verifies', () => {
    fc.assert(
      fc.property(call, (signed) => {
        expect(verifyPlatformSignature({ ...signed, headers: signRequest(signed) })).toEqual({ ok: true });
      }),
    );
  });

  test('a request changed by one byte does not', () => {
    fc.assert(
      fc.property(call, fc.nat(), fc.integer({ min: 1, max: 255 }), (signed, at, flip) => {
        const body = Buffer.from(typeof signed.body === 'string' ? signed.body : [...signed.body]);
        const changed = body.length === 0 ? Buffer.from([flip]) : Buffer.from(body);
        if (body.length > 0) changed[at % body.length]! ^= flip;
        const headers = signRequest({ ...signed, body });
        expect(verifyPlatformSignature({ ...signed, body: changed, headers })).toEqual(
          refused('signature_mismatch'),
        );
      }),
    );
  });
});
