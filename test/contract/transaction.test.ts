import { beforeEach, describe, expect, test } from 'vitest';
import { type TransactionBody, Transactions } from '../world/transactions.js';
import {
  FOREIGN_GAME,
  GAME,
  OPERATOR,
  OTHER_GAME,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  type LaunchedSession,
  type Reply,
  useWorld,
} from '../world/world.js';

let session: LaunchedSession;
const world = useWorld();
const transactions = new Transactions(world);
beforeEach(async () => (session = await world.launch()));

const bet = (fields = {}) => world.transaction(session, 'BET', fields);
const win = (fields = {}) => world.transaction(session, 'WIN', fields);
const rollbackOf = (target: TransactionBody, fields = {}) =>
  world.transaction(session, 'ROLLBACK', {
    originalTransactionId: target.transactionId,
    roundId: target.roundId,
    ...fields,
  });
const calls = (body: TransactionBody) => world.wallet.calls(body.transactionId);

function expectRefusal(reply: Reply, status: number, code: string, nextAction: string): void {
  expect({ status: reply.status, code: reply.headers.get('x-error-code') }).toEqual({ status, code });
  expect(reply.headers.get('x-next-action')).toBe(nextAction);
  expect(Object.keys(reply.json)).toEqual(['error']);
}
const expectInFlight = (reply: Reply) =>
  expectRefusal(reply, 409, 'TRANSACTION_IN_FLIGHT', 'wait-then-retry');

describe('a BET', () => {
  test('is booked by the operator, and answered with its balance', async () => {
    const body = bet({ amountMinor: 250, roundClosed: false });
    const reply = await world.submit(body);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.headers.get('idempotency-replayed')).toBeNull();
    expect(reply.json).toEqual({
      transactionId: body.transactionId,
      platformTransactionId: expect.any(String) as string,
      status: 'APPROVED',
      balance: 99_750,
      currency: 'EUR',
    });
    const [call, ...more] = calls(body);
    expect(more).toEqual([]);
    expect(call?.signatureOk).toBe(true);
    expect(call?.nonceFresh).toBe(true);
    expect(call?.headers['x-request-id']).toBe(reply.headers.get('x-request-id'));
    expect(call?.json).toEqual({
      transactionId: body.transactionId,
      providerId: PROVIDER,
      kind: 'BET',
      playerRef: session.playerRef,
      gameId: GAME,
      currency: 'EUR',
      amountMinor: 250,
      roundId: body.roundId,
      roundClosed: false,
    });
  });

  test.each([
    ['INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS'],
    ['PLAYER_BLOCKED', 'PLAYER_BLOCKED'],
    ['LIMIT_REACHED', 'LIMIT_REACHED'],
    ['STAKE_ABOVE_LIMIT', 'STAKE_ABOVE_LIMIT'],
    ['something of its own', 'OTHER'],
  ])('that the operator declines with %s is answered 200 DECLINED %s', async (reason, declineReason) => {
    const body = bet();
    world.wallet.next({ do: 'decline', reason }, { transactionId: body.transactionId });
    const reply = await world.submit(body);
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({ status: 'DECLINED', declineReason, balance: 100_000 });
    expect(reply.text).not.toContain('something');
  });

  test('of 2^53-1 is carried exactly', async () => {
    const amountMinor = Number.MAX_SAFE_INTEGER;
    const body = bet({ amountMinor });
    await world.submit(body);
    expect(calls(body)[0]?.rawBody.toString()).toContain(`"amountMinor":${amountMinor}`);
  });
});

describe("a BET above its session's highest stake", () => {
  const ABOVE = { status: 'DECLINED', declineReason: 'STAKE_ABOVE_LIMIT' };
  const balanceReads = () =>
    world.wallet.received.filter(
      ({ path, json }) => path === '/balance' && json['playerRef'] === session.playerRef,
    );
  const failNextBalance = () =>
    world.wallet.next({ do: 'answer', status: 503 }, { path: '/balance', playerRef: session.playerRef });
  beforeEach(async () => (session = await world.launch({ maxBetMinor: 100 })));

  test.each(['REAL', 'DEMO'])(
    'in mode %s is DECLINED and replayed; the operator never receives it',
    async (mode) => {
      session = await world.launch({ maxBetMinor: 100, mode });
      await transactions.approved(bet({ amountMinor: 100 }));
      const body = bet({ amountMinor: 101 });
      const reply = await world.submit(body);
      expect(reply.status).toBe(200);
      expect(reply.json).toMatchObject({ ...ABOVE, balance: 99_900 });
      const again = await world.submit(body);
      expect(again.text).toBe(reply.text);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await world.stateOf(body.transactionId)).toBe('DECLINED');
      expect(calls(body)).toEqual([]);
      expect(balanceReads()).toHaveLength(mode === 'REAL' ? 1 : 0);
    },
  );

  test('lets the WINs of its session be as high as they are', async () => {
    await transactions.approved(win({ amountMinor: 5_000 }));
  });

  test('is a 500 while the balance cannot be read, and the same verdict afterwards', async () => {
    const body = bet({ amountMinor: 101 });
    failNextBalance();
    expectRefusal(await world.submit(body), 500, 'OPERATOR_UNAVAILABLE', 'retry-same-request');
    expect(await world.stateOf(body.transactionId)).toBe('TIMED_OUT');
    expect((await world.submit(body)).json).toMatchObject(ABOVE);
    expect(calls(body)).toEqual([]);
  });

  test('can be rolled back while its answer lacks the balance, without a call', async () => {
    const body = bet({ amountMinor: 101 });
    failNextBalance();
    expect((await world.submit(body)).status).toBe(500);
    const rollback = rollbackOf(body);
    expect((await world.submit(rollback)).json).toMatchObject({ status: 'APPROVED' });
    expect(calls(rollback)).toEqual([]);
    expect((await world.submit(body)).json).toMatchObject(ABOVE);
    expect(calls(body)).toEqual([]);
  });

  test('a hundred times at once is declined once, and never booked', async () => {
    const body = bet({ amountMinor: 101 });
    const replies = await Promise.all(Array.from({ length: 100 }, () => world.submit(body)));
    for (const { status, json } of replies)
      if (status === 200) expect(json).toMatchObject(ABOVE);
      else expect(status).toBe(409);
    expect(replies.map(({ status }) => status)).toContain(200);
    expect(await world.stateOf(body.transactionId)).toBe('DECLINED');
    expect(calls(body)).toEqual([]);
  });
});

describe('an attempt that finds', () => {
  test.each([
    ['another kind', { kind: 'WIN' }],
    ['another amount', { amountMinor: 101 }],
    ['another round', { roundId: 'another-round' }],
    ['an original transaction', { originalTransactionId: 'another' }],
  ])('the id used with %s: 400 TRANSACTION_ID_REUSED, nothing changes', async (_, other) => {
    const first = await transactions.approved(bet());
    expectRefusal(await world.submit({ ...first, ...other }), 400, 'TRANSACTION_ID_REUSED', 'fix-request');
    expect(await world.stateOf(first.transactionId)).toBe('APPROVED');
    expect(calls(first)).toHaveLength(1);
  });

  test('the id used in another session with another player: 400 TRANSACTION_ID_REUSED', async () => {
    const first = await transactions.approved(bet());
    const { sessionToken, playerRef } = await world.launch();
    expectRefusal(
      await world.submit({ ...first, sessionToken, playerRef }),
      400,
      'TRANSACTION_ID_REUSED',
      'fix-request',
    );
  });

  test('the id used at another operator: 400 TRANSACTION_ID_REUSED', async () => {
    const first = await transactions.approved(bet());
    const { sessionToken } = await world.launch({ playerRef: session.playerRef }, OTHER_OPERATOR);
    expectRefusal(
      await world.submit({ ...first, sessionToken }),
      400,
      'TRANSACTION_ID_REUSED',
      'fix-request',
    );
  });

  test('the id used by another provider: a separate transaction', async () => {
    const first = await transactions.approved(bet());
    const foreign = await world.launch({ gameId: FOREIGN_GAME });
    const body = world.transaction(foreign, 'BET', { transactionId: first.transactionId });
    expect((await world.submit(body, OTHER_PROVIDER)).json).toMatchObject({ status: 'APPROVED' });
  });

  test('the id being booked for another provider: neither answer settles the other', async () => {
    const body = bet();
    const { release, answer } = await transactions.pending(body);
    const foreign = await world.launch({ gameId: FOREIGN_GAME });
    const { transactionId, roundId } = body;
    const theirs = world.transaction(foreign, 'BET', { transactionId, roundId });
    expect((await world.submit(theirs, OTHER_PROVIDER)).json).toMatchObject({ status: 'APPROVED' });
    expectInFlight(await world.submit(body));
    release();
    expect((await answer).json).toMatchObject({ status: 'APPROVED' });

    const rollback = rollbackOf(body);
    const held = await transactions.pending(rollback);
    const { sessionToken, playerRef, gameId } = theirs;
    const ofTheirs = { ...rollback, sessionToken, playerRef, gameId };
    expect((await world.submit(ofTheirs, OTHER_PROVIDER)).json).toMatchObject({ status: 'APPROVED' });
    expectInFlight(await world.submit(body));
    held.release();
    expect((await held.answer).json).toMatchObject({ status: 'APPROVED' });
  });

  test("itself APPROVED, and another provider's ROLLBACK of the same id TIMED_OUT: the stored body", async () => {
    const body = await transactions.approved(bet());
    const foreign = await world.launch({ gameId: FOREIGN_GAME });
    const rollback = world.transaction(foreign, 'ROLLBACK', { originalTransactionId: body.transactionId });
    world.wallet.next({ do: 'answer', status: 500 }, { transactionId: rollback.transactionId });
    expect((await world.submit(rollback, OTHER_PROVIDER)).status).toBe(500);
    expect((await world.submit(body)).headers.get('idempotency-replayed')).toBe('true');
  });

  test('itself APPROVED, and a WIN that names it TIMED_OUT: the stored body', async () => {
    const body = await transactions.approved(bet());
    const { transactionId: originalTransactionId, roundId } = body;
    await transactions.timedOut(win({ originalTransactionId, roundId }));
    expect((await world.submit(body)).headers.get('idempotency-replayed')).toBe('true');
  });

  test.each([
    ['another token of the same session data', {}],
    ['another freeSpinsRef', { freeSpinsRef: 'batch-9' }],
    ['another roundClosed', { roundClosed: true }],
    ['unknown fields', { __proto__: { a: 1 }, extra: { deep: [1] } }],
  ])('itself APPROVED, with %s: the stored body, byte for byte', async (_, fields) => {
    const body = bet();
    const first = await world.submit(body);
    await transactions.approved(bet());
    const { sessionToken } = await world.launch({ playerRef: session.playerRef });
    const again = await world.submit({ ...body, ...fields, sessionToken });
    expect(again.status).toBe(200);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(calls(body)).toHaveLength(1);
  });

  test('itself DECLINED: the stored body, the operator is not called', async () => {
    const body = await transactions.declined(bet());
    const again = await world.submit(body);
    expect(again.json).toMatchObject({ status: 'DECLINED', declineReason: 'INSUFFICIENT_FUNDS' });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(calls(body)).toHaveLength(1);
  });

  test('itself ROLLED_BACK: DECLINED TRANSACTION_ROLLED_BACK, no money moves', async () => {
    const body = await transactions.approved(bet());
    await transactions.approved(rollbackOf(body));
    const reply = await world.submit(body);
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({
      status: 'DECLINED',
      declineReason: 'TRANSACTION_ROLLED_BACK',
      balance: 100_000,
    });
    expect(calls(body)).toHaveLength(1);
  });

  test.each(['BET', 'WIN'])('a tombstone, for a %s: DECLINED TRANSACTION_ROLLED_BACK', async (kind) => {
    const body = world.transaction(session, kind);
    await transactions.approved(rollbackOf(body));
    for (const repeated of [body, { ...body, amountMinor: 7 }]) {
      const reply = await world.submit(repeated);
      expect(reply.json).toMatchObject({ status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' });
    }
    expect(calls(body)).toHaveLength(0);
  });

  test('itself PENDING with its lease alive: 409', async () => {
    const body = bet();
    const { release, answer } = await transactions.pending(body);
    expectInFlight(await world.submit(body));
    release();
    expect((await answer).json).toMatchObject({ status: 'APPROVED' });
    expect(calls(body)).toHaveLength(1);
  });

  test('itself PENDING with its lease alive: 409, although the session ends meanwhile', async () => {
    const ending = await world.launch();
    const body = world.transaction(ending, 'BET');
    const { release, answer } = await transactions.pending(body);
    await world.revoke(ending.sessionId);
    expectInFlight(await world.submit(body));
    release();
    expect((await answer).json).toMatchObject({ status: 'APPROVED' });
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED' });
    expect((await world.submit(world.transaction(ending, 'BET'))).status).toBe(401);
  });

  test('itself PENDING with its lease over: a new attempt with the same request; the old one is fenced', async () => {
    const body = await transactions.abandoned(bet({ freeSpinsRef: 'first', roundClosed: false }));
    const second = await world.submit({ ...body, freeSpinsRef: 'other', roundClosed: true });
    expect(second.json).toMatchObject({ status: 'APPROVED' });
    const [old] = await transactions.releaseAbandoned();
    expect(old?.text).toBe(second.text);
    expect(old?.headers.get('idempotency-replayed')).toBe('true');
    const [one, two] = calls(body);
    expect(two?.rawBody.equals(one?.rawBody ?? Buffer.of())).toBe(true);
    expect(world.wallet.booked(body.transactionId)?.movements).toBe(1);
  });

  test('itself taken over by an attempt still under way: the old holder answers 409', async () => {
    const body = await transactions.abandoned(bet());
    const { release, answer } = await transactions.pending(body);
    const [old] = await transactions.releaseAbandoned();
    expectInFlight(old as Reply);
    release();
    expect((await answer).json).toMatchObject({ status: 'APPROVED' });
  });

  test.each([false, true])('itself TIMED_OUT (booked: %s): a new attempt, one movement', async (booked) => {
    const body = await transactions.timedOut(bet(), booked);
    expect(await world.stateOf(body.transactionId)).toBe('TIMED_OUT');
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 99_900 });
    expect(world.wallet.booked(body.transactionId)?.movements).toBe(1);
  });

  test.each(['PENDING', 'TIMED_OUT'])('itself stored, and a ROLLBACK of it %s: 409', async (state) => {
    for (const target of [await transactions.approved(bet()), await transactions.timedOut(bet())]) {
      const rollback = rollbackOf(target);
      const held = state === 'PENDING' ? await transactions.pending(rollback) : undefined;
      if (!held) await transactions.timedOut(rollback);
      const callsBefore = calls(target).length;
      expectInFlight(await world.submit(target));
      held?.release();
      await held?.answer;
      expect(calls(target)).toHaveLength(callsBefore);
    }
  });
});

describe('while a ROLLBACK only waits for the balance of its verdict', () => {
  test.each(['PENDING', 'TIMED_OUT'])(
    '(%s) its DECLINED target is 409, and so is another ROLLBACK',
    async (state) => {
      const target = await transactions.declined(bet());
      const balance = { path: '/balance', playerRef: session.playerRef } as const;
      const first = rollbackOf(target);
      const held = world.wallet.next(state === 'PENDING' ? { do: 'hold' } : { do: 'drop' }, balance);
      const answer = world.submit(first);
      await held.arrived;
      if (state === 'TIMED_OUT') expect((await answer).status).toBe(500);
      const second = rollbackOf(target);
      expectInFlight(await world.submit(target));
      expectInFlight(await world.submit(second));
      held.release();
      await answer;
      expect((await world.submit(first)).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
      expect((await world.submit(target)).headers.get('idempotency-replayed')).toBe('true');
      expect((await world.submit(second)).json).toMatchObject({ status: 'APPROVED' });
    },
  );
});

describe('a WIN', () => {
  test('without any BET is booked', async () => {
    expect((await world.submit(win({ amountMinor: 0 }))).json).toMatchObject({ status: 'APPROVED' });
  });

  test('with only DECLINED BETs is booked', async () => {
    const { roundId } = await transactions.declined(bet());
    expect((await world.submit(win({ roundId }))).json).toMatchObject({ status: 'APPROVED' });
  });

  test('on an APPROVED BET is booked, whatever else is in the round', async () => {
    const { roundId } = await transactions.approved(bet());
    await transactions.timedOut(bet({ roundId }));
    expect((await world.submit(win({ roundId }))).json).toMatchObject({ status: 'APPROVED' });
  });

  test.each(['PENDING', 'TIMED_OUT'])('with only a %s BET: 409', async (state) => {
    const body = bet();
    const held = state === 'PENDING' ? await transactions.pending(body) : undefined;
    if (!held) await transactions.timedOut(body);
    expectInFlight(await world.submit(win({ roundId: body.roundId })));
    held?.release();
    await held?.answer;
  });

  test('on a BET that is being rolled back: 409', async () => {
    const body = await transactions.approved(bet());
    await transactions.timedOut(rollbackOf(body));
    expectInFlight(await world.submit(win({ roundId: body.roundId })));
  });

  test('on BETs that are all ROLLED_BACK: DECLINED, and a repetition gets the same answer', async () => {
    const body = await transactions.approved(bet());
    await transactions.approved(rollbackOf(body));
    const settling = win({ roundId: body.roundId });
    const reply = await world.submit(settling);
    expect(reply.json).toMatchObject({ status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' });
    expect((await world.submit(settling)).text).toBe(reply.text);
    expect(calls(settling)).toHaveLength(0);
  });

  test('of free spins is booked even on a BET that was rolled back', async () => {
    const body = await transactions.approved(bet());
    await transactions.approved(rollbackOf(body));
    const freeSpins = win({ roundId: body.roundId, freeSpinsRef: 'batch-1' });
    expect((await world.submit(freeSpins)).json).toMatchObject({ status: 'APPROVED' });
    expect(calls(freeSpins)[0]?.json).toMatchObject({ freeSpinsRef: 'batch-1' });
  });

  test.each(['JACKPOT', 'PROMOTION', 'TOURNAMENT'])('of a %s needs no BET: %s', async (winKind) => {
    const body = await transactions.approved(bet());
    await transactions.approved(rollbackOf(body));
    const prize = win({ roundId: body.roundId, winKind, promotionRef: 'race-3' });
    expect((await world.submit(prize)).json).toMatchObject({ status: 'APPROVED' });
    expect(calls(prize)[0]?.json).toMatchObject({ winKind, promotionRef: 'race-3' });
  });

  test('is sent to the operator with the winKind that was given, and with none otherwise', async () => {
    for (const fields of [{ winKind: 'GAME' }, { winKind: 'FREE_SPINS', freeSpinsRef: 'batch-1' }]) {
      const body = await transactions.approved(win(fields));
      expect(calls(body)[0]?.json).toMatchObject(fields);
    }
    for (const fields of [{}, { freeSpinsRef: 'batch-1' }, { winKind: null, promotionRef: null }]) {
      const body = await transactions.approved(win(fields));
      expect(calls(body)[0]?.json).not.toHaveProperty('winKind');
      expect(calls(body)[0]?.json).not.toHaveProperty('promotionRef');
    }
  });

  test('is sent again with the same winKind and promotionRef by a later attempt', async () => {
    const body = await transactions.timedOut(win({ winKind: 'JACKPOT', promotionRef: 'mega' }));
    await transactions.approved(body);
    const [first, second] = calls(body);
    expect(second?.rawBody.toString()).toBe(first?.rawBody.toString());
  });

  test.each([
    ['a BET', 'winKind', { kind: 'BET', winKind: 'JACKPOT' }],
    ['a BET', 'promotionRef', { kind: 'BET', promotionRef: 'race-3' }],
    ['a ROLLBACK', 'winKind', { kind: 'ROLLBACK', originalTransactionId: 'bet', winKind: 'GAME' }],
    ['a ROLLBACK', 'promotionRef', { kind: 'ROLLBACK', originalTransactionId: 'bet', promotionRef: 'p' }],
    ['a WIN', 'winKind', { winKind: 'FREE_SPINS' }],
    ['a WIN', 'winKind', { winKind: 'GAME', freeSpinsRef: 'batch-1' }],
    ['a WIN', 'winKind', { winKind: 'RAFFLE' }],
    ['a WIN', 'winKind', { winKind: 1 }],
    ['a WIN', 'promotionRef', { promotionRef: 'two words' }],
    ['a WIN', 'promotionRef', { promotionRef: '' }],
    ['a WIN', 'promotionRef', { promotionRef: 'p'.repeat(129) }],
  ])('%s is refused for its %s: %j', async (_, field, fields) => {
    const body = win(fields);
    const reply = await world.submit(body);
    expectRefusal(reply, 400, 'INVALID_REQUEST', 'fix-request');
    expect(reply.json['error']).toMatch(new RegExp(`^${field} `));
    expect(await world.stateOf(body.transactionId)).toBeUndefined();
  });

  test.each([
    ['player', { playerRef: 'another-player' }, OPERATOR],
    ['operator', {}, OTHER_OPERATOR],
    ['game', { gameId: OTHER_GAME }, OPERATOR],
    ['mode', { mode: 'DEMO' }, OPERATOR],
  ])(
    'of another %s in the same roundId depends on the BETs of its own round',
    async (_, fields, operator) => {
      const body = await transactions.approved(bet());
      await transactions.approved(rollbackOf(body));
      const other = await world.launch({ playerRef: session.playerRef, ...fields }, operator);
      // From the second one on, both rounds have a version.
      for (let wins = 0; wins < 2; wins += 1) {
        await transactions.approved(world.transaction(other, 'WIN', { roundId: body.roundId }));
      }
    },
  );

  test('whose verdict had no balance gets the same verdict at the next try', async () => {
    const body = await transactions.approved(bet());
    await transactions.approved(rollbackOf(body));
    const settling = win({ roundId: body.roundId });
    world.wallet.next({ do: 'answer', status: 503 }, { path: '/balance', playerRef: session.playerRef });
    expectRefusal(await world.submit(settling), 500, 'OPERATOR_UNAVAILABLE', 'retry-same-request');
    await transactions.approved(bet({ roundId: body.roundId }));
    expect((await world.submit(settling)).json).toMatchObject({
      status: 'DECLINED',
      declineReason: 'TRANSACTION_ROLLED_BACK',
    });
  });
});

describe('a ROLLBACK whose target', () => {
  test('is itself: 400 INVALID_REQUEST', async () => {
    const body = world.transaction(session, 'ROLLBACK');
    const reply = await world.submit({ ...body, originalTransactionId: body.transactionId });
    expectRefusal(reply, 400, 'INVALID_REQUEST', 'fix-request');
    expect(await world.stateOf(body.transactionId)).toBeUndefined();
  });

  test.each([
    ['player', async () => world.launch()],
    ['operator', async () => world.launch({ playerRef: session.playerRef }, OTHER_OPERATOR)],
    ['game', async () => world.launch({ playerRef: session.playerRef, gameId: OTHER_GAME })],
    ['currency', async () => world.launch({ playerRef: session.playerRef, currency: 'USD' })],
    ['mode', async () => world.launch({ playerRef: session.playerRef, mode: 'DEMO' })],
  ])('is of another %s: 400 SESSION_MISMATCH', async (_, launch) => {
    const target = await transactions.approved(bet());
    const other = await launch();
    const body = world.transaction(other, 'ROLLBACK', {
      originalTransactionId: target.transactionId,
      roundId: target.roundId,
    });
    expectRefusal(await world.submit(body), 400, 'SESSION_MISMATCH', 'fix-request');
    expect(await world.stateOf(target.transactionId)).toBe('APPROVED');
  });

  test('is of another round: 400 SESSION_MISMATCH', async () => {
    const target = await transactions.approved(bet());
    const reply = await world.submit(rollbackOf(target, { roundId: 'elsewhere' }));
    expectRefusal(reply, 400, 'SESSION_MISMATCH', 'fix-request');
  });

  test('had another amount: 400; the same amount is accepted', async () => {
    const target = await transactions.approved(bet());
    const other = rollbackOf(target, { amountMinor: 99 });
    const reply = await world.submit(other);
    expectRefusal(reply, 400, 'INVALID_REQUEST', 'fix-request');
    expect(reply.json['error']).toBe("amountMinor must be the BET's");
    expect((await world.submit({ ...other, amountMinor: 100 })).json).toMatchObject({ status: 'APPROVED' });
  });

  test.each(['WIN', 'ROLLBACK'])('is a %s: DECLINED NOT_ROLLBACKABLE, and no call', async (kind) => {
    const first = await transactions.approved(bet());
    const target =
      kind === 'WIN' ? await transactions.approved(win()) : await transactions.approved(rollbackOf(first));
    const body = rollbackOf(target);
    const reply = await world.submit(body);
    expect(reply.json).toMatchObject({
      status: 'DECLINED',
      declineReason: 'NOT_ROLLBACKABLE',
      balance: world.wallet.balanceOf(session.playerRef),
    });
    expect(calls(body)).toHaveLength(0);
    expect((await world.submit(body)).text).toBe(reply.text);
  });

  test('is PENDING with its lease alive: 409', async () => {
    const target = bet();
    const { release, answer } = await transactions.pending(target);
    const body = rollbackOf(target);
    expectInFlight(await world.submit(body));
    release();
    await answer;
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
  });

  test.each(['PENDING', 'TIMED_OUT'])('has another ROLLBACK %s: 409', async (state) => {
    const target = await transactions.approved(bet());
    const first = rollbackOf(target);
    const held = state === 'PENDING' ? await transactions.pending(first) : undefined;
    if (!held) await transactions.timedOut(first);
    const second = rollbackOf(target);
    expectInFlight(await world.submit(second));
    held?.release();
    await held?.answer;
    expect(calls(second)).toHaveLength(0);
  });

  test('is ROLLED_BACK by another id: APPROVED, no second movement', async () => {
    const target = await transactions.approved(bet());
    await transactions.approved(rollbackOf(target));
    const second = rollbackOf(target);
    expect((await world.submit(second)).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
    expect(calls(second)).toHaveLength(0);
  });

  test('is DECLINED: APPROVED with the current balance, no movement', async () => {
    const target = await transactions.declined(bet());
    const body = rollbackOf(target);
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
    expect(calls(body)).toHaveLength(0);
  });

  test('is in a round with an APPROVED WIN: DECLINED ROUND_ALREADY_SETTLED', async () => {
    const target = await transactions.approved(bet());
    await transactions.approved(win({ roundId: target.roundId }));
    const reply = await world.submit(rollbackOf(target));
    expect(reply.json).toMatchObject({ status: 'DECLINED', declineReason: 'ROUND_ALREADY_SETTLED' });
    expect(await world.stateOf(target.transactionId)).toBe('APPROVED');
  });

  test.each([
    ['JACKPOT', { status: 'DECLINED', declineReason: 'ROUND_ALREADY_SETTLED' }],
    ['PROMOTION', { status: 'APPROVED' }],
    ['TOURNAMENT', { status: 'APPROVED' }],
  ])('is in a round with a %s: %o', async (winKind, answer) => {
    for (const prize of ['approved', 'timedOut'] as const) {
      const target = await transactions.approved(bet());
      await transactions[prize](win({ roundId: target.roundId, winKind }));
      const reply = await world.submit(rollbackOf(target));
      if (winKind === 'JACKPOT' && prize === 'timedOut') expectInFlight(reply);
      else expect(reply.json).toMatchObject(answer);
    }
  });

  test.each(['PENDING', 'TIMED_OUT'])(
    'is in a round with a %s WIN: 409 until it is decided',
    async (state) => {
      const target = await transactions.approved(bet());
      const settling = win({ roundId: target.roundId });
      const held = state === 'PENDING' ? await transactions.pending(settling) : undefined;
      if (!held) await transactions.timedOut(settling);
      const body = rollbackOf(target);
      expectInFlight(await world.submit(body));
      held?.release();
      await held?.answer;
      world.wallet.next({ do: 'decline', reason: 'OTHER' }, { transactionId: settling.transactionId });
      if (!held) await world.submit(settling);
      expect((await world.submit(body)).json).toMatchObject(
        held ? { declineReason: 'ROUND_ALREADY_SETTLED' } : { status: 'APPROVED' },
      );
    },
  );

  test('is APPROVED: the operator is called with the amount of the original, and the target is ROLLED_BACK', async () => {
    const target = await transactions.approved(bet({ amountMinor: 300 }));
    const body = rollbackOf(target);
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
    expect(calls(body)[0]?.json).toMatchObject({
      kind: 'ROLLBACK',
      amountMinor: 300,
      originalTransactionId: target.transactionId,
    });
    expect(await world.stateOf(target.transactionId)).toBe('ROLLED_BACK');
  });

  test.each([false, true])('is TIMED_OUT (booked: %s): the operator is called', async (booked) => {
    const target = await transactions.timedOut(bet(), booked);
    expect((await world.submit(rollbackOf(target))).json).toMatchObject({
      status: 'APPROVED',
      balance: 100_000,
    });
    expect(await world.stateOf(target.transactionId)).toBe('ROLLED_BACK');
    expect((await world.submit(target)).json).toMatchObject({ declineReason: 'TRANSACTION_ROLLED_BACK' });
    expect(world.wallet.balanceOf(session.playerRef)).toBe(100_000);
  });

  test('is PENDING with its lease over: the operator is called, and the old holder is fenced', async () => {
    const target = await transactions.abandoned(bet());
    expect((await world.submit(rollbackOf(target))).json).toMatchObject({ status: 'APPROVED' });
    const [old] = await transactions.releaseAbandoned();
    expect(old?.json).toMatchObject({ status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' });
    expect(world.wallet.balanceOf(session.playerRef)).toBe(100_000);
  });

  test('is PENDING with its lease over, and the old holder wakes up during the ROLLBACK: 409', async () => {
    const target = await transactions.abandoned(bet());
    const { release, answer } = await transactions.pending(rollbackOf(target));
    const [old] = await transactions.releaseAbandoned();
    expectInFlight(old as Reply);
    expect(await world.stateOf(target.transactionId)).toBe('PENDING');
    release();
    expect((await answer).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
    expect(await world.stateOf(target.transactionId)).toBe('ROLLED_BACK');
  });

  test('is unknown: APPROVED, a tombstone here and one at the operator', async () => {
    const target = bet();
    const body = rollbackOf(target, { amountMinor: 55 });
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
    expect(calls(body)[0]?.json).toMatchObject({ amountMinor: 55 });
    const second = rollbackOf(target);
    expect((await world.submit(second)).json).toMatchObject({ status: 'APPROVED' });
    expect(calls(second)).toHaveLength(0);
  });

  test('is unknown, and no amount is sent: the operator gets 0', async () => {
    const body = rollbackOf(bet());
    await world.submit(body);
    expect(calls(body)[0]?.json).toMatchObject({ amountMinor: 0 });
  });

  test('is unknown: a BET with that id is DECLINED from the claim on, whatever the outcome of the ROLLBACK', async () => {
    const target = bet();
    const body = await transactions.timedOut(rollbackOf(target));
    expect((await world.submit(target)).json).toMatchObject({ declineReason: 'TRANSACTION_ROLLED_BACK' });
    expectInFlight(await world.submit(rollbackOf(target)));
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { transactionId: body.transactionId });
    expect((await world.submit(body)).json).toMatchObject({ status: 'DECLINED' });
    expect((await world.submit(target)).json).toMatchObject({ declineReason: 'TRANSACTION_ROLLED_BACK' });
    const second = rollbackOf(target);
    expect((await world.submit(second)).json).toMatchObject({ status: 'APPROVED' });
    expect(calls(second)).toHaveLength(1);
  });

  test('is APPROVED, and the operator declines: the target stays APPROVED, and another ROLLBACK may try', async () => {
    const target = await transactions.approved(bet());
    await transactions.declined(rollbackOf(target));
    expect(await world.stateOf(target.transactionId)).toBe('APPROVED');
    expect((await world.submit(target)).headers.get('idempotency-replayed')).toBe('true');
    expect((await world.submit(rollbackOf(target))).json).toMatchObject({
      status: 'APPROVED',
      balance: 100_000,
    });
  });

  test('is unknown when the ROLLBACK comes back after TIMED_OUT: the same request, one tombstone', async () => {
    const target = await transactions.approved(bet());
    const body = await transactions.timedOut(rollbackOf(target), true);
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: 100_000 });
    const [one, two] = calls(body);
    expect(two?.rawBody.equals(one?.rawBody ?? Buffer.of())).toBe(true);
    expect(await world.stateOf(target.transactionId)).toBe('ROLLED_BACK');
  });
});

describe('only a 200 with a status and an integer balance is a valid answer of the operator', () => {
  const named = (fields: string) => ({ do: 'answer-call', fields }) as const;
  const unusable = {
    'a redirect': { do: 'redirect', to: '/elsewhere' },
    'a 201': { do: 'answer', status: 201, body: { status: 'APPROVED', balance: 1 } },
    'a 400': { do: 'answer', status: 400, body: { status: 'DECLINED', balance: 1 } },
    'a 500': { do: 'answer', status: 500 },
    'a dropped connection': { do: 'drop' },
    'a body cut short': { do: 'book-then', then: { do: 'truncate' } },
    'no JSON': { do: 'garbage' },
    'an array': { do: 'answer', status: 200, body: '[{"status":"APPROVED","balance":1}]' },
    'no balance': named('"status":"APPROVED"'),
    'a balance as a string': named('"status":"APPROVED","balance":"1"'),
    'a balance with a fraction': named('"status":"APPROVED","balance":1.5'),
    'a balance beyond 2^53': named('"status":"APPROVED","balance":9007199254740993'),
    'a balance that rounds': named('"status":"APPROVED","balance":9007199254740990.6'),
    'another status': named('"status":"OK","balance":1'),
    'a huge body': named(`"status":"APPROVED","balance":1,"x":"${'x'.repeat(70_000)}"`),
    'no transactionId': { do: 'answer', status: 200, body: { status: 'APPROVED', balance: 1 } },
  } as const;

  test.each(Object.entries(unusable))('%s: 500 OPERATOR_UNAVAILABLE, TIMED_OUT', async (_, behaviour) => {
    const body = bet();
    world.wallet.next(behaviour, { transactionId: body.transactionId });
    expectRefusal(await world.submit(body), 500, 'OPERATOR_UNAVAILABLE', 'retry-same-request');
    expect(await world.stateOf(body.transactionId)).toBe('TIMED_OUT');
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED' });
  });

  test.each([
    ['silence', { do: 'hang' }],
    ['an answer byte by byte', { do: 'book-then', then: { do: 'drip', everyMs: 100 } }],
  ] as const)('%s: 500 OPERATOR_TIMED_OUT, TIMED_OUT', async (_, behaviour) => {
    const body = bet();
    world.wallet.next(behaviour, { transactionId: body.transactionId });
    expectRefusal(await world.submit(body), 500, 'OPERATOR_TIMED_OUT', 'retry-same-request');
    expect(await world.stateOf(body.transactionId)).toBe('TIMED_OUT');
  });

  test.each([
    ['a truncated character', `${'x'.repeat(199)}😀 and more`],
    ['control characters', 'no\u0000\u0007\u001b[31m'],
    ['a lone surrogate', '\ud83d'],
  ])('its reason may be any text, including %s', async (_, reason) => {
    const body = bet();
    const answer = JSON.stringify({ status: 'DECLINED', balance: 1, reason, operatorTransactionId: reason });
    world.wallet.next(named(answer.slice(1, -1)), { transactionId: body.transactionId });
    expect((await world.submit(body)).json).toMatchObject({ status: 'DECLINED', declineReason: 'OTHER' });
  });

  test('a negative balance is valid', async () => {
    const body = bet();
    world.wallet.next(named('"status":"APPROVED","balance":-5'), { transactionId: body.transactionId });
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED', balance: -5 });
  });
});

describe('balance', () => {
  test('is passed through', async () => {
    world.wallet.setBalance(session.playerRef, 4242);
    const reply = await world.balance(session);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({ balance: 4242 });
    const call = world.wallet.received.at(-1);
    expect(call?.json).toEqual({ playerRef: session.playerRef, currency: 'EUR' });
    expect(call?.signatureOk).toBe(true);
  });

  test('is 500 when the operator fails, and nothing is retried', async () => {
    world.wallet.next({ do: 'answer', status: 500 }, { playerRef: session.playerRef });
    const before = world.wallet.received.length;
    expectRefusal(await world.balance(session), 500, 'OPERATOR_UNAVAILABLE', 'retry-same-request');
    expect(world.wallet.received.length).toBe(before + 1);
  });

  test('is 500 OPERATOR_TIMED_OUT when the operator is silent', async () => {
    world.wallet.next({ do: 'hang' }, { playerRef: session.playerRef });
    expectRefusal(await world.balance(session), 500, 'OPERATOR_TIMED_OUT', 'retry-same-request');
  });

  test("of another provider's session is 403", async () => {
    const reply = await world.signed(OTHER_PROVIDER, '/v1/wallet/balance', {
      sessionToken: session.sessionToken,
    });
    expectRefusal(reply, 403, 'SESSION_OF_ANOTHER_PROVIDER', 'fix-request');
  });
});

test('the operator sees one kept-alive connection pool, not a connection for each call', async () => {
  const before = world.wallet.connections;
  for (let index = 0; index < 20; index += 1) await transactions.approved(bet());
  expect(world.wallet.connections - before).toBeLessThan(10);
});

test("a call to the wallet carries the id of the session's operator", async () => {
  await transactions.approved(bet());
  expect(world.wallet.received.at(-1)?.headers['x-tenant-id']).toBe(OPERATOR);
});
