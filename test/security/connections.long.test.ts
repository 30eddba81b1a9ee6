import type { INestApplication } from '@nestjs/common';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TestClock } from '../world/test-clock.js';
import { PROVIDER, startApplication, useWorld } from '../world/world.js';

const lines: string[] = [];
const LOGS = { write: (line: string) => void lines.push(line) };
const sockets: Socket[] = [];

const world = useWorld(
  {
    LOG_LEVEL: 'info',
    DOCS_ENABLED: 'true',
    // Longer than a test waits: a call that the wallet holds does not end by itself.
    OPERATOR_TIMEOUT_MS: '60000',
    TRANSACTION_LEASE_SECONDS: '62',
  },
  LOGS,
);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function open(url = world.url): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** All data that is received until the connection is closed or reset. */
async function answersTo(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
}

async function metric(name: string): Promise<number> {
  const { text } = await world.request('/metrics');
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? 0,
  );
}

describe('unanswered requests of one connection', () => {
  test('are answered in order if there are at most sixteen', async () => {
    const socket = open();
    const last = get('/health/live', 'X-Request-Id: n15\r\nConnection: close\r\n');
    const first = Array.from({ length: 15 }, (_, n) => get('/health/live', `X-Request-Id: n${n}\r\n`));
    socket.write(first.join('') + last);
    const ids = [...(await answersTo(socket)).matchAll(/\r\nx-request-id: n(\d+)\r\n/gi)];
    expect(ids.map(([, n]) => Number(n))).toEqual(Array.from({ length: 16 }, (_, n) => n));
  });

  test('end the connection at the seventeenth, and are no longer handled', async () => {
    const destroyed = 'croupier_connections_destroyed_total{reason="pipelining"}';
    const handled = 'croupier_http_request_duration_seconds_count{route="GET /health/live"}';
    const [destroyedBefore, handledBefore] = [await metric(destroyed), await metric(handled)];
    const socket = open();
    socket.write(get('/health/live').repeat(1_000));
    expect((await answersTo(socket)).match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThanOrEqual(16);
    await expect.poll(() => metric(destroyed)).toBe(destroyedBefore + 1);
    expect(await metric(handled)).toBe(handledBefore + 16);
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ context: 'Connection', reason: 'pipelining', address: '127.0.0.1' }),
    );
  });

  test('are no longer in flight once the client has disconnected', async () => {
    const session = await world.launch();
    const path = '/v1/wallet/transaction';
    const signed = Array.from({ length: 3 }, () => {
      const body = JSON.stringify(world.transaction(session, 'BET'));
      const headers = { ...world.signature(PROVIDER, path, body), 'Content-Type': 'application/json' };
      const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      return `POST ${path} HTTP/1.1\r\nHost: x\r\n${head.join('')}Content-Length: ${body.length}\r\n\r\n${body}`;
    });
    const held = [1, 2, 3].map(() => world.wallet.next({ do: 'hold' }, {}));
    const socket = open();
    socket.write(signed.join(''));
    await Promise.all(held.map(({ arrived }) => arrived));
    socket.destroy();
    // The request for the metric counts as one.
    await expect.poll(() => metric('croupier_http_requests_in_flight')).toBe(1);
    for (const { release } of held) release();
  });
});

describe('a client that does not read its answers', () => {
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    const limits = { unreadAnswerTimeoutMs: 100 };
    const environment = {
      DATABASE_URL: world.databaseUrl,
      LOG_LEVEL: 'info',
      MAX_CONNECTIONS_PER_ADDRESS: '3',
      DOCS_ENABLED: 'true',
    };
    ({ app, url } = await startApplication(environment, new TestClock(), LOGS, limits));
  });
  afterAll(() => app.close());

  const connections = () => {
    const server = app.getHttpServer() as Server;
    return promisify(server.getConnections.bind(server))();
  };

  test('is cut off, while an idle one is not', async () => {
    const idle = open(url);
    const unread = open(url).pause();
    unread.write(get('/docs-json').repeat(16));
    await expect.poll(() => lines.filter((line) => line.includes('unread-answer')).length).toBe(1);
    await expect.poll(connections).toBe(1);
    idle.write(get('/health/live', 'Connection: close\r\n'));
    expect(await answersTo(idle)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('cannot exceed the bound on connections of an address', async () => {
    await expect.poll(connections).toBe(0);
    const first = [open(url), open(url), open(url)];
    await expect.poll(connections).toBe(3);
    expect(await answersTo(open(url))).toBe('');
    first[0]!.destroy();
    await expect.poll(connections).toBe(2);
    const next = open(url);
    next.write(get('/health/live', 'Connection: close\r\n'));
    expect(await answersTo(next)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

test('a trusted proxy may open any number of connections', async () => {
  const environment = { DATABASE_URL: world.databaseUrl, MAX_CONNECTIONS_PER_ADDRESS: '1' };
  const { app, url } = await startApplication({ ...environment, TRUST_PROXY: 'loopback' }, new TestClock());
  const opened = [open(url), open(url), open(url)];
  for (const socket of opened) {
    socket.write(get('/health/live', 'Connection: close\r\n'));
    expect(await answersTo(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  }
  await app.close();
});
