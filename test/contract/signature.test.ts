import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  type Reply,
  type SignedOptions,
  useWorld,
} from '../world/world.js';

const world = useWorld();

const VERIFY = '/v1/wallet/session/verify';
const LAUNCH = '/v1/operator/sessions';
const TOKEN = { sessionToken: 'unknown' };

function expectInvalidSignature(reply: Reply): void {
  expect(reply.status).toBe(401);
  expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(reply.text).toBe('invalid signature');
  expect(reply.headers.get('x-error-code')).toBeNull();
  expect(reply.headers.get('x-request-id')).not.toBeNull();
}

/** The signature was valid: the request reached the check of its session. */
const expectAccepted = (reply: Reply) => expect(reply.headers.get('x-error-code')).toBe('SESSION_INVALID');

async function withHeaders(
  change: (headers: Record<string, string>) => Record<string, string>,
): Promise<Reply> {
  const body = JSON.stringify(TOKEN);
  const headers = { 'Content-Type': 'application/json', ...world.signature(PROVIDER, VERIFY, body) };
  return world.request(VERIFY, { method: 'POST', headers: change(headers), body });
}

describe('a signature is refused', () => {
  test.each(['X-Tenant-ID', 'X-Timestamp', 'X-Nonce', 'X-Signature'])('without %s', async (name) => {
    const reply = await withHeaders((headers) =>
      Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)),
    );
    expectInvalidSignature(reply);
  });

  test.each<[string, SignedOptions]>([
    ['with a wrong key', { secret: 'wrong' }],
    ['of an unknown tenant', { tenantId: 'nobody' }],
    ['of another provider under this name', { tenantId: OTHER_PROVIDER }],
    ['that is too old', { timestamp: Date.now() / 1000 - 330 }],
    ['from the future', { timestamp: Date.now() / 1000 + 400 }],
    ['in milliseconds', { timestamp: Date.now() }],
    ['with a short nonce', { nonce: 'short' }],
    ['with a long nonce', { nonce: 'n'.repeat(129) }],
    ['with a nonce of other characters', { nonce: 'nonce/nonce' }],
  ])('%s', async (_, options) => {
    expectInvalidSignature(await world.signed(PROVIDER, VERIFY, TOKEN, options));
  });

  test('in upper-case hex digits', async () => {
    const reply = await withHeaders((headers) => ({
      ...headers,
      'X-Signature': (headers['X-Signature'] ?? '').toUpperCase(),
    }));
    expectInvalidSignature(reply);
  });

  test('over another body, path or method', async () => {
    const nonce = () => randomUUID();
    const over = (path: string, body: string, method = 'POST') =>
      world.signature(PROVIDER, path, body, { nonce: nonce(), method });
    const body = JSON.stringify(TOKEN);
    for (const headers of [
      over(VERIFY, body + ' '),
      over(`${VERIFY}?a=1`, body),
      over(VERIFY, body, 'PUT'),
    ]) {
      const init = { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
      expectInvalidSignature(await world.request(VERIFY, init));
    }
  });

  test("of an operator on a provider's route, and the other way round", async () => {
    expectInvalidSignature(await world.signed(OPERATOR, VERIFY, TOKEN));
    expectInvalidSignature(await world.signed(PROVIDER, '/v1/operator/sessions', {}));
  });

  test.each([
    ['provider', PROVIDER, VERIFY],
    ['operator', OPERATOR, '/v1/operator/sessions'],
  ])('whose nonce was used before (%s)', async (_, tenant, path) => {
    const nonce = randomUUID();
    const first = await world.signed(tenant, path, TOKEN, { nonce });
    expect(first.headers.get('content-type')).toContain('json');
    expectInvalidSignature(await world.signed(tenant, path, TOKEN, { nonce }));
    expectInvalidSignature(await world.signed(tenant, path, { sessionToken: 'another' }, { nonce }));
  });

  test('whose nonce is used twice at once: one of a hundred passes', async () => {
    const nonce = randomUUID();
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => world.signed(PROVIDER, VERIFY, TOKEN, { nonce })),
    );
    const passed = replies.filter(({ headers }) => headers.get('x-error-code') === 'SESSION_INVALID');
    expect(passed).toHaveLength(1);
    for (const reply of replies) if (reply !== passed[0]) expectInvalidSignature(reply);
  });
});

describe('a signature is accepted', () => {
  test.each([-295, 295])('%i seconds off', async (offset) => {
    expectAccepted(
      await world.signed(PROVIDER, VERIFY, TOKEN, { timestamp: world.clock.unixSeconds() + offset }),
    );
  });

  test('with a query string, which is signed', async () => {
    expectAccepted(await world.signed(PROVIDER, `${VERIFY}?trace=a%20b&x=1`, TOKEN));
  });

  test('with the nonce of a failed signature, and of another tenant', async () => {
    const nonce = randomUUID();
    expectInvalidSignature(await world.signed(PROVIDER, VERIFY, TOKEN, { nonce, secret: 'wrong' }));
    expectAccepted(await world.signed(PROVIDER, VERIFY, TOKEN, { nonce }));
    expectAccepted(await world.signed(OTHER_PROVIDER, VERIFY, TOKEN, { nonce }));
  });

  test('over the bytes as they are sent, whatever their spelling', async () => {
    expectAccepted(await world.signed(PROVIDER, VERIFY, '{ "sessionToken" :\r\n "\\u0041\u00e4" }\n'));
  });
});

describe('the order of checks', () => {
  test.each([
    ['POST', '/v1/wallet/nope'],
    ['GET', VERIFY],
    ['PUT', '/v1/wallet/transaction'],
    ['OPTIONS', '/v1/wallet/transaction'],
    ['POST', '/v1/rgs/behavior'],
    ['POST', '/V1/wallet/balance'],
    ['POST', '/v1/wallet/balance/'],
    ['GET', '/'],
    ['POST', '/v1/operator/sessions/%E9/revoke'],
  ])('%s %s is 404 before anything else, however large its body', async (method, path) => {
    const body = method === 'GET' || method === 'OPTIONS' ? {} : { body: 'x'.repeat(100_000) };
    const reply = await world.request(path, { method, ...body });
    expect(reply.status).toBe(404);
    expect(reply.text).toBe('{"error":"not found"}');
    expect(reply.headers.get('x-request-id')).not.toBeNull();
  });

  test('a body over 64 KiB is 413 before the signature, one of 64 KiB is not', async () => {
    const tooLarge = await world.request(VERIFY, { method: 'POST', body: 'x'.repeat(65_537) });
    expect(tooLarge.status).toBe(413);
    expect(tooLarge.headers.get('x-error-code')).toBe('PAYLOAD_TOO_LARGE');
    const largest = JSON.stringify({ ...TOKEN, extra: 'x'.repeat(65_536) }).slice(0, 65_534) + '"}';
    expect(Buffer.byteLength(largest)).toBe(65_536);
    expectAccepted(await world.signed(PROVIDER, VERIFY, largest));
  });

  test('a body without a length and without an end has its connection closed', async () => {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`POST ${VERIFY} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    const flood = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    const answer: Buffer[] = [];
    socket.on('drain', flood).on('error', () => undefined);
    socket.on('data', (data: Buffer) => answer.push(data));
    flood();
    await new Promise((resolve) => socket.once('close', resolve));
    // A client that keeps sending may lose the answer when the connection is reset.
    if (answer.length > 0) expect(Buffer.concat(answer).toString()).toMatch(/^HTTP\/1\.1 413 /);
    expectAccepted(await world.signed(PROVIDER, VERIFY, TOKEN));
  });

  test('a compressed body is 415 before the signature', async () => {
    const reply = await world.request(VERIFY, {
      method: 'POST',
      body: gzipSync('{}'),
      headers: { 'Content-Encoding': 'gzip' },
    });
    expect(reply.status).toBe(415);
    expect(reply.headers.get('x-error-code')).toBe('UNSUPPORTED_ENCODING');
  });

  test('Content-Encoding identity is accepted', async () => {
    expectAccepted(
      await world.signed(PROVIDER, VERIFY, TOKEN, { headers: { 'Content-Encoding': 'identity' } }),
    );
  });

  test('a broken body is 401 without a signature, 400 with one', async () => {
    const headers = { 'Content-Type': 'application/json' };
    expectInvalidSignature(await world.request(VERIFY, { method: 'POST', body: '{broken', headers }));
    expect((await world.signed(PROVIDER, VERIFY, '{broken')).status).toBe(400);
  });

  test('a failed signature costs no database access', async () => {
    const statements = vi.spyOn(pg.Client.prototype, 'query');
    onTestFinished(() => statements.mockRestore());
    await world.launch();
    expect(statements).toHaveBeenCalled();
    statements.mockClear();
    for (let index = 0; index < 100; index += 1) {
      await world.signed(PROVIDER, VERIFY, TOKEN, { secret: 'wrong' });
      await world.signed(OPERATOR, LAUNCH, {}, { secret: 'wrong' });
      await world.signed(OPERATOR, LAUNCH, {}, { tenantId: 'nobody' });
    }
    // Only background work has sent some in between.
    expect(statements.mock.calls.length).toBeLessThan(100);
  });
});

describe('the request id', () => {
  test('is the caller’s if it is valid', async () => {
    const reply = await world.signed(PROVIDER, VERIFY, TOKEN, {
      headers: { 'X-Request-Id': 'trace-1:a.b_c' },
    });
    expect(reply.headers.get('x-request-id')).toBe('trace-1:a.b_c');
  });

  test.each(['has spaces', 'x'.repeat(129), '{"a":1}', ''])(
    'is a new one instead of %j',
    async (requestId) => {
      const reply = await world.signed(PROVIDER, VERIFY, TOKEN, { headers: { 'X-Request-Id': requestId } });
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});

test('an absolute or non-ASCII request target does not bypass the signature', async () => {
  const refused = [`http://evil.example${VERIFY}`, `${VERIFY}?é`];
  const unreadable = ['http://?x', `http://[a${VERIFY}`];
  for (const target of [...refused, ...unreadable]) {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.end(`POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answer = Buffer.concat(chunks).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    if (unreadable.includes(target)) expect(answer).toMatch(/^X-Error-Code: \w+\r$/im);
  }
});

test('no answer names the framework', async () => {
  const reply = await world.request('/health/live');
  expect(reply.headers.get('x-powered-by')).toBeNull();
  expect(reply.headers.get('etag')).toBeNull();
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
});
