import { Test } from '@nestjs/testing';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppModule } from '../../src/app.module.js';
import { readConfiguration } from '../../src/config/configuration.js';
import { APPLICATION_OPTIONS, setUp } from '../../src/server/application.js';
import { CroupierExpressAdapter } from '../../src/server/express-adapter.js';
import type { ServerLimits } from '../../src/server/server-limits.js';
import { ServiceLogger } from '../../src/observability/logging.js';
import { ADMIN_KEY, PROVIDER, useWorld } from '../world/world.js';

const lines: string[] = [];
const world = useWorld(
  { LOG_LEVEL: 'trace', DOCS_ENABLED: 'true' },
  { write: (line: string) => void lines.push(line) },
);

/** All data that is received until the connection is closed. */
async function answerTo(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

function raw(bytes: string, url = world.url): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  return answerTo(socket);
}

describe('a client that is slow', () => {
  let slow: Awaited<ReturnType<typeof startWith>>;

  beforeAll(async () => {
    slow = await startWith({
      headersTimeoutMs: 200,
      requestTimeoutMs: 400,
      checkEveryMs: 20,
      headerBytes: 2048,
      unreadAnswerTimeoutMs: 200,
    });
  });

  afterAll(() => slow.app.close());

  async function startWith(limits: Partial<ServerLimits>) {
    const configuration = readConfiguration({
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_API_KEY: ADMIN_KEY,
      LOG_LEVEL: 'silent',
      SECRETS_KEY: Buffer.alloc(32, 'test').toString('base64'),
      DATABASE_URL: world.databaseUrl,
    });
    const module = await Test.createTestingModule({ imports: [AppModule.with(configuration)] }).compile();
    const app = module.createNestApplication(
      new CroupierExpressAdapter(configuration, limits),
      APPLICATION_OPTIONS,
    );
    setUp(app);
    // Nest has one logger per process, so the lines of the world are read below.
    app.useLogger(world.app.get(ServiceLogger));
    await app.listen(0, '127.0.0.1');
    return { app, url: await app.getUrl() };
  }

  test('with its headers is answered 408 and cut off', async () => {
    const answer = await raw('POST /v1/wallet/balance HTTP/1.1\r\nHost: x\r\nX-Slow: ', slow.url);
    expect(answer).toMatch(
      /^HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\nX-Request-Id: [\w-]{36}\r\n\r\n$/,
    );
  });

  test('with its body is cut off', async () => {
    const head = 'POST /v1/wallet/balance HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n';
    expect(await raw(`${head}{`, slow.url)).not.toContain('HTTP/1.1 200');
  });

  test('cannot open more connections than the bound', async () => {
    // With the default time-outs, which do not close the idle connections before the third one opens.
    const { app, url } = await startWith({ connections: 2 });
    const { hostname, port } = new URL(url);
    const idle = [1, 2].map(() => connect(Number(port), hostname));
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    const third = connect(Number(port), hostname);
    expect(await answerTo(third)).toBe('');
    for (const socket of idle) socket.destroy();
    await app.close();
  });
});

test('the default limits suit a server on the internet', () => {
  const server = world.app.getHttpServer();
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, maxConnections: 10_000 });
});

test('headers have a bound', async () => {
  const answer = await raw(`GET /health/live HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(17_000)}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
});

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  [
    'a request with both framings',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'a request that is two, the other way round',
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n',
  ],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx'],
  ['a header with a bare line feed', 'GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\nb\r\nb\r\n\r\n'],
])('%s is a bare 400 with an id, which is on its log line', async (_, bytes) => {
  const answer = await raw(bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).not.toMatch(/node|express|nest|at .*\.js/i);
  const [, requestId] = /\r\nX-Request-Id: ([\w-]{36})\r\n/.exec(answer) ?? [];
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ requestId, msg: 'broken HTTP refused', status: '400 Bad Request' }),
  );
});

describe('a violation of HTTP', () => {
  const BALANCE = '/v1/wallet/balance HTTP/1.1\r\nHost: x\r\n';

  test.each([
    ['no host', 'GET /health/live HTTP/1.1\r\n', 400],
    ['two hosts', 'GET /health/live HTTP/1.1\r\nHost: x\r\nHOST: x\r\n', 400],
    [
      'a second host behind many headers',
      `GET /health/live HTTP/1.1\r\nHost: x\r\n${'a:b\r\n'.repeat(2000)}Host: y\r\n`,
      400,
    ],
    ['an invalid host', 'GET /health/live HTTP/1.1\r\nHost: x y\r\n', 400],
    [
      'an unknown coding behind many headers',
      `POST ${BALANCE}${'a:b\r\n'.repeat(2000)}Transfer-Encoding: gzip, chunked\r\n`,
      501,
    ],
    ['an unknown coding', `POST ${BALANCE}Transfer-Encoding: gzip, chunked\r\n`, 501],
    [
      'chunks before HTTP/1.1',
      'POST /v1/wallet/balance HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n',
      400,
    ],
  ])('%s is refused with the id of the request', async (_, head, status) => {
    const answer = await raw(`${head}X-Request-Id: forbidden\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nx-request-id: forbidden\r\n/);
    expect(answer).toMatch(/\r\nx-error-code: INVALID_REQUEST\r\n/);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer).toMatch(/\r\n\r\n\{"error":"[^"]+"\}$/);
  });

  test.each(['gzip', 'identity', 'chunked, gzip', 'gzip, chunked'])(
    'the Transfer-Encoding %s is a 501, once, and closes the connection',
    async (coding) => {
      const answer = await raw(`POST ${BALANCE}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 501 Not Implemented\r\n/);
      expect(answer).toMatch(/\r\nx-request-id: [\w-]{36}\r\n/i);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    },
  );

  test('CONNECT is answered 404, as every unknown method is', async () => {
    const answer = await raw('CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\nX-Request-Id: tunnel\r\n\r\n');
    expect(answer).toBe('HTTP/1.1 404 Not Found\r\nConnection: close\r\nX-Request-Id: tunnel\r\n\r\n');
  });

  test('CONNECT behind an unanswered request is not answered before it', async () => {
    const session = await world.launch();
    const body = JSON.stringify(world.transaction(session, 'BET'));
    const held = world.wallet.next({ do: 'hold' }, {});
    const signature = Object.entries(world.signature(PROVIDER, '/v1/wallet/transaction', body))
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    const answer = raw(
      `POST /v1/wallet/transaction HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${signature}` +
        `Content-Length: ${body.length}\r\n\r\n${body}CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n`,
    );
    await held.arrived;
    expect(await answer).toBe('');
    held.release();
  });
});

test.each(['websocket', 'h2c'])('an Upgrade to %s is ignored', async (protocol) => {
  const answer = await raw(
    `GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: ${protocol}\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test('a missing Host is accepted with HTTP/1.0', async () => {
  expect(await raw('GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test('an unknown expectation is ignored', async () => {
  const answer = await raw(
    'GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toMatch(/\r\nx-request-id: /i);
});

describe('a client that waits for 100 Continue', () => {
  const head = (path: string, length: number) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;

  test('gets it if the body is read, and may send another request', async () => {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname, () => socket.write(head('/v1/wallet/balance', 2)));
    const answer = answerTo(socket);
    socket.once('data', () => socket.write('{}GET /health/live HTTP/1.0\r\n\r\n'));
    expect(await answer).toMatch(
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 [^]+invalid signatureHTTP\/1\.1 200 OK\r\n/,
    );
  });

  test.each([
    ['/v1/wallet/balance', 64 * 1024 + 1, 413],
    ['/v1/nothing', 2, 404],
  ])('%s with %i bytes is refused without it', async (path, length, status) => {
    const answer = await raw(head(path, length));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });
});

describe('a body whose declared length is beyond the limit', () => {
  test.each([
    ['/v1/wallet/balance', 64 * 1024 + 1],
    ['/v1/wallet/balance', 99_999_999_999],
    ['/v1/admin/free-spins/batches', 256 * 1024 + 1],
  ])('of %s with %i bytes is a 413 before a byte of it is sent', async (path, length) => {
    const answer = await raw(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 Payload Too Large\r\n/);
    expect(answer).toMatch(/\r\nx-error-code: PAYLOAD_TOO_LARGE\r\n/i);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });

  test('of an unknown route is a 404 first', async () => {
    const answer = await raw(
      'POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('is a 413 that the client receives while it is still sending', async () => {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname);
    const body = Buffer.alloc(900_000);
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    const answer = answerTo(socket);
    socket.write(`POST /v1/wallet/balance HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    // The client sends its body only after the answer has begun to arrive.
    await once(socket, 'readable');
    socket.end(body);
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(errors).toEqual([]);
  });
});

describe('a body in many chunks', () => {
  const inChunks = (path: string, count: number) =>
    raw(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`,
    );

  test.each([
    ['/v1/wallet/balance', 4_096],
    ['/v1/operator/free-spins/batches', 16_384],
  ])('of %s is read up to %i chunks, and one more is a 413', async (path, most) => {
    expect(await inChunks(path, most)).toMatch(/^HTTP\/1\.1 401 /);
    const refusal = await inChunks(path, most + 1);
    expect(refusal).toMatch(/^HTTP\/1\.1 413 /);
    expect(refusal).toMatch(/\r\nx-error-code: PAYLOAD_TOO_LARGE\r\n/i);
    expect(refusal).toMatch(/\r\nconnection: close\r\n[^]*too many parts/i);
  });
});

describe('an answer', () => {
  test('to a path that leads out of the documents is a 404', async () => {
    const { pathname } = new URL(world.url);
    const answer = await raw(
      `GET ${pathname}docs/../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      world.url,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(answer).toMatch(/x-error-code: NOT_FOUND/i);
  });

  test.each(['/health/live', '/v1/nothing', '/v1/admin/providers', '/docs'])(
    'of %s reveals nothing internal',
    async (path) => {
      const { headers } = await world.request(path);
      expect(headers.get('X-Powered-By')).toBeNull();
      expect(headers.get('Server')).toBeNull();
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(headers.get('Content-Security-Policy')).toMatch(/default-src '(self|none)'/);
      expect(headers.get('Strict-Transport-Security')).toContain('max-age=');
      expect(headers.get('X-Frame-Options')).toBe('SAMEORIGIN');
    },
  );

  test('to an internal error reveals no details', async () => {
    await world.sql.run('ALTER TABLE admin_keys RENAME TO hidden');
    try {
      const reply = await world.admin('GET', '/v1/admin/keys');
      expect([reply.status, reply.text]).toEqual([500, '{"error":"internal error"}']);
    } finally {
      await world.sql.run('ALTER TABLE hidden RENAME TO admin_keys');
    }
  });

  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    'to %s of an unknown route is a 404',
    async (method) => {
      expect((await world.request('/v1/rgs/behavior', { method })).status).toBe(404);
    },
  );
});

describe('a request id of an unauthenticated caller', () => {
  test.each([
    'a b',
    'x'.repeat(129),
    'a"b',
    'a{b}',
    '<script>',
    '../../etc/passwd',
    'a\tb',
    'ä',
    '%0a',
    '${jndi:ldap://x}',
  ])('is replaced: %j', async (offered) => {
    const reply = await world.request('/health/live', {
      headers: { 'X-Request-Id': Buffer.from(offered).toString('latin1') },
    });
    expect(reply.headers.get('X-Request-Id')).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });

  test('is accepted if it is valid', async () => {
    const reply = await world.request('/health/live', { headers: { 'X-Request-Id': 'aB3.x_y:z-1' } });
    expect(reply.headers.get('X-Request-Id')).toBe('aB3.x_y:z-1');
  });

  test('cannot begin a log line', async () => {
    lines.length = 0;
    const forged = '{"level":30,"msg":"forged"}';
    await raw(
      `POST /v1/wallet/balance?%0a${encodeURIComponent(forged)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
        `X-Tenant-ID: a\u001b[31m\u0085${forged}\r\nContent-Length: 0\r\n\r\n`,
    );
    await world.request(`/v1/admin/providers/%0a${encodeURIComponent(forged)}`, {
      headers: { Authorization: 'Bearer wrong' },
    });
    await world.signed('lucky-casino', '/v1/operator/sessions', { playerRef: `x\n${forged}` });
    await world.admin('POST', '/v1/admin/keys', { name: `x\n${forged}`, role: 'admin' });
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) {
      expect(line.endsWith('\n')).toBe(true);
      expect(line.slice(0, -1)).not.toMatch(/\p{Cc}/u);
      expect((JSON.parse(line) as { msg?: string }).msg).not.toBe('forged');
    }
  });
});
