import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Configuration } from '../../src/config/configuration.js';
import { CallSigner } from '../../src/outbound/call-signer.js';
import { Outbound } from '../../src/outbound/outbound.service.js';
import { HostResolver } from '../../src/outbound/host-resolver.js';
import { Randomness } from '../../src/runtime/randomness.js';
import { TestClock } from '../world/test-clock.js';
import { PATIENCE } from '../world/patience.js';

const LIMIT_BYTES = 64 * 1024;
/** Number of concurrent calls to one tenant. */
const CALLS = 8;
/** Time-out of calls that must not time out, in milliseconds. */
const PATIENCE_MS = 10_000;

let outbound: Outbound;
let server: Server;
let url: string;
let received: string[];
let sockets: Set<Socket>;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  received = [];
  sockets = new Set();
  outbound = new Outbound(
    { outboundAllowPrivate: true } as Configuration,
    new CallSigner(new TestClock(), new Randomness()),
    new HostResolver(),
  );
  server = createServer((request, response) => {
    received.push(request.url ?? '');
    request.resume().on('end', () => answer(request, response));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await outbound.onApplicationShutdown();
  server.closeAllConnections();
  server.close();
});

const post = (route = '/', timeoutMs = PATIENCE_MS, tenantId = 'operator') =>
  outbound.post(call(route, timeoutMs, tenantId), (outcome) => outcome);
const call = (route: string, timeoutMs = PATIENCE_MS, tenantId = 'operator') => ({
  baseUrl: url,
  route,
  tenantId,
  secret: 'secret',
  body: { a: 1 },
  timeoutMs,
});

describe('an answer', () => {
  test('has its status and its bytes, in any number of chunks', async () => {
    answer = (_, response) => {
      response.writeHead(418);
      response.write('one ');
      setImmediate(() => response.end('two'));
    };
    expect(await post('/a?b=c')).toEqual({ kind: 'answered', status: 418, body: Buffer.from('one two') });
    expect(received).toEqual(['/a?b=c']);
  });

  test('is the final one, after informational responses', async () => {
    answer = (_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(201).end('{}');
    };
    expect(await post()).toEqual({ kind: 'answered', status: 201, body: Buffer.from('{}') });
  });

  test('may be empty', async () => {
    answer = (_, response) => response.writeHead(204).end();
    expect(await post()).toEqual({ kind: 'answered', status: 204, body: Buffer.alloc(0) });
  });

  test('that redirects is not followed', async () => {
    answer = (_, response) => response.writeHead(307, { Location: `${url}/elsewhere` }).end();
    expect(await post()).toMatchObject({ kind: 'answered', status: 307 });
    expect(received).toEqual(['/']);
  });

  test('may be as large as the bound', async () => {
    answer = (_, response) => response.end(Buffer.alloc(LIMIT_BYTES, 'x'));
    expect(await post()).toMatchObject({ kind: 'answered', body: Buffer.alloc(LIMIT_BYTES, 'x') });
  });

  test('is read no further than the bound, and the call fails', async () => {
    answer = (_, response) => response.write(Buffer.alloc(LIMIT_BYTES + 1, 'x'));
    expect(await post()).toEqual({
      kind: 'failed',
      answered: true,
      received: { status: 200, body: Buffer.alloc(65_536, 'x') },
      detail: 'the answer is larger than 65536 bytes',
    });
    await vi.waitFor(() => expect(sockets.size).toBe(0), PATIENCE);
  });
});

test('an answer in too many chunks is read no further, and the call fails', async () => {
  // Sent as a whole: Node 26 holds the headers of a response back until the next turn of the event loop.
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  answer = ({ socket }) => socket.write(head + '1\r\nx\r\n'.repeat(LIMIT_BYTES / 2));
  expect(await post()).toMatchObject({
    kind: 'failed',
    answered: true,
    received: { status: 200 },
    detail: 'the answer has more than 4096 parts',
  });
  await vi.waitFor(() => expect(sockets.size).toBe(0), PATIENCE);
});

describe('there is no complete answer:', () => {
  test('the connection is refused', async () => {
    server.close();
    await once(server, 'close');
    expect(await post()).toMatchObject({
      kind: 'failed',
      detail: 'ECONNREFUSED (connect)',
      systemMessage: expect.stringContaining('127.0.0.1') as string,
    });
  });

  test('the connection breaks before the answer', async () => {
    answer = (request) => request.socket.destroy();
    expect(await post()).toMatchObject({ kind: 'failed', answered: false });
    expect(received).toEqual(['/']);
  });

  test('the connection breaks in the middle of the answer', async () => {
    answer = (request, response) => {
      response.writeHead(200, { 'Content-Length': '10' });
      response.write('12345', () => request.socket.destroy());
    };
    expect(await post()).toMatchObject({ kind: 'failed' });
  });

  test.each([
    ['nothing comes', () => undefined],
    ['it never ends', (_: IncomingMessage, response: ServerResponse) => response.write('{')],
  ])('%s: the connection is given up', async (_, silence) => {
    answer = silence;
    expect(await post('/', 50)).toMatchObject({ kind: 'timeout', detail: 'no complete answer within 50 ms' });
    await vi.waitFor(() => expect(sockets.size).toBe(0), PATIENCE);
  });

  test('it is not complete in time: the received part is kept', async () => {
    answer = (_, response) => response.writeHead(503).write('{');
    expect(await post('/', 500)).toMatchObject({
      kind: 'timeout',
      received: { status: 503, body: Buffer.from('{') },
    });
  });

  test.each([
    [
      '3 seconds',
      PATIENCE_MS,
      { kind: 'failed', answered: false, detail: /ConnectTimeoutError|CONNECT_TIMEOUT/ },
    ],
    ["the call's own time-out", 50, { kind: 'timeout', notSent: true, detail: /50 ms/ }],
  ])('connecting takes longer than %s', async (_, timeoutMs, { detail, ...outcome }) => {
    // The server accepts the connection and does not answer the TLS handshake.
    server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      sockets.add(socket.resume());
      socket.on('error', () => undefined).on('end', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    });
    url = url.replace('http:', 'https:');
    expect(await post('/', timeoutMs)).toMatchObject({
      ...outcome,
      detail: expect.stringMatching(detail) as string,
    });
    await vi.waitFor(() => expect(sockets.size).toBe(0), PATIENCE_MS);
  });

  test.each<[string, () => unknown]>([
    ['the connection is refused', () => server.close()],
    ['the name is not found', () => (url = 'http://nowhere.invalid')],
    ['the TLS handshake fails', () => (url = url.replace('http:', 'https:'))],
    ['the service has shut down', () => outbound.onApplicationShutdown()],
  ])('%s: nothing was sent', async (_, arrange) => {
    await arrange();
    expect(await post()).toMatchObject({
      kind: 'failed',
      answered: false,
      notSent: true,
      detail: expect.not.stringMatching(/127\.0\.0\.1|nowhere/) as string,
    });
  });

  test('the connection is lost after the request: it may have arrived', async () => {
    answer = (request) => request.socket.destroy();
    expect(await post()).not.toHaveProperty('notSent');
    answer = () => undefined;
    expect(await post('/', 1_000)).not.toHaveProperty('notSent');
  });

  test('the address is invalid', async () => {
    url = 'nowhere';
    expect(await post()).toMatchObject({
      kind: 'failed',
      notSent: true,
      detail: expect.stringContaining('ERR_INVALID_URL') as string,
    });
  });
});

describe('the connections of a tenant', () => {
  test('are its own, even if another tenant has the same address', async () => {
    const pending: ServerResponse[] = [];
    answer = (request, response) => (request.url === '/held' ? pending.push(response) : response.end());
    const holding = Array.from({ length: CALLS }, () => post('/held'));
    await vi.waitFor(() => expect(pending).toHaveLength(CALLS), PATIENCE);
    expect(await post('/other', PATIENCE_MS, 'another-operator')).toMatchObject({ kind: 'answered' });
    expect(sockets.size).toBe(CALLS + 1);
    for (const response of pending) response.end();
    for (const outcome of await Promise.all(holding)) expect(outcome.kind).toBe('answered');
  });

  test('to a former address remain until the calls under way have ended', async () => {
    const pending: ServerResponse[] = [];
    answer = (request, response) => (request.url === '/held' ? pending.push(response) : response.end());
    const holding = post('/held');
    await vi.waitFor(() => expect(pending).toHaveLength(1), PATIENCE);
    url += '/moved';
    expect(await post('/next')).toMatchObject({ kind: 'answered' });
    pending[0]?.end();
    expect(await holding).toMatchObject({ kind: 'answered' });
    expect(received).toEqual(['/held', '/moved/next']);
  });
});

describe('a kept connection', () => {
  let opened: number;
  beforeEach(() => {
    opened = 0;
    server.on('connection', () => (opened += 1));
    answer = (_, response) => response.end('{}');
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** undici reuses a connection in the turn of the event loop after the one in which its answer ended. */
  const postThenTurn = async () => {
    const outcome = await post();
    await turn();
    return outcome;
  };

  test('carries no call once it is 60 s old', async () => {
    const openedAt = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: openedAt });
    await postThenTurn();
    vi.setSystemTime(openedAt + 59_000);
    await postThenTurn();
    expect(opened).toBe(1);
    vi.setSystemTime(openedAt + 61_000);
    await postThenTurn();
    expect(opened).toBe(2);
  });

  test('delays no call when all connections are too old at once', async () => {
    const openedAt = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: openedAt });
    const together = () => Promise.all(Array.from({ length: CALLS }, () => post()));
    await together();
    await turn();
    vi.setSystemTime(openedAt + 61_000);
    for (const outcome of [await postThenTurn(), ...(await together())])
      expect(outcome).toMatchObject({ kind: 'answered' });
  });

  test.each([
    ['without a hint', undefined, 4_000],
    ['with a hint, less a second', 'timeout=10', 9_000],
    ['with a long hint', 'timeout=65', 30_000],
  ])('is closed when it is idle: %s', async (_, hint, idleMs) => {
    server.keepAliveTimeout = 0;
    answer = (_, response) => {
      if (hint !== undefined) response.setHeader('Keep-Alive', hint);
      response.end('{}');
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await postThenTurn();
    const [socket] = sockets;
    vi.advanceTimersByTime(idleMs - 1);
    await turn();
    expect(sockets.size).toBe(1);
    vi.advanceTimersByTime(1);
    await once(socket!, 'close');
  });

  test('is not kept if the hint leaves no second', async () => {
    answer = (_, response) => response.setHeader('Keep-Alive', 'timeout=1').end('{}');
    await postThenTurn();
    await postThenTurn();
    expect(opened).toBe(2);
  });

  test('is closed after a misdirected answer, before it carries another call', async () => {
    const carriers: Socket[] = [];
    server.on('request', ({ socket }) => carriers.push(socket));
    await outbound.post(call('/'), () => ({ kind: 'unknown', misdirected: true }));
    await postThenTurn();
    expect(carriers[1]).not.toBe(carriers[0]);
    await vi.waitFor(() => expect(sockets).not.toContain(carriers[0]), PATIENCE);
  });
});

describe('the encoding of an answer', () => {
  test('is asked to be none', async () => {
    let accepted: unknown;
    answer = (request, response) => {
      accepted = request.headers['accept-encoding'];
      response.end();
    };
    await post();
    expect(accepted).toBe('identity');
  });

  test.each(['gzip', 'br', 'deflate, gzip'])('%s is reported, and not decoded', async (encoding) => {
    answer = (_, response) => response.setHeader('Content-Encoding', encoding).end('coded');
    expect(await post()).toEqual({ kind: 'answered', status: 200, body: Buffer.from('coded'), encoding });
  });

  test.each(['identity', 'Identity', ''])('%j is none', async (encoding) => {
    answer = (_, response) => response.setHeader('Content-Encoding', encoding).end('{}');
    expect(await post()).not.toHaveProperty('encoding');
  });

  test('a byte order mark is skipped', async () => {
    answer = (_, response) => response.end('\uFEFF{}');
    expect(await post()).toMatchObject({ body: Buffer.from('{}') });
  });
});
