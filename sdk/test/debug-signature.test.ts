import { createHash, createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { command } from './support/command.js';

const NOW = 1_800_000_000;
const SECRET = 'dGhlIHNlY3JldA';
const PATH = '/rgs/v1/game/free-spins/grant?trace=1';
const BODY = '{"b":"Zoë/1","a":[1,2]}';
const NONCE = 'nonce-0001';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => (folder = await temporaryFolder()));
afterAll(() => folder.remove());

interface Sent {
  body?: string | Buffer;
  headers?: Record<string, string>;
  path?: string;
  secret?: string;
  options?: string[];
}

let files = 0;
async function debug(
  signature: string,
  { body = BODY, headers = {}, path = PATH, secret = SECRET, options = [] }: Sent = {},
) {
  const file = join(folder.path, `body-${(files += 1)}`);
  await writeFile(file, body);
  const sent = {
    Host: 'rgs.example',
    'X-Tenant-ID': 'spinwell',
    'X-Timestamp': String(NOW),
    'X-Nonce': NONCE,
    'X-Signature': signature,
    ...headers,
  };
  const args = Object.entries(sent).flatMap(([name, value]) =>
    value === '' ? [] : ['--header', `${name}: ${value}`],
  );
  return command(
    ['debug-signature', '--path', path, '--body-file', file, '--tenant', 'spinwell', ...args, ...options],
    {
      secret,
      now: () => NOW * 1000,
    },
  );
}

const hmac = (text: string | Buffer, key: string | Buffer = SECRET, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(text).digest();
const canonical = (
  parts: { method?: string; path?: string; timestamp?: string; nonce?: string; body?: string } = {},
  separator = '\n',
) =>
  [
    parts.method ?? 'POST',
    parts.path ?? PATH,
    parts.timestamp ?? NOW,
    parts.nonce ?? NONCE,
    parts.body ?? BODY,
  ].join(separator);
const hex = (...args: Parameters<typeof hmac>) => hmac(...args).toString('hex');

test('a signature that holds is shown with what was signed', async () => {
  const { status, printed } = await debug(hex(canonical({ body: 'a\tb\r\n' })), { body: 'a\tb\r\n' });
  expect(printed).toContain(`  POST␊\n  ${PATH}␊\n  ${NOW}␊\n  ${NONCE}␊\n  a␉b␍␊\n`);
  expect(printed).toContain('the signature holds');
  expect(printed).not.toContain('Likely cause');
  expect(status).toBe(0);
});

describe('the likely cause', () => {
  const value = JSON.parse(BODY) as object;
  test.each<[string, Buffer, string?]>([
    [
      'the body was serialised anew',
      hmac(canonical({ body: JSON.stringify(value, null, 2) })),
      'body, byte 1',
    ],
    [
      'the body was serialised anew',
      hmac(canonical({ body: '{"b": "Zo\\u00eb/1", "a": [1, 2]}' })),
      'body, byte 5',
    ],
    ['the body was serialised anew', hmac(canonical({ body: '{"a":[1,2],"b":"Zoë\\/1"}' })), 'body, byte 2'],
    [
      'a newline was signed after the body and not sent',
      hmac(canonical({ body: `${BODY}\n` })),
      'body, byte 24',
    ],
    ['an empty body was signed', hmac(canonical({ body: '' })), 'body, byte 0'],
    ['a digest of the body', hmac(canonical({ body: createHash('sha256').update(BODY).digest('hex') }))],
    ['the body was signed in Latin-1', hmac(Buffer.from(canonical(), 'latin1'))],
    [
      'the query string was not signed',
      hmac(canonical({ path: '/rgs/v1/game/free-spins/grant' })),
      'path, byte 29',
    ],
    [
      'the base path was not signed',
      hmac(canonical({ path: '/v1/game/free-spins/grant?trace=1' })),
      'path, byte 1',
    ],
    ['neither the base path nor the query', hmac(canonical({ path: '/v1/game/free-spins/grant' }))],
    ['the whole address was signed', hmac(canonical({ path: `https://rgs.example${PATH}` })), 'path, byte 0'],
    ['the method was signed in lower case', hmac(canonical({ method: 'post' })), 'method, byte 0'],
    ['another method was signed', hmac(canonical({ method: 'GET' }))],
    [
      'the timestamp was signed in milliseconds',
      hmac(canonical({ timestamp: `${NOW}000` })),
      'timestamp, byte 10',
    ],
    ['the nonce was not signed', hmac(['POST', PATH, NOW, BODY].join('\n'))],
    ['joined with CRLF', hmac(canonical({}, '\r\n'))],
    ['joined with nothing', hmac(canonical({}, ''))],
    ['a backslash and an n', hmac(canonical({}, '\\n'))],
    ['the body alone was signed', hmac(BODY)],
    ['decoded as base64', hmac(canonical(), Buffer.from(SECRET, 'base64'))],
    ['a newline at its end', hmac(canonical(), `${SECRET}\n`)],
    ['SHA-512', hmac(canonical(), SECRET, 'sha512')],
  ])('%s', async (cause, signature, place) => {
    const { status, printed } = await debug(signature.toString('hex'));
    expect(printed).toContain(cause);
    if (place !== undefined) expect(printed).toContain(`(${place})`);
    expect(status).toBe(1);
  });

  test('is two mistakes at once', async () => {
    const { printed } = await debug(
      hex(canonical({ path: '/rgs/v1/game/free-spins/grant', body: `${BODY}\n` })),
    );
    expect(printed).toContain('the query string was not signed');
    expect(printed).toContain('a newline was signed after the body and not sent');
  });

  test('is the spelling of a signature that is right otherwise', async () => {
    const right = hmac(canonical());
    expect((await debug(right.toString('hex').toUpperCase())).printed).toContain('upper case');
    expect((await debug(right.toString('base64'))).printed).toContain('not base64');
    expect((await debug(`sha256=${right.toString('hex')}`)).printed).toContain('without a prefix');
  });

  test('is a base64 signature over a wrong path: both are told', async () => {
    const { printed } = await debug(
      hmac(canonical({ path: '/v1/game/free-spins/grant?trace=1' })).toString('base64'),
    );
    expect(printed).toContain('not base64');
    expect(printed).toContain('the base path was not signed');
  });

  test('is a header that is missing', async () => {
    const { printed } = await debug(hex(canonical()), { headers: { 'X-Nonce': '', 'X-Tenant-ID': '' } });
    expect(printed).toContain('X-Tenant-ID, X-Nonce are missing');
  });

  test('is another tenant', async () => {
    const { printed } = await debug(hex(canonical()), { headers: { 'X-Tenant-ID': 'croupier' } });
    expect(printed).toContain('X-Tenant-ID is "croupier", and the receiver is "spinwell"');
  });

  test.each([
    [{ 'X-Timestamp': `${NOW}000` }, 'X-Timestamp is in milliseconds'],
    [{ 'X-Timestamp': '2027-01-15' }, 'decimal digits alone'],
    [{ 'X-Nonce': 'short' }, 'X-Nonce must have 8 to 128'],
    [{ 'X-Timestamp': String(NOW - 301) }, 'X-Timestamp is 301 s behind, and 300 s are allowed'],
    [
      { 'X-Timestamp': String(NOW + 7200) },
      'X-Timestamp is 7200 s ahead, and 300 s are allowed, a time zone perhaps',
    ],
  ])('is in the header %j', async (headers, cause) => {
    const { 'X-Timestamp': timestamp, 'X-Nonce': nonce } = headers as Record<string, string>;
    const signed = canonical({ ...(timestamp && { timestamp }), ...(nonce && { nonce }) });
    const { status, printed } = await debug(hex(signed), { headers });
    expect(printed).toContain(cause);
    expect(printed).not.toContain('no mistake that is known');
    expect(status).toBe(1);
  });

  test('is not known, and then told what helps', async () => {
    const { printed } = await debug(hex(canonical(), 'another secret'));
    expect(printed).toContain('signature_mismatch');
    expect(printed).toContain('--signed-file');
  });
});

describe('the bytes that were signed', () => {
  const signedFile = async (bytes: string) => {
    const file = join(folder.path, 'signed');
    await writeFile(file, bytes);
    return ['--signed-file', file];
  };

  test('are compared: the first that differs is shown', async () => {
    const options = await signedFile(canonical({ body: BODY.replace('Zoë', 'Zoe') }));
    const { printed } = await debug(hex('whatever'), { options });
    expect(printed).toContain('(body, byte 8)');
    expect(printed).toContain('right   0xc3');
    expect(printed).toContain('signed  0x65 e/1"');
  });

  test('are the right ones: then it is the key', async () => {
    const { printed } = await debug(hex(canonical(), 'another secret'), {
      options: await signedFile(canonical()),
    });
    expect(printed).toContain('the right bytes were signed with another key');
  });

  test('end too soon', async () => {
    const { printed } = await debug(hex('whatever'), { options: await signedFile(canonical({ body: '' })) });
    expect(printed).toContain('signed  (the end)');
  });
});

test('a body that is no text is shown by its bytes', async () => {
  const { printed } = await debug('', { body: Buffer.from([0x41, 0xff, 0x0a]) });
  expect(printed).toContain('A⟨ff⟩␊');
});

test('headers may come in a file, as curl prints them', async () => {
  const file = join(folder.path, 'headers');
  const lines = [
    'POST /x HTTP/1.1',
    '> x-tenant-id: spinwell',
    `> x-timestamp: ${NOW}`,
    `> x-nonce: ${NONCE}`,
  ];
  await writeFile(file, [...lines, `> x-signature: ${hex(canonical({ body: '' }))}`, '> '].join('\r\n'));
  const args = ['debug-signature', '--path', PATH, '--headers-file', file, '--now', String(NOW)];
  expect(await command(args, { secret: SECRET })).toMatchObject({ status: 0 });
});

test.each([
  [['debug-signature'], '--path is missing'],
  [['debug-signature', '--path', '/', '--body-file', '/nowhere'], '/nowhere cannot be read'],
  [['debug-signature', '--path', '/', '--now', 'x'], '--now must be a whole number'],
  [['debug'], 'There is no command "debug"'],
  [[], 'croupier-provider COMMAND'],
])('%j cannot be carried out', async (args, sentence) => {
  const { status, complained } = await command(args, { secret: SECRET });
  expect(complained).toContain(sentence);
  expect(status).toBe(2);
});

test.each([
  [['--help'], 'COMMAND [options]'],
  [['debug-signature', '-h'], '--signed-file'],
  [['help'], 'certify'],
])('%j tells how it is used', async (args, sentence) => {
  const { status, printed } = await command(args);
  expect(printed).toContain(sentence);
  expect(status).toBe(0);
});
