import { once } from 'node:events';
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startPlatform } from './support/platform.js';
import { APPROVED, BET, clientAt, failure } from './support/scripted-client.js';
import { startTcp } from './support/tcp-server.js';

/** The reaction of the platform, or of a proxy in front of it, to one request. */
type Act = (socket: Socket) => void;

/** A server that answers each whole request with the next act, byte for byte. */
async function startRaw(...acts: Act[]): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = [];
  const address = await startTcp((socket) => {
    socket.on('error', () => undefined);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const [head = '', body] = received.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      requests.push(received);
      received = '';
      (acts.shift() ?? ((each: Socket) => each.destroy()))(socket);
    });
  });
  return { url: `http://${address}`, requests };
}

const JSON_TYPE = 'Content-Type: application/json';
const DECISION = JSON.stringify(APPROVED);

/** A whole answer with the right Content-Length. */
function answer(status: string, headers: string[], body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body);
  const head = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${bytes.length}`, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head), bytes]);
}
const send =
  (...args: Parameters<typeof answer>): Act =>
  (socket) =>
    void socket.write(answer(...args));
const refuse = (status: string, code: string, action: string, ...more: string[]) =>
  send(status, [`X-Error-Code: ${code}`, `X-Next-Action: ${action}`, ...more], '{"error":"no"}');
const raw =
  (text: string, then: (socket: Socket) => void = (socket) => socket.end()): Act =>
  (socket) =>
    socket.write(text, () => then(socket));
const decide = send('200 OK', [JSON_TYPE], DECISION);
const body = (changes: object) => send('200 OK', [JSON_TYPE], JSON.stringify({ ...APPROVED, ...changes }));

/** Answers after which a transaction may have been booked, whatever they look like. */
const DOUBTFUL: [name: string, act: Act][] = [
  [
    'headers of the platform that a proxy doubled',
    refuse(
      '400 Bad Request',
      'TRANSACTION_ID_REUSED',
      'fix-request',
      'X-Error-Code: TRANSACTION_ID_REUSED',
      'X-Next-Action: fix-request',
    ),
  ],
  [
    'headers of the platform that a proxy emptied',
    send('503 Service Unavailable', ['X-Error-Code:', 'X-Next-Action:'], '{"error":"no"}'),
  ],
  ['a next action without a code', send('400 Bad Request', ['X-Next-Action: fix-request'], '{"error":"no"}')],
  ['a proxy’s own error code', send('403 Forbidden', ['X-Error-Code: 15', 'X-Next-Action: retry'], 'WAF')],
  ['a proxy that words its 401 almost alike', send('401 Unauthorized', [], 'Invalid signature.')],
  [
    'a 401 in JSON without the headers',
    send('401 Unauthorized', [JSON_TYPE], '{"error":"invalid signature"}'),
  ],
  ['a proxy’s 413 for the answer', send('413 Content Too Large', [], '')],
  ['a proxy’s 421', send('421 Misdirected Request', [], '')],
  ['a 499 of nginx', send('499 Client Closed Request', [], '')],
  ['a 511 of a captive portal', send('511 Network Authentication Required', [], '<html>')],
  ['a 308 to the same address', send('308 Permanent Redirect', ['Location: /v1/wallet/transaction'])],
  ['a 304', send('304 Not Modified', [])],
  ['a 200 without a body', send('200 OK', [])],
  ['a 206 with the decision', send('206 Partial Content', [JSON_TYPE], DECISION)],
  ['a decision with something behind it', send('200 OK', [JSON_TYPE], `${DECISION}\n${DECISION}`)],
  ['a decision in UTF-16', send('200 OK', [JSON_TYPE], Buffer.from(DECISION, 'utf16le'))],
  ['a decision in an envelope', send('200 OK', [JSON_TYPE], `{"data":${DECISION}}`)],
  ['a decision in a list', send('200 OK', [JSON_TYPE], `[${DECISION}]`)],
  ['a status in lower case', body({ status: 'approved' })],
  ['a status in a list', body({ status: ['APPROVED'] })],
  ['a status PENDING', body({ status: 'PENDING' })],
  ['a transactionId in upper case', body({ transactionId: 'BET-1' })],
  ['a transactionId that is missing', body({ transactionId: undefined })],
  ['a balance of null', body({ balance: null })],
  ['a balance with a fraction', body({ balance: 7.5 })],
  ['a balance beyond 2^53', send('200 OK', [JSON_TYPE], DECISION.replace('750', '9007199254740993'))],
  [
    'a decision whose connection closes early',
    raw(`HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n${DECISION}`),
  ],
  [
    'a chunked decision without its last chunk',
    raw(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${DECISION.length.toString(16)}\r\n${DECISION}\r\n`,
    ),
  ],
  ['a gzip decision', send('200 OK', ['Content-Encoding: gzip'], gzipSync(DECISION))],
  ['a brotli decision', send('200 OK', ['Content-Encoding: br'], brotliCompressSync(DECISION))],
  ['a deflate decision', send('200 OK', ['Content-Encoding: deflate'], deflateSync(DECISION))],
  ['a decision that only claims to be compressed', send('200 OK', ['Content-Encoding: gzip'], DECISION)],
  [
    'a refusal that a proxy compressed',
    refuse('400 Bad Request', 'INVALID_REQUEST', 'fix-request', 'Content-Encoding: gzip'),
  ],
  ['an encoding that does not exist', send('200 OK', ['Content-Encoding: x-sealed'], DECISION)],
  [
    '2 MiB of zeros, compressed',
    send('200 OK', ['Content-Encoding: gzip'], gzipSync(Buffer.alloc(2 * 1024 * 1024))),
  ],
  ['a connection that closes after the request', (socket) => void socket.end()],
  ['a connection that is reset after the request', (socket) => void socket.resetAndDestroy()],
  [
    'a switch of protocols',
    raw('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
  ],
  ['a status line that is none', raw('HTTP/1.1 OK 200\r\n\r\n')],
  ['headers without an end', raw(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(70_000)}`)],
  [
    'a header with a line break in it',
    raw('HTTP/1.1 400 Bad Request\r\nX-Error-Code\n: INVALID_REQUEST\r\n\r\n'),
  ],
  ['early hints and then nothing', raw('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')],
];

describe('an answer that proves nothing leaves the outcome unknown, and is sent again', () => {
  test.each(DOUBTFUL)('%s', async (_, act) => {
    const { url, requests } = await startRaw(act, act, decide);
    const { client } = clientAt(url);
    const error = await failure(client.bet(BET));
    expect(error.outcome).toBe('unknown');
    expect(error.attempts).toHaveLength(1);
    expect(await client.bet(BET, { retry: true })).toEqual(APPROVED);
    expect(new Set(requests.map((request) => request.split('\r\n\r\n')[1])).size).toBe(1);
  });
});

test('no decoder sees an answer: the error names the encoding, and the rest is not read', async () => {
  // A decoder would report that this is no gzip.
  const { url, requests } = await startRaw(send('200 OK', ['Content-Encoding: gzip'], '<html>'));
  const error = await failure(clientAt(url).client.bet(BET));
  expect(error).toMatchObject({ name: 'UnexpectedAnswerError', status: 200, retryable: true });
  expect(error.message).toContain('with the Content-Encoding gzip, which is not read');
  expect(requests[0]).toMatch(/\r\nAccept-Encoding: identity\r\n/i);
});

test('foreign text in an error message stays on its line', async () => {
  const { url } = await startRaw(
    send(
      '400 Bad Request',
      ['X-Error-Code: INVALID_REQUEST', 'X-Next-Action: fix-request'],
      '{"error":"a\\n\\u001b[31mb\\u202ec"}',
    ),
    send('502 Bad Gateway', ['X-Request-Id: \u009b31m'], 'a\r\nb\u2028c'),
  );
  const { client } = clientAt(url);
  expect((await failure(client.bet(BET))).message).toContain('a␊⟨U+001B⟩[31mb⟨U+202E⟩c');
  const { message } = await failure(client.bet(BET));
  expect(message).toContain('a␍␊b⟨U+2028⟩c');
  expect(message).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
});

/** Unusual forms of a decision. */
const DECISIVE: [name: string, act: Act][] = [
  ['a byte order mark', send('200 OK', [JSON_TYPE], `\ufeff${DECISION}`)],
  ['the Content-Encoding identity', send('200 OK', [JSON_TYPE, 'Content-Encoding: Identity'], DECISION)],
  ['another Content-Type', send('200 OK', ['Content-Type: text/plain'], DECISION)],
  [
    'chunks of one byte',
    raw(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${[...DECISION].map((sign) => `1\r\n${sign}\r\n`).join('')}0\r\n\r\n`,
    ),
  ],
  [
    'early hints before it',
    (socket) =>
      void socket.write(
        Buffer.concat([
          Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'),
          answer('200 OK', [JSON_TYPE], DECISION),
        ]),
      ),
  ],
  ['a body that ends with the connection', raw(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${DECISION}`)],
  ['fields that this version does not know', body({ bonus: { balance: 1 } })],
];

test.each(DECISIVE)('a decision is taken with %s', async (_, act) => {
  const { url } = await startRaw(act);
  expect(await clientAt(url).client.bet(BET)).toMatchObject(APPROVED);
});

test('a negative balance is a balance', async () => {
  const { url } = await startRaw(body({ status: 'DECLINED', balance: -250 }));
  expect(await clientAt(url).client.bet(BET)).toMatchObject({ status: 'DECLINED', balance: -250 });
});

describe('what is proved to be refused was not booked', () => {
  test.each<[string, Act]>([
    [
      'a 503 of the platform with Retry-After',
      refuse('503 Service Unavailable', 'OPERATOR_NOT_CONFIGURED', 'contact-platform', 'Retry-After: 30'),
    ],
    [
      'invalid signature with a newline',
      send('401 Unauthorized', ['Content-Type: text/plain'], 'invalid signature\n'),
    ],
    [
      'a refusal whose body a proxy replaced',
      send('401 Unauthorized', ['X-Error-Code: SESSION_INVALID', 'X-Next-Action: end-session'], '<html>'),
    ],
  ])('%s', async (_, act) => {
    const { url } = await startRaw(act);
    expect(await failure(clientAt(url).client.bet(BET))).toMatchObject({ outcome: 'not-booked' });
  });

  test('a 503 of the platform that may be repeated is repeated', async () => {
    const { url } = await startRaw(
      refuse('503 Service Unavailable', 'GAME_NOT_CONFIGURED', 'wait-then-retry', 'Retry-After: 3'),
      decide,
    );
    const { client, pauses } = clientAt(url);
    expect(await client.bet(BET, { retry: true })).toEqual(APPROVED);
    expect(pauses).toEqual([3000]);
  });
});

test('a second answer on one connection is not taken for that of the next call', async () => {
  const forged = answer('200 OK', [JSON_TYPE], JSON.stringify({ ...APPROVED, transactionId: 'bet-2' }));
  const { url, requests } = await startRaw(
    (socket) => void socket.write(Buffer.concat([answer('200 OK', [JSON_TYPE], DECISION), forged])),
    body({ transactionId: 'bet-2', status: 'DECLINED' }),
  );
  const { client } = clientAt(url);
  expect(await client.bet(BET)).toEqual(APPROVED);
  const second = await client.bet({ ...BET, transactionId: 'bet-2' }, { retry: true });
  expect(second.status).toBe('DECLINED');
  expect(requests).toHaveLength(2);
});

test('an answer that arrives on an idle connection closes it', async () => {
  const extra = answer('200 OK', [JSON_TYPE], JSON.stringify({ ...APPROVED, balance: 1 }));
  const connections: Socket[] = [];
  const { url } = await startRaw((socket) => {
    connections.push(socket);
    socket.write(answer('200 OK', [JSON_TYPE], DECISION));
  }, decide);
  const { client } = clientAt(url);
  expect(await client.bet(BET)).toEqual(APPROVED);
  connections[0]!.write(extra);
  await once(connections[0]!, 'close');
  expect(await client.bet(BET)).toEqual(APPROVED);
});

test('an answer that comes byte by byte is ended by the time-out', async () => {
  const { url } = await startRaw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${DECISION.length}\r\n\r\n`);
    let at = 0;
    const timer = setInterval(() => socket.write(DECISION.charAt(at++)), 40);
    socket.on('close', () => clearInterval(timer));
  });
  const error = await failure(clientAt(url).client.bet(BET, { timeoutMs: 200 }));
  expect(error).toMatchObject({ name: 'NetworkError', timedOut: true, outcome: 'unknown' });
});

test('refused connections alone were not booked; one lost connection among them may be', async () => {
  const { url, stop } = await startPlatform();
  await stop();
  const options = { retry: true, maxAttempts: 3 };
  expect(await failure(clientAt(url).client.bet(BET, options))).toMatchObject({
    outcome: 'not-booked',
    attempts: [{ outcome: 'not-booked' }, { outcome: 'not-booked' }, { outcome: 'not-booked' }],
  });
  const platform = await startPlatform('drop');
  const { client } = clientAt(platform.url, { backoff: { sleep: () => platform.stop() } });
  expect(await failure(client.bet(BET, options))).toMatchObject({
    outcome: 'unknown',
    attempts: [{ outcome: 'unknown' }, { outcome: 'not-booked' }, { outcome: 'not-booked' }],
  });
});

test.each([
  ['-5', 100],
  ['1.5', 100],
  ['soon', 100],
  ['', 100],
  ['0', 100],
  ['1', 1000],
  ['Tue, 01 Jan 2030 00:00:05 GMT', 5000],
  ['Tue, 01 Jan 2019 00:00:00 GMT', 100],
])('Retry-After %j is a pause of %d ms', async (value, pauseMs) => {
  const { url } = await startRaw(
    refuse('500 Internal Server Error', 'OVERLOADED', 'retry-same-request', `Retry-After: ${value}`),
    decide,
  );
  const { client, pauses } = clientAt(url, { clock: () => Date.UTC(2030, 0, 1) });
  await client.bet(BET, { retry: true });
  expect(pauses).toEqual([pauseMs]);
});

test('a Retry-After beyond the deadline ends the call at once, with the pause in the error', async () => {
  const { url } = await startRaw(
    refuse('500 Internal Server Error', 'OVERLOADED', 'retry-same-request', 'Retry-After: 86400'),
  );
  const { client, pauses } = clientAt(url);
  expect(await failure(client.bet(BET, { retry: true }))).toMatchObject({
    retryAfterSeconds: 86_400,
    outcome: 'unknown',
  });
  expect(pauses).toEqual([]);
});
