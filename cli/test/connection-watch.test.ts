import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ConnectionWatch } from '../src/certify/connection-watch.js';
import { PATIENCE } from '../../test/world/patience.js';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
const CLOSING = ANSWER.replace('\r\n', '\r\nConnection: close\r\n');
const UNTIL_CLOSE = 'HTTP/1.1 200 OK\r\n\r\n{}';

/** Makes two calls, one after the other, to a server that answers by `answer`. */
async function watched(answer: (socket: Socket, call: number) => unknown) {
  const sockets = new Set<Socket>();
  let calls = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', () => void answer(socket, (calls += 1)));
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true });
  onTestFinished(async () => {
    agent.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const watch = new ConnectionWatch();
  const call = async (name: string) => {
    const made = request({ agent, host: '127.0.0.1', port, method: 'POST' });
    watch.follow(made, name);
    made.end('{}');
    const [response] = (await once(made, 'response')) as [NodeJS.ReadableStream];
    response.resume();
    await once(response, 'end');
  };
  return { watch, call, sockets };
}

test('a second answer in the same packet is noticed', async () => {
  const { watch, call } = await watched((socket) => socket.write(ANSWER + ANSWER));
  await call('first');
  expect(watch.callsWithSurplus()).toEqual(['first']);
});

test('a second answer is noticed that arrives while the connection is idle', async () => {
  const { watch, call, sockets } = await watched((socket) => socket.write(ANSWER));
  await call('first');
  expect(watch.callsWithSurplus()).toEqual([]);
  for (const socket of sockets) socket.write(ANSWER);
  await vi.waitFor(() => expect(watch.callsWithSurplus()).toEqual(['first']), PATIENCE);
  await call('second');
  expect(watch.callsWithSurplus()).toEqual(['first']);
});

test('an answer that comes once too often is noticed, even if the next call takes it', async () => {
  const { watch, call } = await watched((socket, made) => {
    // The answer to the second call, which nothing waits for any more, is the surplus.
    if (made === 1) return void socket.write(ANSWER, () => setImmediate(() => socket.write(ANSWER)));
    socket.write(ANSWER);
  });
  await call('first');
  await call('second');
  await vi.waitFor(() => expect(watch.callsWithSurplus()).toHaveLength(1), PATIENCE);
});

test('a server that keeps the connection causes no alarm', async () => {
  const { watch, call } = await watched((socket) => socket.write(ANSWER));
  await call('first');
  await call('second');
  expect(watch.callsWithSurplus()).toEqual([]);
});

test.each<[string, (socket: Socket) => unknown]>([
  ['closes the connection with the answer', (socket) => socket.end(ANSWER)],
  ['says that it closes the connection', (socket) => socket.end(CLOSING)],
  ['leaves the closing to the client', (socket) => socket.write(CLOSING)],
  ['ends the answer by closing the connection', (socket) => socket.end(UNTIL_CLOSE)],
])('a server that %s causes no alarm', async (_, answer) => {
  const { watch, call, sockets } = await watched(answer);
  await call('first');
  await vi.waitFor(() => expect([...sockets].map(({ closed }) => closed)).toEqual([true]), PATIENCE);
  expect(watch.callsWithSurplus()).toEqual([]);
});
