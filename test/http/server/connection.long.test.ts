import { once } from 'node:events';
import { IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pauseOf } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { isCutOff } from '../../../src/api/cut-off.js';
import { AddressLimit } from '../../../src/server/address-limit.js';
import { createNodeServer } from '../../../src/server/node-server.js';
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../../../src/server/server-limits.js';
import { PATIENCE } from '../../world/patience.js';

const TIMEOUT_MS = 200;
/** More than the kernel buffers without a reader. */
const ANSWER = Buffer.alloc(64 * 1024 * 1024);
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let client: Socket;
const connectionDestroyed = vi.fn();

afterEach(() => {
  client.destroy();
  server.close();
  connectionDestroyed.mockClear();
});

/** Starts a server and sends it the request on a connection whose client reads nothing yet. */
async function send(
  request: string,
  handle: RequestListener,
  limits: Partial<ServerLimits> = {},
): Promise<void> {
  server = createNodeServer(
    { IncomingMessage, ServerResponse },
    handle,
    { ...DEFAULT_SERVER_LIMITS, unreadAnswerTimeoutMs: TIMEOUT_MS, ...limits },
    new AddressLimit(1, () => false),
    { reportMalformed: () => '', connectionDestroyed },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as { port: number }).port, '127.0.0.1', () => client.write(request));
  client.pause().on('error', () => undefined);
}

/** Reads at least so many bytes. */
async function read(bytes: number): Promise<void> {
  const atLeast = client.bytesRead + bytes;
  const reading = new Promise<void>((resolve) => {
    client.on('data', () => client.bytesRead >= atLeast && resolve());
  });
  client.resume();
  await reading;
  client.removeAllListeners('data').pause();
}

test('an answer that is read slowly is sent, until its client stops reading', async () => {
  // The time-out leaves room for a busy machine; together, the pauses last longer.
  await send(GET, (_, response) => response.end(ANSWER), { unreadAnswerTimeoutMs: 5 * TIMEOUT_MS });
  for (let pauses = 0; pauses < 8; pauses += 1) {
    await pauseOf(TIMEOUT_MS);
    await read(4 * 1024 * 1024);
    expect(connectionDestroyed).not.toHaveBeenCalled();
  }
  await vi.waitFor(
    () => expect(connectionDestroyed.mock.calls).toEqual([['unread-answer', '127.0.0.1']]),
    PATIENCE,
  );
});

test('an answer that is still being sent when the server closes arrives completely', async () => {
  await send(GET, (_, response) => response.end(ANSWER), { unreadAnswerTimeoutMs: 10_000 });
  await read(1024 * 1024);
  server.close();
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  await pauseOf(TIMEOUT_MS);
  // The connection was kept alive; once it is idle, the server closes it.
  await once(client.resume(), 'close');
  clearInterval(closing);
  expect(client.bytesRead).toBeGreaterThan(ANSWER.length);
});

test('a connection whose refused request arrived late is idle when the server closes', async () => {
  await send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n', (_, response) => response.end('no'));
  const socket = await new Promise<Socket>((resolve) =>
    server.on('request', (request) => resolve(request.socket)),
  );
  await once(client.resume(), 'data');
  const before = socket.bytesRead;
  client.write('body');
  await vi.waitUntil(() => socket.bytesRead > before, PATIENCE);
  server.close();
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  await once(client, 'close', { signal: AbortSignal.timeout(PATIENCE.timeout) });
  clearInterval(closing);
});

test('bytes of a further request do not keep an answer that is not read', async () => {
  const limits = { headersTimeoutMs: TIMEOUT_MS, checkEveryMs: 20 };
  await send(`${GET}GET / HTTP/1.1\r\nX: `, (_, response) => response.end(ANSWER), limits);
  const trickle = setInterval(() => client.write('x'), TIMEOUT_MS / 4);
  await vi.waitFor(
    () => expect(connectionDestroyed.mock.calls).toEqual([['unread-answer', '127.0.0.1']]),
    PATIENCE,
  );
  clearInterval(trickle);
});

test('a request may be processed for longer than an answer may wait', async () => {
  let answer = (): void => undefined;
  await send(GET, (request, response) => {
    request.socket.once('timeout', () => setImmediate(answer));
    answer = () => void response.end('late');
  });
  const [chunk] = (await once(client.resume(), 'data')) as [Buffer];
  expect(chunk.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]+late$/);
});

test('a client that sends more than a megabyte after its refusal is cut off', async () => {
  const refuse: RequestListener = (_, response) => response.setHeader('Connection', 'close').end('refused');
  await send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${ANSWER.length}\r\n\r\n`, refuse);
  const socket = await new Promise<Socket>((resolve) =>
    server.on('request', (request) => resolve(request.socket)),
  );
  await once(client.resume(), 'data');
  client.write(ANSWER);
  await once(socket, 'close');
  expect(socket.bytesRead).toBeGreaterThan(1024 * 1024);
  expect(socket.bytesRead).toBeLessThan(2 * 1024 * 1024);
});

test('a connection beyond the bound of the server is closed and reported', async () => {
  await send(GET, () => undefined, { connections: 1 });
  await once(server, 'request');
  const further = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(further.resume(), 'close', { signal: AbortSignal.timeout(PATIENCE.timeout) });
  expect(connectionDestroyed.mock.calls).toEqual([['server-limit', '127.0.0.1']]);
  expect(client.destroyed).toBe(false);
});

test.each([
  ['that is destroyed at the limit of a stop is', true, () => server.closeAllConnections()],
  ['whose client disconnects is not', false, () => client.destroy()],
])('an unanswered request on a connection %s cut off by the service', async (_, cutOff, close) => {
  await send(GET, () => undefined);
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  close();
  await once(response, 'close', { signal: AbortSignal.timeout(PATIENCE.timeout) });
  expect(isCutOff(response)).toBe(cutOff);
});
