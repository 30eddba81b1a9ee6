import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClientConnection } from '../../../src/server/connection.js';
import { kernelProgress } from '../../../src/server/node-internals.js';

const TIMEOUT_MS = 30_000;
/** More than the kernel buffers without a reader. */
const ANSWER = Buffer.alloc(32 * 1024 * 1024);

let listener: Server;
let client: Socket;
let socket: Socket;
let connection: ClientConnection;
let nowMs: number;
const report = vi.fn();

beforeEach(async () => {
  report.mockClear();
  nowMs = 0;
  listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  client = connect((listener.address() as { port: number }).port, '127.0.0.1').pause();
  [socket] = (await once(listener, 'connection')) as [Socket];
  const limits = { unansweredRequests: 16, unreadAnswerTimeoutMs: TIMEOUT_MS };
  connection = new ClientConnection(socket, limits, report, () => nowMs);
});

afterEach(() => {
  client.destroy();
  socket.destroy();
  listener.close();
});

function checkAt(ms: number): void {
  nowMs = ms;
  connection.check();
}

test('a connection without a pending answer may be idle for any time', () => {
  for (const ms of [0, TIMEOUT_MS, 10 * TIMEOUT_MS]) checkAt(ms);
  expect([socket.destroyed, report.mock.calls]).toEqual([false, []]);
});

test('an answer that is not read is given up after the time-out', () => {
  socket.write(ANSWER);
  checkAt(1_000);
  checkAt(TIMEOUT_MS + 999);
  expect(socket.destroyed).toBe(false);
  checkAt(TIMEOUT_MS + 1_000);
  expect([socket.destroyed, report.mock.calls]).toEqual([true, [['unread-answer']]]);
});

test('an answer that is read slowly is not', async () => {
  socket.write(ANSWER);
  checkAt(0);
  const { sentBytes } = kernelProgress(socket);
  client.resume().on('data', () => kernelProgress(socket).sentBytes > sentBytes && client.pause());
  await vi.waitFor(() => expect(kernelProgress(socket).sentBytes).toBeGreaterThan(sentBytes));
  client.pause();
  expect(kernelProgress(socket).waitingBytes).toBeGreaterThan(0);
  checkAt(TIMEOUT_MS);
  expect(socket.destroyed).toBe(false);
});
