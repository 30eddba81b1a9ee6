import { createServer } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { useWorld } from '../world/world.js';
import { Tool } from './tool.js';
import { http, type WireAnswer, WireProvider } from './wire-provider.js';

const WIRE = 'wire-provider';
const WIRE_GAME = 'wire-game';
const BATCH = '{"externalRef":"wire","remainingSpins":1,"completed":false}';
const HUGE = Buffer.alloc(1024 * 1024, 'x');
/** In milliseconds: short enough for a test to wait for, long enough for a call to arrive on a busy machine. */
const SHORT_TIMEOUT_MS = 1_000;

let provider: WireProvider;

const lines: Record<string, unknown>[] = [];
const world = useWorld(
  { LOG_LEVEL: 'error' },
  { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
);
const tool = new Tool(world);
/** At an instance with the short time-out. */
let hasty: Tool;
beforeAll(async () => {
  provider = await WireProvider.start();
  await world.admin('POST', '/v1/admin/providers', {
    id: WIRE,
    name: WIRE,
    webhookBaseUrl: provider.baseUrl,
  });
  const game = { providerId: WIRE, name: WIRE_GAME, status: 'ACTIVE' };
  await world.admin('PUT', `/v1/admin/games/${WIRE_GAME}`, game);
  const environment = { CALLBACK_TIMEOUT_MS: String(SHORT_TIMEOUT_MS) };
  hasty = new Tool(await world.another(world.clock, environment));
  return () => hasty.world.app.close();
});
afterEach(() => provider.answerWith(undefined));
afterAll(() => provider.stop());

interface Row {
  readonly name: string;
  readonly answer: WireAnswer;
  /** The provider's status, if one is received. */
  readonly status?: number;
  /** Whether the provider may have booked a grant. */
  readonly unknown: boolean;
  readonly error: RegExp;
  readonly timesOut?: boolean;
}

/** Only the rows about the time-out have a short one, so that no other ends by it on a busy machine. */
const toolFor = ({ timesOut }: Row): Tool => (timesOut ? hasty : tool);
/** Sets the provider's address, at both instances. */
async function moveTo(webhookBaseUrl: string): Promise<void> {
  await world.admin('PATCH', `/v1/admin/providers/${WIRE}`, { webhookBaseUrl });
  await hasty.world.app.get(TenancyService).reload();
}

const text = (bytes: string): WireAnswer => ({ bytes, then: 'end' });

const rows: Row[] = [
  {
    name: '201 with a batch',
    answer: http('201 Created', BATCH),
    status: 201,
    unknown: true,
    error: /answered 201/,
  },
  { name: '204', answer: text('HTTP/1.1 204 No\r\n\r\n'), status: 204, unknown: true, error: /answered 204/ },
  {
    name: 'a redirect to itself',
    answer: http('307 There', '', 'Location: /elsewhere\r\n'),
    status: 307,
    unknown: false,
    error: /answered 307/,
  },
  {
    name: '404 with HTML',
    answer: http('404 No', '<html><h1>nginx</h1></html>', 'Content-Type: text/html\r\n'),
    status: 404,
    unknown: false,
    error: /answered 404/,
  },
  {
    name: '503 with a huge body',
    answer: http('503 No', HUGE),
    status: 503,
    unknown: false,
    error: /answered 503/,
  },
  {
    name: '500 with invalid UTF-8 and NULs',
    answer: http('500 No', Buffer.from([0xc3, 0x28, 0, 0xff])),
    status: 500,
    unknown: false,
    error: /answered 500/,
  },
  {
    name: '500 whose body is cut off',
    answer: { bytes: 'HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\nhalf', then: 'reset' },
    status: 500,
    unknown: false,
    error: /answered 500/,
  },
  {
    name: 'a closed connection',
    answer: { bytes: '', then: 'end' },
    unknown: true,
    error: /connection .* lost/,
  },
  {
    name: 'a reset connection',
    answer: { bytes: '', then: 'reset' },
    unknown: true,
    error: /connection .* lost/,
  },
  {
    name: 'bytes that are not HTTP',
    answer: text('220 smtp.example ESMTP\r\n'),
    unknown: true,
    error: /connection .* lost/,
  },
  {
    name: 'headers without an end',
    answer: text(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`),
    unknown: true,
    error: /connection .* lost/,
  },
  {
    name: 'nothing',
    answer: { bytes: '', then: 'hang' },
    unknown: true,
    error: new RegExp(`did not answer within ${SHORT_TIMEOUT_MS} ms`),
    timesOut: true,
  },
  {
    name: 'headers that arrive byte by byte',
    answer: { bytes: http('200 OK', BATCH).bytes, then: { dripEveryMs: 50 } },
    unknown: true,
    error: new RegExp(`did not answer within ${SHORT_TIMEOUT_MS} ms`),
    timesOut: true,
  },
];

const twoHundreds: Row[] = [
  {
    name: '200 with a body that arrives byte by byte, beyond the time-out',
    answer: { bytes: `HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n${BATCH}`, then: 'hang' },
    status: 200,
    unknown: true,
    error: new RegExp(`not complete within ${SHORT_TIMEOUT_MS} ms`),
    timesOut: true,
  },
  {
    name: '200 with a body that is cut off',
    answer: { bytes: `HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n${BATCH}`, then: 'reset' },
    status: 200,
    unknown: true,
    error: /lost in the middle of the answer/,
  },
  {
    name: '200 with a huge body',
    answer: http('200 OK', `{"externalRef":"wire","padding":"${HUGE.toString()}"}`),
    status: 200,
    unknown: true,
    error: /larger than 64 KiB/,
  },
  {
    name: '200 with HTML',
    answer: http('200 OK', '<html></html>'),
    status: 200,
    unknown: true,
    error: /answered 200 without/,
  },
  {
    name: '200 with invalid UTF-8',
    answer: http(
      '200 OK',
      Buffer.from('{"externalRef":"\xff","remainingSpins":1,"completed":true}', 'latin1'),
    ),
    status: 200,
    unknown: true,
    error: /answered 200 without/,
  },
  {
    name: '200 with a compressed body',
    answer: http('200 OK', gzipSync(BATCH), 'Content-Encoding: gzip\r\n'),
    status: 200,
    unknown: true,
    error: /answered 200 without/,
  },
  ...[
    '',
    'null',
    '[]',
    '{}',
    '{"externalRef":7,"remainingSpins":"1","completed":false}',
    '{"externalRef":"","remainingSpins":-1,"completed":false}',
    '{"externalRef":null,"remainingSpins":1.5,"completed":false}',
    '{"externalRef":"nul\\u0000","remainingSpins":1e400,"completed":false}',
    '{"externalRef":["wire"],"remainingSpins":1,"completed":"no"}',
    `{"externalRef":"${'x'.repeat(257)}","remainingSpins":null,"completed":false}`,
    '{"externalRef":"\\ud800","remainingSpins":1}',
  ].map((body) => ({
    name: `200 with ${body.slice(0, 70) || 'an empty body'}`,
    answer: http('200 OK', body),
    status: 200,
    unknown: true,
    error: /answered 200 without/,
  })),
];

/** Expects that the provider received one call, and that it is recorded. */
async function expectOneAttempt(reference: string, before: number, { status, timesOut }: Row): Promise<void> {
  expect(provider.requests.length - before).toBe(1);
  const logged = await tool.callbacks(reference);
  const [row] = logged.slice(-1);
  expect(row).toMatchObject({ status: status ?? null, duration_ms: expect.any(Number) as number });
  expect(Buffer.byteLength(row?.answer ?? '')).toBeLessThanOrEqual(3 * 4096);
  if (timesOut) expect(row?.duration_ms).toBeLessThan(SHORT_TIMEOUT_MS + 5_000);
  if (status === undefined) expect(row?.error).toBeTruthy();
}

/** Expects one line about the failure, with the answer if there is one. */
function expectOneLine(reference: string, { status }: Row): void {
  const about = lines.filter(
    ({ context, requestRef, reference: called }) =>
      (context === 'ProviderCallback' && called === reference) ||
      (context === 'FreeSpins' && requestRef === reference),
  );
  const answer = expect.any(String) as string;
  expect(about).toEqual([expect.objectContaining(status === undefined ? {} : { answer })]);
}

describe('a grant that is answered with', () => {
  test.each([...rows, ...twoHundreds])('$name is FAILED', async (row) => {
    const order = tool.order({ gameId: WIRE_GAME });
    provider.answerWith(row.answer);
    const before = provider.requests.length;
    const reply = await toolFor(row).post(order);
    expect(reply.status).toBe(502);
    expect(String(reply.json['error'])).toMatch(row.error);
    expect(reply.text).not.toContain('127.0.0.1');
    const stored = await tool.read(order.requestRef);
    expect(stored.json).toMatchObject({ state: 'FAILED' });
    expect(stored.json['failure']).toEqual({
      ...(row.status !== undefined && { status: row.status }),
      error: reply.json['error'],
      outcomeUnknown: row.unknown,
    });
    await expectOneAttempt(order.requestRef, before, row);
    expectOneLine(order.requestRef, row);
  });

  test('connection refused or an unknown name: certainly not booked', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    closed.close();
    for (const webhookBaseUrl of [`http://127.0.0.1:${port}`, 'http://no-such-host.invalid']) {
      await moveTo(webhookBaseUrl);
      const order = tool.order({ gameId: WIRE_GAME });
      expect((await tool.post(order)).status).toBe(502);
      expect((await tool.read(order.requestRef)).json['failure']).toMatchObject({ outcomeUnknown: false });
      expect(await tool.callbacks(order.requestRef)).toHaveLength(1);
    }
    await moveTo(provider.baseUrl);
  });
});

test('a private address or name is not called if only public ones are allowed', async () => {
  const strict = await world.another(world.clock, {
    OUTBOUND_ALLOW_PRIVATE: 'false',
    CALLBACK_TIMEOUT_MS: '2000',
  });
  const { port } = new URL(provider.baseUrl);
  const before = provider.requests.length;
  for (const host of ['127.0.0.1', 'localhost']) {
    const webhookBaseUrl = `http://${host}:${port}`;
    await moveTo(webhookBaseUrl);
    await strict.app.get(TenancyService).reload();
    const order = tool.order({ gameId: WIRE_GAME });
    expect((await strict.admin('POST', '/v1/admin/free-spins', order)).status).toBe(502);
    const { failure } = (await tool.read(order.requestRef)).json;
    expect(failure).toEqual({ error: 'no connection to the provider could be made', outcomeUnknown: false });
  }
  expect(provider.requests.length).toBe(before);
  await strict.app.close();
  await moveTo(provider.baseUrl);
});

describe('a granted batch', () => {
  const granted = async () => (await tool.granted({ gameId: WIRE_GAME })).requestRef;

  test.each([...rows, ...twoHundreds])('whose status is answered with $name stays unchanged', async (row) => {
    const requestRef = await granted();
    provider.answerWith(row.answer);
    const before = provider.requests.length;
    const reply = await toolFor(row).act(requestRef, 'status');
    expect(reply.status).toBe(502);
    expect(String(reply.json['error'])).toMatch(row.error);
    const { json } = await tool.read(requestRef);
    expect([json['state'], json['remainingSpins'], json['statusCheckedAt']]).toEqual([
      'GRANTED',
      undefined,
      undefined,
    ]);
    await expectOneAttempt(requestRef, before, row);
    expectOneLine(requestRef, row);
  });

  test.each(rows)('whose cancel is answered with $name is still live', async (row) => {
    const requestRef = await granted();
    provider.answerWith(row.answer);
    const before = provider.requests.length;
    const reply = await toolFor(row).act(requestRef, 'cancel');
    expect(reply.status).toBe(502);
    const { json } = await tool.read(requestRef);
    expect([json['state'], json['lastCancelError']]).toEqual(['GRANTED', reply.json['error']]);
    expect(String(reply.json['error'])).toMatch(row.error);
    await expectOneAttempt(requestRef, before, row);
  });

  test.each(twoHundreds)('whose cancel is answered with $name is CANCELLED', async (row) => {
    const requestRef = await granted();
    provider.answerWith(row.answer);
    const before = provider.requests.length;
    const reply = await toolFor(row).act(requestRef, 'cancel');
    expect([reply.status, reply.json['state']]).toEqual([200, 'CANCELLED']);
    await expectOneAttempt(requestRef, before, row);
  });
});

describe('a revocation that is answered with', () => {
  test.each([...rows, ...twoHundreds])('$name: the session has ended nevertheless', async (row) => {
    const session = await world.launch({ gameId: WIRE_GAME });
    const at = toolFor(row).world;
    provider.answerWith(row.answer);
    const before = provider.requests.length;
    const reply = await at.revoke(session.sessionId);
    expect([reply.status, reply.json['status']]).toEqual([200, 'REVOKED']);
    const delivered = row.status === 200;
    expect(reply.json['notification']).toEqual({
      delivered,
      ...(row.status !== undefined && { status: row.status }),
      ...(!delivered && { error: expect.stringMatching(row.error) as string }),
    });
    expect((await at.revoke(session.sessionId)).json).toEqual(reply.json);
    await expectOneAttempt(session.sessionId, before, row);
  });
});
