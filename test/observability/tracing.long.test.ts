import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { GAME, OPERATOR, PROVIDER, startWorld, type World } from '../world/world.js';
import { TestClock } from '../world/test-clock.js';
import { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.js';
import { PATIENCE } from '../world/patience.js';

let receiver: OtlpReceiver;
let world: World;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  receiver = await OtlpReceiver.start();
  world = await startWorld(
    {
      LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-receiver-key=a%20key',
    },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
});
afterAll(async () => {
  await world.stop();
  await receiver.stop();
});

const newTraceId = () => randomBytes(16).toString('hex');
const CALLER_SPAN = 'b7ad6b7169203331';

/** Waits until a trace has a span of this name, and gives all its spans. */
async function spansOf(traceId: string, last: string): Promise<Map<string, ReceivedSpan>> {
  await vi.waitFor(() => expect([...receiver.trace(traceId).keys()]).toContain(last), PATIENCE);
  return receiver.trace(traceId);
}

function submit(body: object, traceparent: string, headers: Record<string, string> = {}, at = world) {
  return at.signed(PROVIDER, '/v1/wallet/transaction', body, { headers: { traceparent, ...headers } });
}

describe('a traced BET', () => {
  test('continues the trace of its caller, with spans from the request to the answer, and the wallet continues it', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    const traceId = newTraceId();
    const reply = await submit(bet, `00-${traceId}-${CALLER_SPAN}-01`, { tracestate: 'vendor=value' });
    expect(reply.status).toBe(200);

    const spans = await spansOf(traceId, 'POST /v1/wallet/transaction');
    expect([...spans.keys()].sort()).toEqual([
      'POST /v1/wallet/transaction',
      'answer',
      'claim',
      'operator',
      'settle',
      'signature',
    ]);
    const request = spans.get('POST /v1/wallet/transaction')!;
    expect(request.parentSpanId).toBe(CALLER_SPAN);
    expect(request.attributes).toMatchObject({
      'http.route': '/v1/wallet/transaction',
      'croupier.tenant': PROVIDER,
      'croupier.outcome': '200',
      'croupier.requestId': reply.headers.get('x-request-id'),
    });
    for (const [name, span] of spans) {
      if (name !== request.name) expect(span.parentSpanId, name).toBe(request.spanId);
      expect(BigInt(span.startTimeUnixNano), name).toBeGreaterThanOrEqual(
        BigInt(request.startTimeUnixNano) - 1_000_000n,
      );
      expect(BigInt(span.endTimeUnixNano), name).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    }
    const inOrder = ['signature', 'claim', 'operator', 'settle', 'answer'].map((name) =>
      Number(spans.get(name)!.startTimeUnixNano),
    );
    expect(inOrder).toEqual([...inOrder].sort((left, right) => left - right));

    const operator = spans.get('operator')!;
    expect(operator.attributes).toMatchObject({
      'croupier.operatorId': OPERATOR,
      'croupier.operation': 'BET',
      'croupier.outcome': 'APPROVED',
    });
    const [call] = world.wallet.calls(bet.transactionId);
    expect(call?.headers).toMatchObject({
      traceparent: `00-${traceId}-${operator.spanId}-01`,
      tracestate: 'vendor=value',
    });
    const line = lines.find((each) => each['transactionId'] === bet.transactionId);
    expect(line).toMatchObject({ traceId, requestId: reply.headers.get('x-request-id') });
  });

  test('that its caller does not sample is not exported, but the trace continues', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    const traceId = newTraceId();
    await submit(bet, `00-${traceId}-${CALLER_SPAN}-00`);
    const [call] = world.wallet.calls(bet.transactionId);
    expect(call?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    const seen = newTraceId();
    await submit(world.transaction(session, 'BET'), `00-${seen}-${CALLER_SPAN}-01`);
    await spansOf(seen, 'POST /v1/wallet/transaction');
    expect(receiver.trace(traceId).size).toBe(0);
  });

  test.each([
    ['nothing', ''],
    ['zeros', `00-${'0'.repeat(32)}-${CALLER_SPAN}-01`],
    ['another version that is not valid', `ff-${'a'.repeat(32)}-${CALLER_SPAN}-01`],
    ['garbage', 'x'.repeat(3_000)],
  ])('whose caller sends %s begins a trace of its own', async (_, traceparent) => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    expect((await submit(bet, traceparent)).status).toBe(200);
    const [call] = world.wallet.calls(bet.transactionId);
    expect(call?.headers['traceparent']).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  test('that fails has a span with an error, and its resolution is a trace of its own', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    const traceId = newTraceId();
    world.wallet.next({ do: 'drop' }, { transactionId: bet.transactionId });
    expect((await submit(bet, `00-${traceId}-${CALLER_SPAN}-01`)).status).toBe(500);
    const spans = await spansOf(traceId, 'POST /v1/wallet/transaction');
    expect(spans.get('POST /v1/wallet/transaction')?.status).toBe(2);
    expect(spans.get('operator')?.attributes['croupier.outcome']).toBe('unavailable');

    await world.sql.run(
      `UPDATE transactions SET updated_at = updated_at - interval '2 minutes' WHERE transaction_id = $1`,
      [bet.transactionId],
    );
    await world.app.get(Resolver).tick();
    const resolution = () =>
      receiver.spans.find(
        ({ name, attributes }) =>
          name === 'resolve' && attributes['croupier.transactionId'] === bet.transactionId,
      );
    await vi.waitFor(() => expect(resolution()).toBeDefined(), PATIENCE);
    const { traceId: other, spanId } = resolution()!;
    expect(other).not.toBe(traceId);
    expect(receiver.trace(other).get('operator')?.parentSpanId).toBe(spanId);
  });
});

test('a callback has a span, and its provider continues the trace', async () => {
  const requestRef = randomUUID();
  const reply = await world.admin('POST', '/v1/admin/free-spins', {
    operatorId: OPERATOR,
    playerRef: 'player-1',
    gameId: GAME,
    spins: 5,
    betAmountMinor: 10,
    currency: 'EUR',
    requestRef,
  });
  expect(reply.status).toBe(201);
  const callback = () =>
    receiver.spans.find(({ attributes }) => attributes['croupier.reference'] === requestRef);
  await vi.waitFor(() => expect(callback()).toBeDefined(), PATIENCE);
  const { name, traceId, spanId, kind } = callback()!;
  expect({ name, kind }).toEqual({ name: 'callback', kind: 3 });
  const call = world.provider.received.find(({ json }) => json['requestRef'] === requestRef);
  expect(call?.headers['traceparent']).toBe(`00-${traceId}-${spanId}-01`);
});

test('the receiver gets the name of the service and the configured headers', async () => {
  const traceId = newTraceId();
  await submit({}, `00-${traceId}-${CALLER_SPAN}-01`);
  await spansOf(traceId, 'POST /v1/wallet/transaction');
  expect(receiver.resource).toMatchObject({ 'service.name': 'croupier' });
  expect(receiver.headers[0]).toMatchObject({ 'x-receiver-key': 'a key' });
});

test('a failing receiver loses spans and causes one log line, but affects no request', async () => {
  const session = await world.launch();
  const lost = () => lines.filter(({ msg }) => msg === 'spans cannot be exported and are lost');
  receiver.status = 400;
  for (let n = 0; n < 3; n += 1) {
    expect((await world.submit(world.transaction(session, 'BET'))).status).toBe(200);
    await vi.waitFor(() => expect(lost()).toHaveLength(1), PATIENCE);
  }
  receiver.status = 200;
  await vi.waitFor(async () => {
    await world.submit(world.transaction(session, 'BET'));
    expect(lines.map(({ msg }) => msg)).toContain('spans are exported again');
  }, PATIENCE);
});

test('sampling decides for requests that no caller traces', async () => {
  const clock = new TestClock();
  const other = await world.another(clock, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_TRACES_SAMPLER_ARG: '0',
    OTEL_SERVICE_NAME: 'other',
  });
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  expect((await other.submit(bet)).status).toBe(200);
  expect(world.wallet.calls(bet.transactionId)[0]?.headers['traceparent']).toMatch(/-00$/);
  await other.app.close();
});

test("without an endpoint nothing is traced, and a caller's trace is not passed on", async () => {
  const other = await world.another(new TestClock());
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  expect((await submit(bet, `00-${newTraceId()}-${CALLER_SPAN}-01`, {}, other)).status).toBe(200);
  expect(world.wallet.calls(bet.transactionId)[0]?.headers).not.toHaveProperty('traceparent');
  await other.app.close();
});
