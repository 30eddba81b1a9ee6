import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import type { FetchLike } from '../src/post.js';
import { BET, clientAt, failure, scriptedClient } from './support/scripted-client.js';
import { startTcp } from './support/tcp-server.js';

/** Time-out of attempts that cannot connect, in milliseconds. */
const timeoutMs = 300;
/** Time-out of attempts that connect, also on a busy machine, in milliseconds. */
const LONG_MS = 1_000;

/** A server whose accept queue is full: the kernel answers no further connection until `accept` is called. */
async function startDeaf() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { createServer } = require('node:net');
     const { parentPort, workerData } = require('node:worker_threads');
     const server = createServer((socket) => socket.on('error', () => undefined).on('data', (data) => parentPort.postMessage(String(data))));
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(workerData, 0, 0);
     });`,
    { eval: true, workerData: gate },
  );
  const [port] = (await once(worker, 'message')) as [number];
  const received: string[] = [];
  worker.on('message', (text: string) => received.push(text));
  const fillers: Socket[] = [];
  const accept = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  onTestFinished(async () => {
    for (const socket of fillers) socket.destroy();
    accept();
    await worker.terminate();
  });
  for (let isFull = false; !isFull;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    fillers.push(socket);
    await new Promise((resolve) => setTimeout(resolve, timeoutMs));
    // Timers run first: a process that was busy has not read yet that it is connected.
    await new Promise((resolve) => setImmediate(resolve));
    isFull = socket.connecting;
  }
  return { url: `http://127.0.0.1:${port}`, fillers, received, accept };
}

/** A server that accepts connections, and takes no notice of what they say. */
function startSilent(onData: (socket: Socket) => void = () => undefined) {
  return startTcp((socket) => {
    socket.on('error', () => undefined).on('data', () => onData(socket));
  });
}

test('a connection that the server does not accept in time: nothing was sent, and nothing is sent later', async () => {
  const { url, fillers, received, accept } = await startDeaf();
  const { client } = clientAt(url, { timeoutMs });
  expect(await failure(client.bet(BET))).toMatchObject({
    name: 'NetworkError',
    message: expect.stringContaining(`was not connected within ${timeoutMs} ms`) as string,
    timedOut: true,
    outcome: 'not-booked',
  });
  expect(await failure(client.bet(BET, { sentBefore: true }))).toMatchObject({ outcome: 'unknown' });
  for (const filler of fillers) filler.write('filler');
  accept();
  await expect.poll(() => received.length).toBe(fillers.length);
  expect(new Set(received)).toEqual(new Set(['filler']));
});

test('a TLS handshake that the server does not answer in time, or breaks off', async () => {
  const silent = await startSilent();
  const { client } = clientAt(`https://${silent}`, { timeoutMs });
  expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true, outcome: 'not-booked' });
  const rude = await startSilent((socket) => socket.resetAndDestroy());
  const refused = await failure(clientAt(`https://${rude}`).client.bet(BET));
  expect(refused).toMatchObject({ timedOut: false, outcome: 'not-booked' });
});

test('a request on a new connection that is not answered in time may be booked', async () => {
  const { client, received } = await scriptedClient(['hang'], { timeoutMs: LONG_MS });
  expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true, outcome: 'unknown' });
  expect(received).toHaveLength(1);
});

test('a request on a connection that is used again may be booked', async () => {
  const { client, connections } = await scriptedClient([{ status: 418 }, 'hang'], { timeoutMs: LONG_MS });
  await failure(client.bet(BET));
  expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true, outcome: 'unknown' });
  expect(connections()).toBe(1);
});

test('another fetch: the client does not know whether it has connected', async () => {
  const { url } = await startDeaf();
  const fetch: FetchLike = (to, { signal, body, ...init }) =>
    new Promise((_, reject) => {
      requestHttp(to, { ...init, signal })
        .on('error', reject)
        .end(body);
    });
  const { client } = clientAt(url, { timeoutMs, fetch });
  expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true, outcome: 'unknown' });
});
