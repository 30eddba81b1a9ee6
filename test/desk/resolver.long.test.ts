import { createHash } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type LaunchedSession,
  OPERATOR,
  OTHER_OPERATOR,
  PROVIDER,
  type Reply,
  startApplication,
  useWorld,
} from '../world/world.js';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { until } from '../free-spins/tool.js';
import { abandoned, type Body, endingOf, letPass, stopPolling, tick, timedOut } from './desk.js';

let session: LaunchedSession;
const world = useWorld();
beforeAll(() => stopPolling(world));
beforeEach(async () => (session = await world.launch()));
// Transactions that one test leaves undecided do not affect the next.
afterEach(() =>
  world.sql.run(`UPDATE transactions SET parked_at = now() WHERE state IN ('PENDING', 'TIMED_OUT')`),
);

const START = 100_000;
const bet = (fields = {}) => world.transaction(session, 'BET', fields);
const win = (fields = {}) => world.transaction(session, 'WIN', fields);
const rollbackOf = ({ transactionId, roundId }: Body) =>
  world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId });
const calls = ({ transactionId }: Body) => world.wallet.calls(transactionId).length;
const stateOf = ({ transactionId }: Body) => world.stateOf(transactionId);
const balance = () => world.wallet.balanceOf(session.playerRef);
const lost = { do: 'answer', status: 500 } as const;
/** An operator whose held calls do not time out, however slow the machine is. */
const PATIENT = { walletTimeoutMs: 20_000 };

async function metric(name: string): Promise<number> {
  const line = (await world.metrics()).split('\n').find((each) => each.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('slow operators take turns of ten seconds, 16 at a time', async () => {
  const operators = await Promise.all(
    Array.from({ length: 17 }, async () => {
      const launched = await world.launch({}, await world.createOperator(PATIENT));
      const wins = Array.from({ length: 5 }, () => world.transaction(launched, 'WIN'));
      for (const body of wins) await letPass(world, (await timedOut(world, body, false)).transactionId, 61);
      const held = world.wallet.always({ do: 'hold' }, { playerRef: launched.playerRef });
      const resent = () => wins.filter((body) => calls(body) === 2).length;
      return { held, resent };
    }),
  );
  const passed = tick(world);
  const first = () => operators.filter(({ resent }) => resent() === 4);
  await until('four calls to each of 16 operators are in flight', () => first().length === 16);
  const [aFirst] = first();
  const last = operators.find(({ resent }) => resent() === 0);
  world.clock.advance(11);
  aFirst?.held.release();
  await until('the last one has its turn', () => last?.resent() === 4);
  expect(aFirst?.resent()).toBe(4);
  for (const { held } of operators) held.withdraw();
  for (const { held } of operators) held.release();
  await passed;
  expect(operators.map(({ resent }) => resent())).toEqual(operators.map(() => 5));
});

describe('a transaction that is not retried, a minute after the last attempt:', () => {
  test.each([
    ['a WIN', true],
    ['a WIN that never arrived', false],
  ])('%s is sent again unchanged', async (_, booked) => {
    const body = await timedOut(world, win({ amountMinor: 70, roundClosed: true }), booked);
    await letPass(world, body.transactionId, 61);
    await tick(world);
    expect(await stateOf(body)).toBe('APPROVED');
    const [first, second, ...more] = world.wallet.calls(body.transactionId);
    expect(more).toEqual([]);
    expect(second?.rawBody.toString()).toBe(first?.rawBody.toString());
    expect(second?.headers['x-request-id']).toMatch(/^resolver-/);
    expect(balance()).toBe(START + 70);
    const reply = await world.submit(body);
    expect(reply.json).toMatchObject({ status: 'APPROVED', balance: START + 70 });
    expect(reply.headers.get('idempotency-replayed')).toBe('true');
  });

  test('a ROLLBACK is sent again unchanged, and its target is reversed with it', async () => {
    const target = bet();
    await world.submit(target);
    const body = await timedOut(world, rollbackOf(target), true);
    await letPass(world, body.transactionId, 61);
    await tick(world);
    expect([await stateOf(body), await stateOf(target)]).toEqual(['APPROVED', 'ROLLED_BACK']);
    expect(balance()).toBe(START);
  });

  test('a verdict of our own reads the balance again', async () => {
    const target = win();
    await world.submit(target);
    const body = rollbackOf(target);
    world.wallet.next(lost, { path: '/balance', playerRef: session.playerRef });
    expect((await world.submit(body)).status).toBe(500);
    await letPass(world, body.transactionId, 61);
    await tick(world);
    expect((await world.submit(body)).json).toMatchObject({
      status: 'DECLINED',
      declineReason: 'NOT_ROLLBACKABLE',
      balance: START + 100,
    });
    expect(calls(body)).toBe(0);
  });

  test("a BET above its session's highest stake reads the balance again, and is not rolled back", async () => {
    session = await world.launch({ maxBetMinor: 99 });
    const body = bet();
    world.wallet.next(lost, { path: '/balance', playerRef: session.playerRef });
    expect((await world.submit(body)).status).toBe(500);
    await letPass(world, body.transactionId, 61);
    await tick(world);
    expect(await stateOf(body)).toBe('DECLINED');
    expect(await endingOf(world, body.transactionId)).toBeUndefined();
    expect((await world.submit(body)).json).toMatchObject({ declineReason: 'STAKE_ABOVE_LIMIT' });
    expect(calls(body)).toBe(0);
  });

  test.each([
    ['that the operator booked', true],
    ['that never arrived', false],
  ])("a BET %s is ended by a ROLLBACK of the platform's own", async (_, booked) => {
    const body = await timedOut(world, bet(), booked);
    const { transactionId } = body;
    await letPass(world, transactionId, 61);
    await tick(world);
    const digest = createHash('sha256').update(`${PROVIDER}\n${transactionId}`).digest('hex');
    const id = `croupier-${digest.slice(0, 32)}`;
    expect(await endingOf(world, transactionId)).toBe(id);
    expect([await stateOf(body), await world.stateOf(id)]).toEqual(['ROLLED_BACK', 'APPROVED']);
    const [call, ...more] = world.wallet.calls(id);
    expect(more).toEqual([]);
    expect(call?.json).toEqual({
      transactionId: id,
      providerId: PROVIDER,
      kind: 'ROLLBACK',
      playerRef: session.playerRef,
      gameId: session.gameId,
      currency: 'EUR',
      amountMinor: 100,
      roundId: body.roundId,
      originalTransactionId: transactionId,
    });
    expect(balance()).toBe(START);
    expect(calls(body)).toBe(1);
    expect((await world.submit(body)).json).toMatchObject({
      status: 'DECLINED',
      declineReason: 'TRANSACTION_ROLLED_BACK',
      balance: START,
    });
    expect(calls(body)).toBe(1);
    // The provider's own ROLLBACK comes too late to move money, and is answered APPROVED.
    expect((await world.submit(rollbackOf(body))).json).toMatchObject({ status: 'APPROVED', balance: START });
    expect(balance()).toBe(START);
  });

  test('a PENDING transaction of a dead instance is taken up, and the old holder cannot overwrite it', async () => {
    const [aWin, aBet] = [win({ amountMinor: 5 }), bet()];
    const holders = [await abandoned(world, aWin), await abandoned(world, aBet)];
    for (const { transactionId } of [aWin, aBet]) await letPass(world, transactionId, 61);
    await tick(world);
    expect([await stateOf(aWin), await stateOf(aBet)]).toEqual(['APPROVED', 'ROLLED_BACK']);
    const [late, tooLate] = (await Promise.all(holders.map((holder) => holder.wakeUp()))) as [Reply, Reply];
    expect(late.json).toMatchObject({ status: 'APPROVED', balance: START + 5 });
    expect(tooLate.json).toMatchObject({ status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' });
    expect(balance()).toBe(START + 5);
  });

  test('a DEMO transaction is resolved, too, and no operator is called', async () => {
    const demo = await world.launch({ mode: 'DEMO' });
    const body = world.transaction(demo, 'BET', { amountMinor: 300 });
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id,
         session_id, mode, player_ref, game_id, currency, amount_minor, round_id, attempt, lease_until, created_at,
         updated_at)
       SELECT provider_id, $2, gen_random_uuid(), 'BET', 'PENDING', operator_id, session_id, mode, player_ref,
              game_id, currency, 300, $3, 1, now() - interval '1 minute', now() - interval '2 minutes',
              now() - interval '2 minutes'
         FROM sessions WHERE session_id = $1`,
      [demo.sessionId, body.transactionId, body.roundId],
    );
    await tick(world);
    expect(await stateOf(body)).toBe('ROLLED_BACK');
    expect(world.wallet.received.filter(({ json }) => json['playerRef'] === demo.playerRef)).toEqual([]);
    expect((await world.submit(body)).json).toMatchObject({ status: 'DECLINED', balance: START });
  });
});

describe('the resolver does not take up', () => {
  test('a transaction attempted less than a minute ago', async () => {
    const body = await timedOut(world, win(), false);
    await letPass(world, body.transactionId, 55);
    await tick(world);
    expect([await stateOf(body), calls(body)]).toEqual(['TIMED_OUT', 1]);
  });

  test('a PENDING transaction with a live lease, however old', async () => {
    const body = win();
    const holder = await abandoned(world, body);
    await letPass(world, body.transactionId, 600);
    await world.sql.run(
      `UPDATE transactions SET lease_until = now() + interval '20 seconds' WHERE transaction_id = $1`,
      [body.transactionId],
    );
    await tick(world);
    expect(calls(body)).toBe(1);
    expect((await holder.wakeUp()).json).toMatchObject({ status: 'APPROVED' });
  });

  test('a BET whose ROLLBACK is under way: that ROLLBACK is taken up instead', async () => {
    const body = await timedOut(world, bet(), true);
    const undo = await timedOut(world, rollbackOf(body), false);
    await letPass(world, body.transactionId, 61);
    await tick(world);
    expect(await endingOf(world, body.transactionId)).toBeUndefined();
    await letPass(world, undo.transactionId, 61);
    await tick(world);
    expect([await stateOf(undo), await stateOf(body)]).toEqual(['APPROVED', 'ROLLED_BACK']);
    expect(balance()).toBe(START);
  });
});

describe('a ROLLBACK of the platform’s own', () => {
  test('that times out is itself sent again, under the same id', async () => {
    const body = await timedOut(world, bet(), true);
    await letPass(world, body.transactionId, 61);
    world.wallet.next({ do: 'book-then', then: lost }, { originalTransactionId: body.transactionId });
    await tick(world);
    const id = (await endingOf(world, body.transactionId)) ?? '';
    expect([await stateOf(body), await world.stateOf(id)]).toEqual(['TIMED_OUT', 'TIMED_OUT']);
    expect((await world.submit(body)).headers.get('x-error-code')).toBe('TRANSACTION_IN_FLIGHT');
    await letPass(world, id, 61);
    await tick(world);
    expect([await stateOf(body), await world.stateOf(id)]).toEqual(['ROLLED_BACK', 'APPROVED']);
    expect(world.wallet.calls(id)).toHaveLength(2);
    expect(balance()).toBe(START);
  });

  test('that the operator DECLINES leaves the BET to a person; its provider may still retry it', async () => {
    const body = await timedOut(world, bet(), true);
    await letPass(world, body.transactionId, 61);
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { originalTransactionId: body.transactionId });
    await tick(world);
    const id = (await endingOf(world, body.transactionId)) ?? '';
    expect([await stateOf(body), await world.stateOf(id)]).toEqual(['TIMED_OUT', 'DECLINED']);
    await letPass(world, body.transactionId, 3_600);
    await tick(world);
    expect(world.wallet.calls(id)).toHaveLength(1);
    expect(await metric('croupier_transactions_parked')).toBeGreaterThan(0);
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: START - 100 });
  });

  test('is claimed even if the round has a WIN: the provider never received an approval of the BET', async () => {
    const first = bet();
    await world.submit(first);
    const { roundId } = first;
    const second = await timedOut(world, bet({ roundId }), true);
    expect((await world.submit(win({ roundId, amountMinor: 40 }))).json).toMatchObject({
      status: 'APPROVED',
    });
    await letPass(world, second.transactionId, 61);
    await tick(world);
    expect([await stateOf(first), await stateOf(second)]).toEqual(['APPROVED', 'ROLLED_BACK']);
    expect(balance()).toBe(START - 100 + 40);
  });
});

describe('the delays', () => {
  /** Sets the time since the last attempt, and the transaction's age at that attempt. */
  const aged = (body: Body, ageAtAttempt: number, since: number) =>
    world.sql.run(
      `UPDATE transactions SET updated_at = now() - make_interval(secs => $3),
              created_at = now() - make_interval(secs => $2 + $3) WHERE transaction_id = $1`,
      [body.transactionId, ageAtAttempt, since],
    );

  test.each([
    ['in the first hour', 3_500, 60],
    ['after an hour', 3_600, 300],
    ['after six hours', 21_600, 1_800],
    ['after half a day, the longest pause', 43_200, 3_600],
    ['after almost a day', 86_000, 3_600],
  ])('%s (%i s): %i s', async (_, ageAtAttempt, delay) => {
    const body = await timedOut(world, win(), false);
    await aged(body, ageAtAttempt, delay - 5);
    await tick(world);
    expect(calls(body)).toBe(1);
    await aged(body, ageAtAttempt, delay + 1);
    await tick(world);
    expect([calls(body), await stateOf(body)]).toEqual([2, 'APPROVED']);
  });

  test('end after a day: the transaction is parked for a person, and counted', async () => {
    const parkedBefore = await metric('croupier_resolutions_total{operator="lucky-casino",outcome="parked"}');
    const body = await timedOut(world, win(), false);
    await aged(body, 86_400, 61);
    await tick(world);
    expect([calls(body), await stateOf(body)]).toEqual([1, 'TIMED_OUT']);
    expect(await metric('croupier_resolutions_total{operator="lucky-casino",outcome="parked"}')).toBe(
      parkedBefore + 1,
    );
    await letPass(world, body.transactionId, 7_200);
    await tick(world);
    expect(calls(body)).toBe(1);
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED' });
  });

  test('the age of the oldest one that is not parked leaves out a BET whose ROLLBACK is parked', async () => {
    const operator = await world.createOperator();
    session = await world.launch({}, operator);
    const target = await timedOut(world, bet(), true);
    await letPass(world, target.transactionId, 100_000);
    const undo = await timedOut(world, rollbackOf(target), false);
    await letPass(world, undo.transactionId, 600);
    const oldest = () => metric(`croupier_transactions_undecided_oldest_seconds{operator="${operator}"`);
    expect(Math.floor((await oldest()) / 100)).toBe(6);
    await aged(undo, 86_400, 61);
    await tick(world);
    expect(await oldest()).toBe(0);
    expect(await metric(`croupier_transactions_parked{operator="${operator}"`)).toBe(1);
    expect(await metric(`croupier_transactions_undecided{operator="${operator}"`)).toBe(2);
  });

  test('give a transaction one more attempt after a long outage', async () => {
    const body = await timedOut(world, win(), false);
    await aged(body, 30, 200_000);
    await tick(world);
    expect(await stateOf(body)).toBe('APPROVED');
  });
});

describe('an operator that does not answer', () => {
  test('is called a few times in a pass, while transactions of another one are resolved', async () => {
    const dead = world.wallet.always(lost, { kind: 'WIN', playerRef: session.playerRef });
    const bodies = Array.from({ length: 30 }, () => win());
    for (const body of bodies) expect((await world.submit(body)).status).toBe(500);
    await world.sql.run(
      `UPDATE transactions SET created_at = created_at - interval '2 minutes',
              updated_at = updated_at - interval '2 minutes' WHERE player_ref = $1`,
      [session.playerRef],
    );
    const elsewhere = await world.launch({}, OTHER_OPERATOR);
    const other = await timedOut(world, world.transaction(elsewhere, 'WIN'), false);
    await letPass(world, other.transactionId, 61);

    await tick(world);
    expect(await stateOf(other)).toBe('APPROVED');
    const furtherCalls = () => bodies.reduce((sum, body) => sum + calls(body) - 1, 0);
    expect(furtherCalls()).toBeGreaterThan(0);
    expect(furtherCalls()).toBeLessThanOrEqual(8);

    dead.withdraw();
    await tick(world);
    await world.sql.run(
      `UPDATE transactions SET updated_at = updated_at - interval '61 seconds'
                          WHERE state = 'TIMED_OUT' AND player_ref = $1`,
      [session.playerRef],
    );
    await tick(world);
    expect(await Promise.all(bodies.map(stateOf))).toEqual(bodies.map(() => 'APPROVED'));
    expect(balance()).toBe(START + 30 * 100);
  });

  test.each([
    [404, 'APPROVED'],
    [429, 'TIMED_OUT'],
  ])('but one that answers %i: the transaction after ten of these is then %s', async (status, state) => {
    const refused = Array.from({ length: 10 }, () => win());
    for (const body of refused) await letPass(world, (await timedOut(world, body, false)).transactionId, 120);
    const behind = await timedOut(world, win({ amountMinor: 7 }), false);
    await letPass(world, behind.transactionId, 61);
    const answer = { do: 'answer', status } as const;
    const refusals = refused.map(({ transactionId }) => world.wallet.always(answer, { transactionId }));
    await tick(world);
    for (const refusal of refusals) refusal.withdraw();
    expect(await stateOf(behind)).toBe(state);
  });

  test('does not delay the next passes over the transactions of others', async () => {
    session = await world.launch({}, await world.createOperator(PATIENT));
    const body = await timedOut(world, win(), false);
    await letPass(world, body.transactionId, 61);
    const heldCall = world.wallet.next({ do: 'hold' }, { playerRef: session.playerRef });
    const first = tick(world);
    await heldCall.arrived;
    const elsewhere = await world.launch({}, OTHER_OPERATOR);
    const other = await timedOut(world, world.transaction(elsewhere, 'WIN'), false);
    await letPass(world, other.transactionId, 61);
    const second = tick(world);
    await until(
      'the transaction of the other operator is resolved',
      async () => (await stateOf(other)) === 'APPROVED',
    );
    heldCall.release();
    await Promise.all([first, second]);
    expect(await stateOf(body)).toBe('APPROVED');
  });
});

test('transactions whose resolution fails do not block later ones', async () => {
  // More than one page.
  const failing = Array.from({ length: 26 }, (_, index) => win({ transactionId: `unresolvable-${index}` }));
  for (const body of failing) await letPass(world, (await timedOut(world, body, false)).transactionId, 120);
  const behind = await timedOut(world, win(), false);
  await letPass(world, behind.transactionId, 61);
  await world.sql.run(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`);
  await world.sql.run(`
    CREATE TRIGGER refuse BEFORE UPDATE ON transactions FOR EACH ROW
      WHEN (new.transaction_id LIKE 'unresolvable-%' AND new.state = 'PENDING') EXECUTE FUNCTION refuse()`);
  await tick(world);
  await world.sql.run('DROP FUNCTION refuse CASCADE');
  expect(await stateOf(behind)).toBe('APPROVED');
  expect(await Promise.all(failing.map(stateOf))).toEqual(failing.map(() => 'TIMED_OUT'));
});

test('two instances at once send each transaction once', async () => {
  const second = await startApplication({ DATABASE_URL: world.databaseUrl }, world.clock);
  try {
    const bodies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => timedOut(world, index % 2 ? win() : bet(), index % 3 === 0)),
    );
    for (const { transactionId } of bodies) await letPass(world, transactionId, 61);
    await Promise.all([tick(world), second.app.get(Resolver).tick(), tick(world)]);
    for (const body of bodies) {
      const ending = await endingOf(world, body.transactionId);
      if (body.kind === 'BET') expect(world.wallet.calls(ending ?? '')).toHaveLength(1);
      else expect(calls(body)).toBe(2);
    }
    expect(balance()).toBe(START + 10 * 100);
  } finally {
    await second.app.close();
  }
});

test('a stop waits for the call in flight and begins no other', async () => {
  const environment = { DATABASE_URL: world.databaseUrl, OPERATOR_TIMEOUT_MS: '5000' };
  const other = await startApplication(environment, world.clock);
  const bodies = await Promise.all(Array.from({ length: 10 }, () => timedOut(world, win(), false)));
  for (const { transactionId } of bodies) await letPass(world, transactionId, 61);
  const heldCall = world.wallet.next({ do: 'hold' }, { kind: 'WIN' });
  const ticking = other.app.get(Resolver).tick();
  await heldCall.arrived;
  const closed = other.app.close();
  // The call is answered only after the stop has begun, whose first step closes the listener.
  await until('the stop has begun', () =>
    fetch(`${other.url}/health/live`).then(
      () => false,
      () => true,
    ),
  );
  heldCall.release();
  await Promise.all([ticking, closed]);
  const states = await Promise.all(bodies.map(stateOf));
  expect(states).toContain('APPROVED');
  expect(states).not.toContain('PENDING');
  const settled = bodies[states.indexOf('APPROVED')]!.transactionId;
  const found = await world.sql.run(
    `SELECT FROM attempt_ids WHERE transaction_id = $1 AND request_id LIKE 'resolver-%'`,
    [settled],
  );
  expect(found).toHaveLength(1);
});

test('a disabled operator is called, too: undecided transactions still settle', async () => {
  const body = await timedOut(world, win(), false);
  await letPass(world, body.transactionId, 61);
  await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { status: 'DISABLED' });
  await tick(world);
  await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { status: 'ACTIVE' });
  expect(await stateOf(body)).toBe('APPROVED');
});
