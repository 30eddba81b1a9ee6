import { createHmac } from 'node:crypto';
import { type RejectionReason, verifyPlatformSignature, type Verification } from '../../src/index.js';
import { signatureOf } from '../../src/signature.js';

/** One signed request, and the expected verdict of its receiver, `tenantId`. An empty header counts as missing. */
export interface TestVector {
  name: string;
  method: string;
  path: string;
  timestamp: string;
  nonce: string;
  tenantId: string;
  /** The body's text; its UTF-8 bytes are what is sent. */
  body: string;
  secret: string;
  signature: string;
  /** Unix time in seconds, at which it is judged with a tolerance of 300 seconds. */
  now: number;
  expected: Verification;
}

const NOW = 1_800_000_000;
const GRANT = '/v1/game/free-spins/grant';
const GRANT_BODY =
  '{"requestRef":"fs-1","playerRef":"player-42","gameId":"golden-reels","spins":10,"betAmountMinor":20,"currency":"EUR"}';
const SECRET = 'dGhlIHNlY3JldCBpcyBpdHMgdGV4dA';

type Fields = Partial<Omit<TestVector, 'name' | 'expected'>>;

/** A correctly signed request. */
function signed(name: string, fields: Fields = {}): TestVector {
  const call = {
    method: 'POST',
    path: GRANT,
    timestamp: String(NOW),
    nonce: 'b3f1c2d4e5f60718293a4b5c6d7e8f90',
    tenantId: 'spinwell',
    body: GRANT_BODY,
    secret: SECRET,
    now: NOW,
    ...fields,
  };
  const signature = signatureOf(call.secret, call);
  return { name, ...call, signature, expected: { ok: true } };
}

/** A correctly signed request that was changed afterwards. */
function refused(reason: RejectionReason, name: string, changes: Fields, before: Fields = {}): TestVector {
  return { ...signed(name, before), ...changes, expected: { ok: false, reason } };
}

/** The signature of a mistaken signer: over other bytes, with another key, or in another spelling. */
function mistaken(name: string, make: (right: TestVector) => string): TestVector {
  const right = signed(name);
  return { ...right, signature: make(right), expected: { ok: false, reason: 'signature_mismatch' } };
}

const hmac = (key: string | Buffer, text: string, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(text).digest('hex');
const canonical = ({ method, path, timestamp, nonce, body }: TestVector, separator = '\n') =>
  [method, path, timestamp, nonce, body].join(separator);

/** Every vector of `test-vectors.json`, the same each time. */
export function testVectors(): TestVector[] {
  const vectors = [...accepted(), ...missing(), ...malformed(), ...outOfTime(), ...changed(), ...mistakes()];
  for (const vector of vectors) assertVerified(vector);
  return vectors;
}

function accepted(): TestVector[] {
  return [
    signed('a grant'),
    signed('empty body', { body: '' }),
    signed('empty body of a GET', { method: 'GET', path: '/v1/anything', body: '' }),
    signed('method in lower case, signed in upper case', { method: 'post' }),
    signed('method PUT', { method: 'PUT' }),
    signed('query string', { path: `${GRANT}?trace=1&x=a%20b` }),
    signed('query string that is empty', { path: `${GRANT}?` }),
    signed('query string with a question mark and a newline that is escaped', { path: `${GRANT}?a=?&b=%0A` }),
    signed('base path', { path: `/rgs/eu-1${GRANT}` }),
    signed('path with escaped characters, not decoded', { path: `/r%67s/%C3%BC${GRANT}` }),
    signed('path with double slashes and dots, not normalised', { path: `//rgs/../rgs${GRANT}` }),
    signed('unicode in the body', { body: '{"name":"Zoë Ωμέγα 日本語 🎰"}' }),
    signed('unicode that is not normalised: e and an accent', { body: '{"name":"Zoe\u0308"}' }),
    signed('escaped JSON', { body: '{"name":"Zo\\u00eb \\ud83c\\udfb0 \\"\\\\\\/ \\n\\t"}' }),
    signed('characters that some encoders escape', { body: '{"html":"<a href=\'x\'>&</a>/\u2028\u007f"}' }),
    signed('big numbers', { body: '{"a":9007199254740993,"b":18446744073709551616,"c":-0,"d":1e400}' }),
    signed('numbers of one value and several spellings', { body: '{"a":1.0,"b":1e2,"c":0.10,"d":100}' }),
    signed('CRLF between the lines', { body: '{\r\n  "a": 1\r\n}' }),
    signed('CRLF at the end', { body: '{"a":1}\r\n' }),
    signed('newline at the end', { body: '{"a":1}\n' }),
    signed('newline alone', { body: '\n' }),
    signed('spaces around', { body: '  {"a" : 1 }\t' }),
    signed('byte order mark', { body: '\ufeff{"a":1}' }),
    signed('NUL in the body', { body: 'a\u0000b' }),
    signed('keys in no order, one of them twice', { body: '{"b":1,"a":2,"b":3}' }),
    signed('body that is no JSON', { body: 'a=1&b=%20+' }),
    signed('body that looks like another canonical string', {
      body: `POST\n${GRANT}\n${NOW}\nnonce-0001\n{}`,
    }),
    signed('long body', { body: `{"text":"${'0123456789abcdef'.repeat(512)}"}` }),
    signed('secret with unicode', { secret: 'pässwörd-🔑' }),
    signed('secret that looks like hex: its text is the key', { secret: '00112233445566778899aabbccddeeff' }),
    signed('secret that looks like base64: its text is the key', { secret: 'c2VjcmV0LXNlY3JldC1zZWNyZXQ=' }),
    signed('secret with spaces around', { secret: ' secret ' }),
    signed('secret of more than a block', { secret: 'k'.repeat(100) }),
    signed('shortest nonce', { nonce: 'abcDEF09' }),
    signed('longest nonce', { nonce: 'n'.repeat(128) }),
    signed('every sign a nonce may have', { nonce: 'a-b_c.d:e' }),
    signed('nonce that is a UUID', { nonce: '3f2b8c1e-9d47-4a6b-8e21-0c5d7f9a1b2c' }),
    signed('tenant with every sign', { tenantId: 'Spin.Well_1-eu' }),
    signed('oldest timestamp', { timestamp: String(NOW - 300) }),
    signed('latest timestamp', { timestamp: String(NOW + 300) }),
    signed('timestamp of few digits', { timestamp: '86400', now: 86_500 }),
  ];
}

function missing(): TestVector[] {
  return [
    refused('missing_header', 'no tenant', { tenantId: '' }),
    refused('missing_header', 'no timestamp', { timestamp: '' }),
    refused('missing_header', 'no nonce', { nonce: '' }),
    refused('missing_header', 'no signature', { signature: '' }),
    refused('missing_header', 'nothing at all', { tenantId: '', timestamp: '', nonce: '', signature: '' }),
  ];
}

function malformed(): TestVector[] {
  const right = signed('').signature;
  const headers: [string, Fields][] = [
    ['timestamp in milliseconds', { timestamp: `${NOW}000` }],
    ['timestamp with a fraction', { timestamp: `${NOW}.5` }],
    ['timestamp with a sign', { timestamp: `+${NOW}` }],
    ['timestamp that is negative', { timestamp: '-1' }],
    ['timestamp in ISO 8601', { timestamp: '2027-01-15T08:00:00Z' }],
    ['timestamp in other digits', { timestamp: '١٨٠٠٠٠٠٠٠٠' }],
    ['timestamp with a newline', { timestamp: `${NOW}\n` }],
    ['nonce that is too short', { nonce: 'abcdefg' }],
    ['nonce that is too long', { nonce: 'n'.repeat(129) }],
    ['nonce with another sign', { nonce: 'abc/def+ghi=' }],
    ['nonce with a newline inside', { nonce: 'abcd\nefgh' }],
    ['nonce with a newline at its end', { nonce: 'abcdefgh\n' }],
    ['nonce with letters of another alphabet', { nonce: 'nönce-0001' }],
    ['signature in upper case', { signature: right.toUpperCase() }],
    ['signature that is too short', { signature: right.slice(1) }],
    ['signature that is too long', { signature: `${right}0` }],
    ['signature in base64', { signature: Buffer.from(right, 'hex').toString('base64') }],
    ['signature with a prefix', { signature: `sha256=${right}` }],
  ];
  return headers.map(([name, fields]) => refused('malformed_header', name, fields));
}

function outOfTime(): TestVector[] {
  return [
    refused('timestamp_expired', 'a second too old', {}, { timestamp: String(NOW - 301) }),
    refused('timestamp_expired', 'a day too old', {}, { timestamp: String(NOW - 86_400) }),
    refused('timestamp_expired', 'the beginning of time', {}, { timestamp: '0' }),
    refused('timestamp_in_future', 'a second too early', {}, { timestamp: String(NOW + 301) }),
    refused('timestamp_in_future', 'twelve digits', {}, { timestamp: '999999999999' }),
    refused(
      'timestamp_expired',
      'too old, and with a wrong key',
      { secret: 'other' },
      { timestamp: '1700000000' },
    ),
  ];
}

function changed(): TestVector[] {
  const spaced = GRANT_BODY.replaceAll(':', ': ').replaceAll(',', ', ');
  const changes: [string, Fields][] = [
    ['another body', { body: GRANT_BODY.replace('"spins":10', '"spins":11') }],
    ['body with a newline added', { body: `${GRANT_BODY}\n` }],
    ['body serialised anew with spaces', { body: spaced }],
    [
      'body with its keys sorted',
      { body: JSON.stringify(JSON.parse(GRANT_BODY), Object.keys(JSON.parse(GRANT_BODY) as object).sort()) },
    ],
    ['body lost', { body: '' }],
    ['another path', { path: '/v1/game/free-spins/cancel' }],
    ['query added', { path: `${GRANT}?spins=11` }],
    ['base path lost', { path: GRANT.slice(3) }],
    ['slash added', { path: `${GRANT}/` }],
    ['another method', { method: 'PUT' }],
    ['another nonce', { nonce: 'b3f1c2d4e5f60718293a4b5c6d7e8f91' }],
    ['another timestamp', { timestamp: String(NOW + 1) }],
    ['a zero in front of the timestamp', { timestamp: `0${NOW}` }],
    ['another secret', { secret: `${SECRET}=` }],
    ['secret with a newline', { secret: `${SECRET}\n` }],
  ];
  return changes.map(([name, fields]) => refused('signature_mismatch', name, fields));
}

function mistakes(): TestVector[] {
  return [
    mistaken('signed with CRLF between the parts', (call) => hmac(call.secret, canonical(call, '\r\n'))),
    mistaken('signed with nothing between the parts', (call) => hmac(call.secret, canonical(call, ''))),
    mistaken('signed with a newline at the end', (call) => hmac(call.secret, `${canonical(call)}\n`)),
    mistaken('signed with the method in lower case', (call) =>
      hmac(call.secret, canonical({ ...call, method: 'post' })),
    ),
    mistaken('signed with the secret as base64', (call) =>
      hmac(Buffer.from(call.secret, 'base64'), canonical(call)),
    ),
    mistaken('signed with the whole address', (call) =>
      hmac(call.secret, canonical({ ...call, path: `https://rgs.spinwell.example${call.path}` })),
    ),
    mistaken('signed with half of SHA-512', (call) =>
      hmac(call.secret, canonical(call), 'sha512').slice(0, 64),
    ),
  ];
}

/** A vector that contradicts the code must not be written. */
function assertVerified({ expected, name, ...call }: TestVector): void {
  const said = judge(call);
  if (JSON.stringify(said) !== JSON.stringify(expected)) {
    throw new Error(`${name}: expected ${JSON.stringify(expected)}, the code says ${JSON.stringify(said)}`);
  }
}

/** The SDK's verdict on a vector. */
export function judge(call: Omit<TestVector, 'name' | 'expected'>): Verification {
  const { method, path, body, secret, tenantId, now } = call;
  const headers = {
    'X-Tenant-ID': call.tenantId,
    'X-Timestamp': call.timestamp,
    'X-Nonce': call.nonce,
    'X-Signature': call.signature,
  };
  return verifyPlatformSignature({ method, path, headers, body, secret, tenantId, now });
}
