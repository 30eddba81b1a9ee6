import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  CALLBACK_ROUTES,
  createCallbackHandler,
  type Revocation,
  signRequest,
  toExpressHandler,
  toFetchHandler,
  toNestHandler,
  toNodeListener,
} from '../src/index.js';

const TENANT = { tenantId: 'spinwell', secret: 'secret' };
const BODY = JSON.stringify({
  revocationRef: 'v-1',
  sessionId: 's-1',
  playerRef: 'ann',
  gameId: 'reels',
  reason: 'KICK',
  revokedAt: '2027-01-15T08:00:00.000Z',
});

const revocations: Revocation[] = [];
const errors: unknown[] = [];
beforeEach(() => {
  revocations.length = errors.length = 0;
});
const handler = createCallbackHandler({
  ...TENANT,
  onRevoke: (revocation) => revocations.push(revocation),
  onError: (error) => errors.push(error),
});

let server: ReturnType<typeof createServer> | undefined;
afterEach(async () => {
  if (!server) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  server = undefined;
});

async function listen(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let nonces = 0;
function headersOf(path: string, body = BODY): Record<string, string> {
  const nonce = `nonce-${(nonces += 1)}-of-adapters`;
  const signed = signRequest({ method: 'POST', path, body, ...TENANT, nonce, now: Date.now() / 1000 });
  return { ...signed, 'Content-Type': 'application/json' };
}

async function revoke(origin: string, path = CALLBACK_ROUTES.revoke as string): Promise<number> {
  const response = await fetch(origin + path, { method: 'POST', headers: headersOf(path), body: BODY });
  await response.arrayBuffer();
  return response.status;
}

test('Express: the signed path is the complete one, wherever the handler is mounted', async () => {
  const app = express();
  app.use('/rgs', express.Router().use('/eu', toExpressHandler(handler)));
  expect(await revoke(await listen(app), `/rgs/eu${CALLBACK_ROUTES.revoke}`)).toBe(200);
  expect(revocations).toHaveLength(1);
});

test('Express: the body that express.raw() read is used', async () => {
  const app = express();
  app.use(express.raw({ type: '*/*' }), toExpressHandler(handler));
  expect(await revoke(await listen(app))).toBe(200);
});

/** Keeps the raw body as the request's property, as Google Cloud Functions do. */
const keepRawBody = (request: IncomingMessage, _: unknown, buffer: Buffer) =>
  void Object.assign(request, { rawBody: buffer });

test.each<[string, RequestHandler]>([
  ['express.json({verify})', express.json({ verify: keepRawBody })],
  [
    'express.json({verify}) that keeps a text',
    express.json({
      verify: (request, _, buffer) => void Object.assign(request, { rawBody: buffer.toString() }),
    }),
  ],
])('Express: the rawBody that %s kept is used', async (_, parser) => {
  const app = express();
  app.use(parser, toExpressHandler(handler));
  expect(await revoke(await listen(app))).toBe(200);
  expect(revocations).toHaveLength(1);
});

test('Express: a rawBody that is not what was signed is refused, and one that is too large', async () => {
  const app = express();
  let rawBody: unknown = Buffer.from('{}');
  app.use(express.json(), (request, _, next) => {
    Object.assign(request, { rawBody });
    next();
  });
  app.use(toExpressHandler(handler));
  const origin = await listen(app);
  expect(await revoke(origin)).toBe(401);
  rawBody = 'gone';
  expect(await revoke(origin)).toBe(401);
  rawBody = Buffer.alloc(handler.maxBodyBytes + 1);
  expect(await revoke(origin)).toBe(413);
  expect(revocations).toEqual([]);
});

test('node:http: the rawBody of a cloud function is used', async () => {
  const app = express();
  app.use(express.json({ verify: keepRawBody }), toNodeListener(handler));
  expect(await revoke(await listen(app))).toBe(200);
});

test('Nest: the body that express.raw() read is used', async () => {
  const app = express();
  const handle = toNestHandler(handler);
  app.use(express.raw({ type: '*/*' }));
  app.post(CALLBACK_ROUTES.revoke, (request, response) => void handle(request, response));
  expect(await revoke(await listen(app))).toBe(200);
});

test('Express: after express.json() every call is refused, and the log says why', async () => {
  const app = express();
  app.use(express.json(), toExpressHandler(handler));
  expect(await revoke(await listen(app))).toBe(500);
  expect(String(errors[0])).toContain('before express.json()');
  expect(revocations).toEqual([]);
});

test('Nest: without rawBody every call is refused, and the log says why', async () => {
  const app = express();
  const handle = toNestHandler(handler);
  app.use(express.json());
  app.post(CALLBACK_ROUTES.revoke, (request, response) => void handle(request, response));
  expect(await revoke(await listen(app))).toBe(500);
  expect(String(errors[0])).toContain('{rawBody: true}');
});

test('node:http: a request that is not a callback goes to the next handler, or is a 404', async () => {
  const listener = toNodeListener(handler);
  const origin = await listen((request, response) => {
    if (request.url === '/bare') listener(request, response);
    else listener(request, response, () => response.writeHead(204).end());
  });
  expect((await fetch(`${origin}/elsewhere`)).status).toBe(204);
  expect((await fetch(`${origin}/bare`)).status).toBe(404);
  expect(await revoke(origin)).toBe(200);
});

test('node:http: a caller that disconnects halfway affects no other', async () => {
  const origin = await listen(toNodeListener(handler));
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  const path = CALLBACK_ROUTES.revoke;
  const headers = Object.entries(headersOf(path)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers.join('')}Content-Length: ${BODY.length}\r\n\r\n{`,
  );
  await once(server!, 'request');
  socket.destroy();
  expect(await revoke(origin)).toBe(200);
  expect(errors).toEqual([]);
});

test('node:http: a body without an end is cut off', async () => {
  const origin = await listen(toNodeListener(handler));
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`POST ${CALLBACK_ROUTES.revoke} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const flood = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', flood);
  flood();
  // Writing to the closed connection fails, as expected.
  await new Promise((resolve) => socket.once('close', resolve));
  expect(await revoke(origin)).toBe(200);
});

test.each([
  ['large', 1024, 70],
  ['tiny', 1, 4_100],
])('fetch: a body of %s chunks without an end is cut off', async (_, chunkBytes, most) => {
  let chunks = 0;
  const cancelled = vi.fn();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      chunks += 1;
      controller.enqueue(new Uint8Array(chunkBytes));
    },
    cancel: cancelled,
  });
  const url = `http://127.0.0.1${CALLBACK_ROUTES.revoke}`;
  const answer = await toFetchHandler(handler)(new Request(url, { method: 'POST', body, duplex: 'half' }));
  expect(answer.status).toBe(413);
  expect(chunks).toBeLessThan(most);
  expect(cancelled).toHaveBeenCalled();
});

test('fetch: after the body was read every call is refused, and the log says why', async () => {
  const url = `http://127.0.0.1${CALLBACK_ROUTES.revoke}`;
  const request = new Request(url, {
    method: 'POST',
    headers: headersOf(CALLBACK_ROUTES.revoke),
    body: BODY,
  });
  await request.json();
  expect((await toFetchHandler(handler)(request)).status).toBe(500);
  expect(String(errors[0])).toContain('the raw body is missing');
});

test('fetch: a call whose connection is lost is rejected', async () => {
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('reset')) });
  const url = `http://127.0.0.1${CALLBACK_ROUTES.revoke}`;
  const request = new Request(url, { method: 'POST', body, duplex: 'half' });
  await expect(toFetchHandler(handler)(request)).rejects.toThrow('reset');
});
