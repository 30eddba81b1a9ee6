import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Certificate, createCertificate } from '../../test/engines/certificate.js';
import { APPROVED, BET, clientAt, failure } from './support/scripted-client.js';
import { startTcp } from './support/tcp-server.js';

/** Enough for a handshake on a busy machine, in milliseconds. */
const timeoutMs = 2_000;

let certificate: Certificate;
beforeAll(async () => {
  certificate = await createCertificate();
});
afterAll(() => certificate.remove());

type Act = (response: ServerResponse, request: IncomingMessage) => void;
const approve: Act = (response) => void response.end(JSON.stringify(APPROVED));
const ignore: Act = () => undefined;

/** A server that reacts to each request with the next act, and answers no handshake beyond the given number. */
async function startTls(handshakes: number, ...acts: Act[]) {
  let requests = 0;
  const files = { cert: readFileSync(certificate.certificate), key: readFileSync(certificate.key) };
  const secure = createServer(files, (request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      acts.shift()!(response, request);
    });
  });
  let connections = 0;
  const address = await startTcp((socket) => {
    connections += 1;
    if (connections <= handshakes) secure.emit('connection', socket);
    else socket.resume();
  });
  // The client has no option for an authority: Node reads this variable for each connection.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  return { url: `https://${address}`, requests: () => requests, connections: () => connections };
}

test('a request that is not answered in time may be booked, on a new connection and on one used again', async () => {
  const { url, requests, connections } = await startTls(2, ignore, approve, ignore);
  const { client } = clientAt(url, { timeoutMs });
  expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true, outcome: 'unknown' });
  expect(await client.bet(BET)).toEqual(APPROVED);
  expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true, outcome: 'unknown' });
  expect({ requests: requests(), connections: connections() }).toEqual({ requests: 3, connections: 2 });
});

test('a second connection without an answer to its handshake: nothing was sent', async () => {
  const { url, requests, connections } = await startTls(1, (response) => {
    response.setHeader('Connection', 'close').end(JSON.stringify(APPROVED));
  });
  const { client } = clientAt(url, { timeoutMs });
  expect(await client.bet(BET)).toEqual(APPROVED);
  expect(await failure(client.bet(BET))).toMatchObject({ timedOut: true, outcome: 'not-booked' });
  expect({ requests: requests(), connections: connections() }).toEqual({ requests: 1, connections: 2 });
});

test('a call that may have been booked stays so if its next attempt does not connect', async () => {
  const { url, requests } = await startTls(1, (_, request) => request.socket.destroy());
  const { client } = clientAt(url, { timeoutMs });
  expect(await failure(client.bet(BET, { retry: true, maxAttempts: 2 }))).toMatchObject({
    outcome: 'unknown',
    attempts: [{ outcome: 'unknown' }, { outcome: 'not-booked' }],
  });
  expect(requests()).toBe(1);
});
