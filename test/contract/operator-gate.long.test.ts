import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Metrics } from '../../src/observability/metrics.js';
import { GAME, OTHER_OPERATOR, type Reply, useWorld, type World } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

/** Small bounds, so that few calls reach them. */
const MAX_IN_FLIGHT = 4;
const SETTLING_MAX_IN_FLIGHT = 16;
const CALLS_TO_OPEN = 20;

let received: number;
const world = useWorld({ OPERATOR_MAX_IN_FLIGHT: String(MAX_IN_FLIGHT), OPERATOR_TIMEOUT_MS: '5000' });
beforeEach(async () => {
  // The breaker forgets the calls of the previous test.
  await world.advance(31);
  received = world.wallet.received.length;
});

/** Waits until the wallet has received this number of calls in this test. */
const calls = (count: number) =>
  vi.waitFor(() => expect(world.wallet.received.length - received).toBe(count), PATIENCE);

const expectRefused = (reply: Reply) => {
  expect(reply.status).toBe(500);
  expect(reply.headers.get('X-Error-Code')).toBe('OPERATOR_UNAVAILABLE');
  expect(reply.headers.get('X-Next-Action')).toBe('retry-same-request');
  expect(reply.headers.get('Retry-After')).toBe('5');
};

describe('the bound on calls to one operator', () => {
  test('refuses BETs and balance reads beyond it, uses up no id, and affects nothing else', async () => {
    const session = await world.launch();
    const answered = world.transaction(session, 'BET');
    const first = await world.submit(answered);
    const held = world.wallet.always({ do: 'hold' }, { kind: 'BET' });
    const bets = Array.from({ length: MAX_IN_FLIGHT }, () => world.transaction(session, 'BET'));
    const answers = bets.map((bet) => world.submit(bet));
    await calls(1 + MAX_IN_FLIGHT);

    const beyond = world.transaction(session, 'BET');
    expectRefused(await world.submit(beyond));
    expect(await world.stateOf(beyond.transactionId)).toBeUndefined();
    expect(world.wallet.calls(beyond.transactionId)).toHaveLength(0);
    expectRefused(await world.balance(session));

    // A replay is not an attempt, and a WIN settles an open round.
    const replay = await world.submit(answered);
    expect(replay.text).toBe(first.text);
    expect(replay.headers.get('Idempotency-Replayed')).toBe('true');
    const win = await world.submit(world.transaction(session, 'WIN', { roundId: answered.roundId }));
    expect(win.json['status']).toBe('APPROVED');
    const rollback = world.transaction(session, 'ROLLBACK', { originalTransactionId: 'never-sent' });
    expect((await world.submit(rollback)).json['status']).toBe('APPROVED');

    // Another operator behind the same address has connections and bounds of its own.
    held.withdraw();
    const other = await world.launch({}, OTHER_OPERATOR);
    expect((await world.submit(world.transaction(other, 'BET'))).json['status']).toBe('APPROVED');
    const metrics = await world.app.get(Metrics, { strict: false }).text();
    expect(metrics).toContain(
      'croupier_operator_calls_refused_total{operator="lucky-casino",operation="BET",reason="full"} 1\n',
    );

    held.release();
    for (const reply of await Promise.all(answers)) expect(reply.json['status']).toBe('APPROVED');
    expect((await world.submit(beyond)).json['status']).toBe('APPROVED');
    expect(world.wallet.booked(beyond.transactionId)?.movements).toBe(1);
  });

  test.each([
    { kind: 'BET', bound: MAX_IN_FLIGHT },
    { kind: 'WIN', bound: SETTLING_MAX_IN_FLIGHT },
  ])('lets $bound of 60 concurrent $kind through', async ({ kind, bound }) => {
    const sessions = await Promise.all(Array.from({ length: 60 }, () => world.launch()));
    const held = world.wallet.always({ do: 'hold' });
    const bodies = sessions.map((session) => world.transaction(session, kind));
    const answers = bodies.map((body) => world.submit(body));
    await calls(bound);
    const refused: Reply[] = [];
    for (const answer of answers) void answer.then((reply) => reply.status === 500 && refused.push(reply));
    await vi.waitFor(() => expect(refused).toHaveLength(60 - bound), PATIENCE);
    held.withdraw();
    held.release();
    const replies = await Promise.all(answers);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(bound);
    refused.forEach(expectRefused);
    expect(world.wallet.received.length - received).toBe(bound);
    const states = await Promise.all(bodies.map(({ transactionId }) => world.stateOf(transactionId)));
    expect(states.filter((state) => state !== undefined)).toHaveLength(bound);
  });

  test('holds on an instance that has not seen the session before', async () => {
    const session = await world.launch();
    const { another, stop } = await anotherInstance();
    const held = world.wallet.always({ do: 'hold' });
    const answers = Array.from({ length: MAX_IN_FLIGHT }, () =>
      another.submit(world.transaction(session, 'BET')),
    );
    await calls(MAX_IN_FLIGHT);
    expectRefused(await another.submit(world.transaction(session, 'BET')));
    held.withdraw();
    held.release();
    for (const reply of await Promise.all(answers)) expect(reply.status).toBe(200);
    await stop();
  });

  test('counts no call of a DEMO session', async () => {
    const session = await world.launch({ mode: 'DEMO', gameId: GAME });
    const replies = await Promise.all(
      Array.from({ length: 60 }, () => world.submit(world.transaction(session, 'BET', { amountMinor: 1 }))),
    );
    for (const reply of replies) expect(reply.json['status']).toBe('APPROVED');
  });
});

describe('the breaker of one operator', () => {
  // A second between two requests would let another probe through.
  beforeEach(() => world.clock.stop());

  /** Makes this number of BETs fail, one after the other. */
  async function fail(count: number, behaviour: Parameters<World['wallet']['always']>[0]) {
    const session = await world.launch();
    const failing = world.wallet.always(behaviour, { playerRef: session.playerRef });
    const bets = Array.from({ length: count }, () => world.transaction(session, 'BET'));
    for (const bet of bets) expect((await world.submit(bet)).status).toBe(500);
    failing.withdraw();
    return { session, bets };
  }

  test('refuses BETs once more than half of 20 calls got no answer, and probes with one a second', async () => {
    const approved = world.transaction(await world.launch(), 'BET');
    expect((await world.submit(approved)).status).toBe(200);
    const { session, bets } = await fail(CALLS_TO_OPEN - 1, { do: 'drop' });
    // The first BET since it opened is the probe.
    const probe = world.transaction(session, 'BET');
    expect((await world.submit(probe)).json['status']).toBe('APPROVED');
    const fresh = world.transaction(session, 'BET');
    expectRefused(await world.submit(fresh));
    expect(await world.stateOf(fresh.transactionId)).toBeUndefined();
    const [timedOut] = bets;
    expectRefused(await world.submit(timedOut!));
    expect(world.wallet.calls(timedOut!.transactionId)).toHaveLength(1);
    expect(await world.metrics()).toContain('croupier_operator_breaker_open{operator="lucky-casino"} 1');

    // Replays, WIN, ROLLBACK, balance and other operators continue.
    expect((await world.submit(approved)).headers.get('Idempotency-Replayed')).toBe('true');
    const win = world.transaction(session, 'WIN', { roundId: probe.roundId });
    expect((await world.submit(win)).json['status']).toBe('APPROVED');
    const rollback = world.transaction(session, 'ROLLBACK', {
      roundId: timedOut!.roundId,
      originalTransactionId: timedOut!.transactionId,
    });
    expect((await world.submit(rollback)).json['status']).toBe('APPROVED');
    expect((await world.balance(session)).status).toBe(200);
    const other = await world.launch({}, OTHER_OPERATOR);
    expect((await world.submit(world.transaction(other, 'BET'))).json['status']).toBe('APPROVED');

    await world.advance(1);
    // A retry may be the probe.
    expect((await world.submit(bets[1]!)).json['status']).toBe('APPROVED');
    expectRefused(await world.submit(bets[2]!));
    await world.advance(1);
    const replies = await Promise.all(bets.slice(2, 12).map((bet) => world.submit(bet)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);

    await world.advance(30);
    expect((await world.submit(fresh)).json['status']).toBe('APPROVED');
    expect((await world.submit(bets[13]!)).json['status']).toBe('APPROVED');
    expect(await world.metrics()).toContain('croupier_operator_breaker_open{operator="lucky-casino"} 0');
  });

  test('counts time-outs', async () => {
    await world.admin('PATCH', '/v1/admin/operators/lucky-casino', { walletTimeoutMs: 20 });
    const { session } = await fail(CALLS_TO_OPEN, { do: 'hang' });
    await world.admin('PATCH', '/v1/admin/operators/lucky-casino', { walletTimeoutMs: null });
    await world.submit(world.transaction(session, 'BET'));
    expectRefused(await world.submit(world.transaction(session, 'BET')));
  });

  test.each([
    ['a status of 500', { do: 'answer', status: 500 } as const],
    ['an invalid body', { do: 'garbage' } as const],
    ['a body that is too large', { do: 'answer', status: 200, body: 'x'.repeat(70_000) } as const],
  ])('does not count %s: it is an HTTP answer', async (_, behaviour) => {
    const { session } = await fail(CALLS_TO_OPEN + 1, behaviour);
    for (let n = 0; n < 3; n += 1) {
      expect((await world.submit(world.transaction(session, 'BET'))).json['status']).toBe('APPROVED');
    }
  });
});

async function anotherInstance() {
  const another = await world.another(world.clock, {
    OPERATOR_MAX_IN_FLIGHT: String(MAX_IN_FLIGHT),
    OPERATOR_TIMEOUT_MS: '5000',
  });
  return { another, stop: () => another.app.close() };
}
