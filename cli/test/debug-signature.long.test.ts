import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { command } from './support/command.js';

const NOW = 1_800_000_000;
/** When the command runs, by default: long after the request, so that its signature is no longer accepted. */
const LATER = NOW + 86_400;
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
  /** When the command runs, in Unix seconds. */
  ranAt?: number;
  usedMs?: () => number;
  progress?: (line: string) => void;
}

let files = 0;
async function debug(
  signature: string,
  {
    body = BODY,
    headers = {},
    path = PATH,
    secret = SECRET,
    options = [],
    ranAt = LATER,
    ...terminal
  }: Sent = {},
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
    ['debug-signature', '--path', path, '--body-file', file, '--tenant', 'spinwell'].concat(
      args,
      ['--now', String(NOW)],
      options,
    ),
    { secret, now: () => ranAt * 1000, ...terminal },
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

test('a valid signature is shown with the signed text, and with other reasons for a refusal', async () => {
  const { status, printed } = await debug(hex(canonical({ body: 'a\tb\r\n' })), { body: 'a\tb\r\n' });
  expect(printed).toContain(`  POST␊\n  ${PATH}␊\n  ${NOW}␊\n  ${NONCE}␊\n  a␉b␍␊\n`);
  expect(printed).toContain('the signature is valid');
  expect(printed).toContain('nonce was used before');
  expect(printed).toContain('the tenant is disabled');
  expect(printed).toContain('the secret was rotated');
  expect(printed).not.toContain('Cause');
  expect(status).toBe(0);
});

describe('the cause', () => {
  const value = JSON.parse(BODY) as object;
  // debug-signature.table.long.test.ts covers every kind of mistake. This test covers what a report shows.
  test.each<[string, Buffer, string?]>([
    ['body-whitespace: ', hmac(canonical({ body: JSON.stringify(value, null, 2) })), 'body, byte 1'],
    ['body-key-order: ', hmac(canonical({ body: '{"a":[1,2],"b":"Zoë/1"}' })), 'body, byte 2'],
    ['newline-at-end: ', hmac(canonical({ body: `${BODY}\n` })), 'body, byte 24'],
    ['body-empty: ', hmac(canonical({ body: '' })), 'body, byte 0'],
    [
      'path-query-missing: The query string was not signed.',
      hmac(canonical({ path: '/rgs/v1/game/free-spins/grant' })),
      'path, byte 29',
    ],
    ['path-host: ', hmac(canonical({ path: `https://rgs.example${PATH}` })), 'path, byte 0'],
    ['method-case: ', hmac(canonical({ method: 'post' })), 'method, byte 0'],
    ['timestamp-milliseconds: ', hmac(canonical({ timestamp: `${NOW}000` })), 'timestamp, byte 10'],
    ['key-whitespace: ', hmac(canonical(), `${SECRET}\n`)],
  ])('%s', async (cause, signature, place) => {
    const { status, printed } = await debug(signature.toString('hex'));
    expect(printed).toContain(`  ${cause}`);
    if (place !== undefined) expect(printed).toContain(`(${place})`);
    expect(status).toBe(1);
  });

  test('may be two mistakes at once', async () => {
    const { printed } = await debug(
      hex(canonical({ path: '/rgs/v1/game/free-spins/grant', body: `${BODY}\n` })),
    );
    expect(printed).toContain('path-query-missing: ');
    expect(printed).toContain('newline-at-end: ');
  });

  test('may be in a header and in what was signed', async () => {
    const { printed } = await debug(
      hmac(canonical({ path: '/v1/game/free-spins/grant?trace=1' })).toString('base64'),
    );
    expect(printed).toContain('signature-base64: ');
    expect(printed).toContain('path-base-missing: ');
  });

  test.each<[string, Record<string, string>, string]>([
    ['header-missing', { 'X-Nonce': '', 'X-Tenant-ID': '' }, 'X-Tenant-ID, X-Nonce are missing'],
    ['header-missing', { 'X-Nonce': '', 'X-Croupier-Nonce': NONCE }, 'under another name: X-Croupier-Nonce'],
    ['tenant-mismatch', { 'X-Tenant-ID': 'croupier' }, '"croupier", and the receiver expects "spinwell"'],
    ['timestamp-not-in-seconds', { 'X-Timestamp': `${NOW}000` }, 'in milliseconds'],
    ['timestamp-malformed', { 'X-Timestamp': '2027-01-15' }, 'as decimal digits only'],
    ['nonce-malformed', { 'X-Nonce': 'short' }, 'X-Nonce has 5 characters'],
    ['clock-behind', { 'X-Timestamp': String(NOW - 301) }, '301 s behind, and 300 s are allowed'],
    ['clock-time-zone', { 'X-Timestamp': String(NOW + 7200) }, '7200 s ahead, and 300 s are allowed'],
  ])('%s is found in the headers %j', async (code, headers, sentence) => {
    const { 'X-Timestamp': timestamp, 'X-Nonce': nonce } = headers;
    const signed = canonical({ ...(timestamp && { timestamp }), ...(nonce && { nonce }) });
    const { status, printed } = await debug(hex(signed), { headers });
    expect(printed).toContain(`${code}: `);
    expect(printed).toContain(sentence);
    expect(printed).not.toContain('unknown: ');
    expect(status).toBe(1);
  });

  test('is printed as JSON without the secret', async () => {
    const { status, printed } = await debug(hex(canonical({ method: 'post' })), { options: ['--json'] });
    expect(status).toBe(1);
    expect(printed).not.toContain(SECRET);
    expect(JSON.parse(printed)).toMatchObject({
      holds: false,
      reason: 'signature_mismatch',
      causes: [{ code: 'method-case', explanation: expect.stringContaining('upper case') as string }],
      signature: { right: hex(canonical()), sent: hex(canonical({ method: 'post' })) },
      difference: { offset: 0, place: 'method, byte 0' },
    });
  });
});

describe('the request id of a refused call', () => {
  test('is explained without a request', async () => {
    const { status, printed } = await command(['debug-signature', '--request-id', 'request-7']);
    expect(printed).toContain('Request request-7');
    expect(printed).toContain('nonce_replayed');
    expect(status).toBe(0);
  });

  test('is explained beside a diagnosis', async () => {
    const { printed } = await debug(hex(canonical()), { options: ['--request-id', 'request-7'] });
    expect(printed).toContain('the signature is valid');
    expect(printed).toContain('Request request-7');
  });
});

describe('the request may be described by', () => {
  const signed = (body: string) => hex(canonical({ body }));
  const described = async (option: string, content: string, more: string[] = []) => {
    const file = join(folder.path, `described-${(files += 1)}`);
    await writeFile(file, content);
    const args = ['debug-signature', option, file, '--now', String(NOW), ...more];
    return command(args, { secret: SECRET, now: () => LATER * 1000 });
  };
  const headersOf = (body: string) => [
    'X-Tenant-ID: spinwell',
    `X-Timestamp: ${NOW}`,
    `X-Nonce: ${NONCE}`,
    `X-Signature: ${signed(body)}`,
  ];
  const url = `https://rgs.example${PATH}`;

  test.each<[string, string, (body: string, headers: string[]) => string]>([
    [
      'browsers copy',
      BODY,
      (body, headers) =>
        `curl '${url}' \\\n  -X 'POST' \\\n${headers.map((line) => `  -H '${line}' \\\n`).join('')}  --data-raw '${body}' --compressed`,
    ],
    [
      'shells need it, in double quotes',
      BODY,
      (body, headers) =>
        `curl --request=POST --url ${url} ${headers.map((line) => `--header "${line}"`).join(' ')} -d ${JSON.stringify(body)}`,
    ],
    [
      'bash quotes escapes',
      "it's\n",
      (_, headers) =>
        `curl -XPOST "${url}" ${headers.map((line) => `-H '${line}'`).join(' ')} --data-binary $'it\\'s\\n'`,
    ],
    [
      'people type it, with bundled short options',
      BODY,
      (body, headers) =>
        `curl -sSLkXPOST "${url}" ${headers.map((line) => `-sSH '${line}'`).join(' ')} -vsd '${body}' -iw '\\n'`,
    ],
    [
      'it joins several --json',
      BODY,
      (_, headers) =>
        `curl ${url} ${headers.map((line) => `-H '${line}'`).join(' ')} --json '{"b":"Zoë/1",' --json '"a":[1,2]}'`,
    ],
    [
      'an option that is not known here, with its value',
      'a=1',
      (body: string, headers: string[]) =>
        `curl.exe --happy-eyeballs-timeout-ms 200 ${url} ${headers.map((line) => `-H '${line}'`).join(' ')} -d '${body}'`,
    ],
  ])('a curl command line as %s', async (_, body, line) => {
    const { status, printed } = await described('--curl-file', line(body, headersOf(body)));
    expect(printed).toContain('the signature is valid');
    expect(status).toBe(0);
  });

  test('a curl command line whose data is in a file: -d leaves out its line ends', async () => {
    const data = join(folder.path, 'data');
    await writeFile(data, `${BODY}\n`);
    const options = headersOf(BODY).map((line) => `-H '${line}'`);
    const read = ['--read-data-files'];
    const sent = await described('--curl-file', `curl ${url} ${options.join(' ')} -d @${data}`, read);
    expect(sent.printed).toContain('the signature is valid');
    const line = `curl ${url} ${options.join(' ')} --data-binary @${data}`;
    expect((await described('--curl-file', line, read)).printed).toContain('body-end-not-signed: ');
  });

  test.each([
    '-d @FILE',
    '--data=@FILE',
    '--data-binary @FILE',
    '--data-ascii @FILE',
    '--json @FILE',
    '-d a=1 -d @FILE',
  ])('a curl command line with %s, whose file is read only with a switch', async (option) => {
    const data = join(folder.path, 'private');
    await writeFile(data, 'what a stranger wants to see');
    const line = `curl ${url} ${option.replace('FILE', data)}`;
    const refused = await described('--curl-file', line);
    expect(refused).toMatchObject({ status: 2, printed: '' });
    expect(refused.complained).toContain(`sends the file "${data}"`);
    expect(refused.complained).toContain('--read-data-files');
    expect(refused.complained).not.toContain('what a stranger');
    const read = await described('--curl-file', line, ['--read-data-files']);
    expect(read.printed).toContain('what a stranger wants to see');
  });

  test.each(['-I', '-sSI', '--head'])('a curl command line with %s, which sends a HEAD', async (option) => {
    const headers = headersOf('').map((line) => `-H '${line}'`);
    const { printed } = await described('--curl-file', `curl ${option} ${url} ${headers.join(' ')}`);
    expect(printed).toMatch(/^ *HEAD/m);
  });

  test('a curl command line with --data-raw, which names no file', async () => {
    const { status } = await described('--curl-file', `curl ${url} --data-raw @/etc/hostname`);
    expect(status).toBe(1);
  });

  test('a HAR file, one of its entries, or its request', async () => {
    const request = {
      method: 'POST',
      url,
      headers: [':authority: x', ...headersOf(BODY)].map((line) => {
        const [, name = '', value = ''] = /^(:?[^:]+): (.*)$/.exec(line) ?? [];
        return { name, value };
      }),
      postData: { mimeType: 'application/json', text: BODY },
    };
    const entry = { startedDateTime: new Date((NOW + 200) * 1000).toISOString(), request };
    const ofHar = async (content: string, more: string[] = []) => {
      const file = join(folder.path, `har-${(files += 1)}`);
      await writeFile(file, content);
      const args = ['debug-signature', '--har-file', file, ...more];
      return command(args, { secret: SECRET, now: () => LATER * 1000 });
    };
    const whole = JSON.stringify({ log: { entries: [{ request: { ...request, method: 'GET' } }, entry] } });
    // The time of an entry counts, but a request alone has none.
    expect((await ofHar(whole, ['--entry', '1'])).status).toBe(0);
    expect((await ofHar(whole)).printed).toContain('method-other: ');
    expect((await ofHar(JSON.stringify(entry))).status).toBe(0);
    expect((await ofHar(JSON.stringify(request), ['--now', String(NOW)])).status).toBe(0);
    expect((await ofHar(whole, ['--entry', '2'])).complained).toContain('no entry 2');
  });

  test.each<[string, (headers: string[]) => string, string[]]>([
    ['--headers-file', (headers) => headers.join('\r\n'), ['--path', PATH]],
    ['--curl-file', (headers) => `curl -XPOST ${url} ${headers.map((line) => `-H '${line}'`).join(' ')}`, []],
    [
      '--har-file',
      (lines) => {
        const headers = lines.map((line) => line.split(': ')).map(([name, value]) => ({ name, value }));
        return JSON.stringify({ method: 'POST', url, headers });
      },
      [],
    ],
  ])('%s with a byte order mark', async (option, content, more) => {
    const sent = await described(option, `\uFEFF${content(headersOf(''))}`, more);
    expect(sent.printed).toContain('the signature is valid');
  });

  test.each(['X-Nonce nonce-0001', '"X-Nonce": "nonce-0001",', 'X-Nonce : nonce-0001', ' nonce-0001'])(
    'no file of headers with the line %j, which is named',
    async (line) => {
      const content = ['POST /x HTTP/1.1', 'X-Tenant-ID: spinwell', line].join('\n');
      const { status, complained } = await described('--headers-file', content, ['--path', PATH]);
      expect(complained).toMatch(/Line 3 of \S+ is not a header, a request line or a status line/);
      expect(complained).toContain(`"${line}"`);
      expect(status).toBe(2);
    },
  );

  test.each([
    ['--curl-file', 'wget https://rgs.example', 'begins with "curl"'],
    ['--curl-file', `curl 'https://rgs.example`, 'not closed'],
    ['--curl-file', 'curl -X POST', 'no address'],
    ['--curl-file', 'curl https://rgs.example -H', 'has no value'],
    ['--curl-file', 'curl ^"https://rgs.example^" ^\n  -H ^"X-Nonce: 1^"', 'Copy it as cURL for bash'],
    ['--curl-file', 'curl https://rgs.example -F a=b', 'is not supported'],
    [
      '--curl-file',
      'curl https://rgs.example -sG -d a=b',
      'option -G changes what is sent and is not supported',
    ],
    [
      '--curl-file',
      'curl https://rgs.example -d a=b --next https://rgs.example/2',
      '--next changes what is sent',
    ],
    ['--curl-file', 'curl https://rgs.example -sW', 'option -W is not known'],
    ['--curl-file', 'curl https://rgs.example -H @/etc/hostname', '-H @FILE is not supported'],
    ['--curl-file', "curl https://rgs.example -d $'@a\\e[31m\\nb'", 'the file "a⟨U+001B⟩[31m␊b"'],
    ['--har-file', '{}', 'no request'],
    ['--har-file', 'GET /', 'not JSON'],
  ])('%s %j is refused', async (option, content, sentence) => {
    const { status, complained } = await described(option, content);
    expect(complained).toContain(sentence);
    expect(status).toBe(2);
  });
});

describe('a request whose signature would still be accepted', () => {
  const right = (timestamp: string) => hex(canonical({ timestamp }));
  /** Every form of the request and of the result. */
  const outputs = async (timestamp: string, ranAt: number, signature: string) => {
    const headers = [
      'X-Tenant-ID: spinwell',
      `X-Timestamp: ${timestamp}`,
      `X-Nonce: ${NONCE}`,
      `X-Signature: ${signature}`,
    ];
    const url = `https://rgs.example${PATH}`;
    const listed = headers.map((line) => line.split(': ')).map(([name, value]) => ({ name, value }));
    const request = { method: 'POST', url, headers: listed, postData: { text: BODY } };
    // The time of an entry is a stranger's choice, too.
    const entry = { startedDateTime: new Date((ranAt + 1e6) * 1000).toISOString(), request };
    const content = {
      body: BODY,
      headers: headers.join('\r\n'),
      curl: `curl ${url} ${headers.map((line) => `-H '${line}'`).join(' ')} --data-raw '${BODY}'`,
      har: JSON.stringify({ log: { entries: [entry] } }),
    };
    const path = (name: string) => join(folder.path, `fresh-${name}`);
    for (const [name, text] of Object.entries(content)) await writeFile(path(name), text);
    const bodyFile = ['--body-file', path('body')];
    const requests = [
      ['--path', PATH, ...bodyFile, ...headers.flatMap((line) => ['--header', line])],
      ['--path', PATH, ...bodyFile, '--headers-file', path('headers')],
      ['--curl-file', path('curl')],
      ['--har-file', path('har')],
    ];
    const forms = [[], ['--json'], ['--now', timestamp], ['--now', timestamp, '--json', '--tolerance', '0']];
    const runs = requests.flatMap((each) => forms.map((form) => ['debug-signature', ...each, ...form]));
    const all = runs.map((args) => command(args, { secret: SECRET, now: () => ranAt * 1000 }));
    return (await Promise.all(all)).map(({ printed, complained }) => printed + complained);
  };

  test.each([
    ['now', 0],
    ['within the tolerance', 300],
    ['within the tolerance of a clock that differs by as much', 600],
    ['in the future', -86_400],
    ['in a far future', -99_000_000_000],
  ])('is not shown it: %s', async (_, age) => {
    const timestamp = String(NOW - age);
    // Signatures that are explained at once: the search for others takes seconds.
    const wrong = hex(canonical({ timestamp, method: 'post' }));
    for (const sent of [wrong, '', right(timestamp), `sha256=${right(timestamp).toUpperCase()}`]) {
      const all = await outputs(timestamp, NOW, sent);
      expect(all).toHaveLength(16);
      for (const each of all) {
        expect(each).toContain('not shown while it would still be accepted');
        expect(each.toLowerCase()).not.toContain(right(timestamp));
      }
    }
  });

  test.each(['', '1800000000.5', '0x6b49d200', '1800000000000'])(
    'nor is one whose timestamp %j may mean the same to a lax receiver',
    async (timestamp) => {
      const all = await outputs(timestamp, NOW, '');
      for (const each of all) expect(each).not.toContain(right(timestamp));
    },
  );

  test.each<[string, { method?: string; path?: string; nonce?: string }]>([
    ['path', { path: `${PATH}\n${NOW}\n${NONCE}\n{"a":` }],
    ['method', { method: `POST\n${PATH}\n${NOW}\n${NONCE}\n{"a":` }],
    ['path, as a carriage return', { path: `${PATH}\r` }],
    ['nonce', { nonce: `${NONCE}"` }],
  ])('nor is one whose %s makes the signed text that of another request', async (_, parts) => {
    const timestamp = String(NOW - 86_400);
    const all = { method: 'POST', path: PATH, nonce: NONCE, ...parts };
    const headers = { 'X-Tenant-ID': 'spinwell', 'X-Timestamp': timestamp, 'X-Nonce': all.nonce };
    const listed = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const url = `https://rgs.example${all.path}`;
    const request = { method: all.method, url, headers: listed, postData: { text: BODY } };
    const file = join(folder.path, `nested-${(files += 1)}`);
    await writeFile(file, JSON.stringify({ log: { entries: [{ request }] } }));
    const bodyFile = join(folder.path, `nested-${(files += 1)}`);
    await writeFile(bodyFile, BODY);
    const named = ['--path', all.path, '--method', all.method, '--body-file', bodyFile].concat(
      Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    );
    for (const input of [['--har-file', file], named])
      for (const form of [[], ['--json']]) {
        const args = ['debug-signature', ...input, ...form];
        const { printed, complained } = await command(args, { secret: SECRET, now: () => NOW * 1000 });
        const shown = (printed + complained).toLowerCase();
        expect(shown).toContain('not shown while it would still be accepted');
        expect(shown).not.toContain(hex(canonical({ ...all, method: all.method.toUpperCase(), timestamp })));
      }
  });

  test('is told whether it is right', async () => {
    const [text = '', json = ''] = await outputs(String(NOW), NOW, right(String(NOW)));
    expect(text).toContain('X-Signature, sent   the right one');
    expect(JSON.parse(json)).toMatchObject({ signature: { right: null, sent: null } });
  });

  test('is shown it when every receiver refuses the timestamp', async () => {
    const all = await outputs(String(NOW - 601), NOW, '');
    for (const each of all.slice(0, 2)) expect(each).toContain(right(String(NOW - 601)));
    const tolerant = await debug('', { ranAt: NOW + 1200, options: ['--tolerance', '600'] });
    expect(tolerant.printed).not.toContain(right(String(NOW)));
  });
});

describe('a body that was sent compressed', () => {
  const plain = hex(canonical());
  test.each<[string, Buffer, Record<string, string>]>([
    ['brotli, by its header', brotliCompressSync(BODY), { 'Content-Encoding': 'br' }],
    // A decoder would fail here.
    ['gzip that is cut', gzipSync(BODY).subarray(0, 20), {}],
  ])('is recognised without a decoder: %s', async (_, body, headers) => {
    expect((await debug(plain, { body, headers })).printed).toContain('body-compressed: ');
  });
});

test('foreign text reaches the terminal only with visible controls', async () => {
  const evil = '\u009b31m\u202ex\u0007';
  const printed = await Promise.all(
    [[], ['--json']].map(async (options) => {
      const headers = { 'X-Tenant-ID': evil, 'X-Croupier-Signature': evil, [`X-Timestamp`]: evil };
      return (await debug(`"${evil}"`, { headers, options: [...options, '--request-id', evil] })).printed;
    }),
  );
  for (const each of printed) {
    expect(each).toContain('tenant-mismatch');
    expect(each).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
  }
  expect(printed[0]).toContain('X-Tenant-ID is "⟨U+009B⟩31m⟨U+202E⟩x⟨U+0007⟩"');
  expect(JSON.parse(printed[1]!)).toMatchObject({ requestId: evil, signature: { sent: `"${evil}"` } });
});

describe('a given secret with something around it', () => {
  test.each([
    [`${SECRET}\n`, 'given-secret-whitespace', 'whitespace'],
    [`"${SECRET}"`, 'given-secret-quoted', 'quotation marks'],
  ])('%j under which the signature holds', async (secret, code, what) => {
    const { status, printed } = await debug(hex(canonical(), secret), { secret });
    expect(printed).toContain(`${code}: `);
    expect(printed).toContain(what);
    expect(printed).toContain('the secret that the platform issued does not');
    expect(printed).toContain('remove this from the secret in both places');
    expect(printed).not.toContain('the signature is valid');
    expect(status).toBe(1);
  });

  test('under which the signature does not hold', async () => {
    const { status, printed } = await debug(hex(canonical()), { secret: `${SECRET}\n` });
    expect(printed).toContain('The request was signed with the issued secret.');
    expect(status).toBe(1);
  });
});

test('mistakes that lead to the same bytes are all named', async () => {
  const sent = { body: `${BODY}\n` };
  const { printed } = await debug(hex(canonical()), sent);
  expect(printed).toMatch(
    /Cause, one of several\n {2}body-end-not-signed: .*\n\nOr, with the same signature\n {2}body-trimmed: /,
  );
  const json = await debug(hex(canonical()), { ...sent, options: ['--json'] });
  expect(JSON.parse(json.printed)).toMatchObject({
    causes: [{ code: 'body-end-not-signed' }],
    alternatives: expect.arrayContaining([[expect.objectContaining({ code: 'body-trimmed' })]]) as unknown,
  });
});

test('a whole address may be given as the path', async () => {
  const path = `https://api.example${PATH}`;
  const { printed } = await debug(hex(canonical({ path })), { path, headers: { Host: '' } });
  expect(printed).toContain('path-host: ');
});

test('a search shows its progress, and removes it before the report', async () => {
  const lines: string[] = [];
  let nowMs = 0;
  const { printed } = await debug('ab'.repeat(32), {
    usedMs: () => (nowMs += 150),
    progress: (line) => lines.push(line),
    options: ['--search-seconds', '3'],
  });
  expect(lines[0]).toMatch(/^Searching for the mistake: [\d,]+ ways to sign tried$/);
  expect(lines.at(-1)).toBe('');
  expect(printed).toContain('Not tried: ');
});

test('a secret that is blank is none', async () => {
  for (const secret of ['', ' ', '\0', '\t\u200b']) {
    const { status, complained } = await debug('', { secret });
    expect([status, complained]).toEqual([2, expect.stringContaining('Set CROUPIER_SECRET')]);
  }
});

describe('the bytes that were signed', () => {
  const signedFile = async (bytes: string) => {
    const file = join(folder.path, 'signed');
    await writeFile(file, bytes);
    return ['--signed-file', file];
  };

  test('are compared: the first that differs is shown', async () => {
    const options = await signedFile(canonical({ body: BODY.replace('Zoë', 'Zoe') }));
    const { printed } = await debug('', { options });
    expect(printed).toContain('(body, byte 8)');
    expect(printed).toContain('right   0xc3');
    expect(printed).toContain('signed  0x65 e/1"');
  });

  test('end too soon', async () => {
    const { printed } = await debug('', { options: await signedFile(canonical({ body: '' })) });
    expect(printed).toContain('signed  (the end)');
  });
});

test('a body that is not text is shown as bytes', async () => {
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

test('headers may come in a file with all that curl -v prints', async () => {
  const file = join(folder.path, 'curl-v');
  const lines = [
    '*   Trying 127.0.0.1:3000...',
    '> POST /x HTTP/1.1',
    '> Host: rgs.example',
    '> X-Tenant-ID: spinwell',
    `> X-Timestamp: ${NOW}`,
    `> X-Nonce: ${NONCE}`,
    `> X-Signature: ${hex(canonical({ body: '' }))}`,
    '> ',
    '} [2 bytes data]',
    '< HTTP/1.1 401 Unauthorized',
    '< Content-Type: text/plain; charset=utf-8',
    '< ',
    '* Connection #0 to host rgs.example left intact',
    '',
  ];
  await writeFile(file, lines.join('\n'));
  const args = ['debug-signature', '--path', PATH, '--headers-file', file, '--now', String(NOW)];
  expect(await command(args, { secret: SECRET })).toMatchObject({ status: 0 });
});

test.each([
  [['debug-signature'], '--path is missing'],
  [['debug-signature', '--path', '/', '--body-file', '/nowhere'], '/nowhere cannot be read'],
  [['debug-signature', '--path', '/', '--now', 'x'], '--now must be a whole number'],
  [
    ['debug-signature', '--path', '/', '--now', '1800000000000'],
    '--now must be a whole number from 0 to 999999999999',
  ],
  [['debug-signature', '--path', '/', '--har-file', '/nowhere'], 'Give one of --path'],
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
])('%j prints the usage', async (args, sentence) => {
  const { status, printed } = await command(args);
  expect(printed).toContain(sentence);
  expect(status).toBe(0);
});
