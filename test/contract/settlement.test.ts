import { beforeEach, describe, expect, test } from 'vitest';
import {
  FOREIGN_GAME,
  GAME,
  OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  type LaunchedSession,
  type Reply,
  useWorld,
} from '../world/world.js';

let session: LaunchedSession;
const LATE_SECONDS = 600;

const world = useWorld();
beforeEach(async () => {
  await configure({ lateSettlementSeconds: 0 });
  session = await world.launch({ ttlSeconds: 60 });
});

async function configure(provider: object): Promise<void> {
  const reply = await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, provider);
  expect(reply.status).toBe(200);
}

const bet = (fields = {}) => world.transaction(session, 'BET', fields);
const winIn = (roundId: string, fields = {}) => world.transaction(session, 'WIN', { roundId, ...fields });
const rollbackOf = (target: { transactionId: string; roundId: string }) =>
  world.transaction(session, 'ROLLBACK', {
    originalTransactionId: target.transactionId,
    roundId: target.roundId,
  });

function expectCode(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, code: reply.headers.get('x-error-code') }).toEqual({ status, code });
}
const expectSessionInvalid = (reply: Reply) => expectCode(reply, 401, 'SESSION_INVALID');

const endings = {
  'has expired': () => world.ageSession(session, 61),
  'was revoked': async () => {
    expect((await world.revoke(session.sessionId)).status).toBe(200);
  },
};

describe.each(Object.entries(endings))('when the session %s', (_, end) => {
  test('every call with it is 401, with one message', async () => {
    const unknown = await world.submit({ ...bet(), sessionToken: 'never seen' });
    await end();
    for (const kind of ['BET', 'WIN']) {
      const reply = await world.submit(world.transaction(session, kind));
      expectSessionInvalid(reply);
      expect(reply.text).toBe(unknown.text);
    }
    expectSessionInvalid(await world.balance(session));
    const { sessionToken } = session;
    expectSessionInvalid(await world.signed(PROVIDER, '/v1/wallet/session/verify', { sessionToken }));
  });

  test('a finished transaction is still answered as stored', async () => {
    const body = bet();
    const first = await world.submit(body);
    await end();
    const again = await world.submit(body);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('an undecided transaction is not retried by its provider', async () => {
    const body = bet();
    world.wallet.next({ do: 'drop' }, { transactionId: body.transactionId });
    await world.submit(body);
    await end();
    expectSessionInvalid(await world.submit(body));
  });

  test('with late settlement, a WIN and a ROLLBACK in its rounds are accepted, a BET is not', async () => {
    await configure({ lateSettlementSeconds: LATE_SECONDS });
    const won = bet();
    const undone = bet();
    await world.submit(won);
    await world.submit(undone);
    await end();
    expectSessionInvalid(await world.submit(bet()));
    expectSessionInvalid(await world.balance(session));
    expect((await world.submit(winIn(won.roundId))).json).toMatchObject({ status: 'APPROVED' });
    expect((await world.submit(rollbackOf(undone))).json).toMatchObject({ status: 'APPROVED' });
  });

  test('with late settlement, a WIN without a BET of this session needs free spins', async () => {
    await configure({ lateSettlementSeconds: LATE_SECONDS });
    const declined = bet();
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { transactionId: declined.transactionId });
    await world.submit(declined);
    const another = await world.launch({ playerRef: session.playerRef });
    const elsewhere = world.transaction(another, 'BET');
    expect((await world.submit(elsewhere)).json).toMatchObject({ status: 'APPROVED' });
    await end();
    expectSessionInvalid(await world.submit(winIn('round-of-nobody')));
    expectSessionInvalid(await world.submit(winIn(declined.roundId)));
    expectSessionInvalid(await world.submit(winIn(elsewhere.roundId)));
    expect((await world.submit(winIn(declined.roundId, { freeSpinsRef: 'b-1' }))).json).toMatchObject({
      status: 'APPROVED',
    });
  });

  test('late settlement ends', async () => {
    await configure({ lateSettlementSeconds: LATE_SECONDS });
    const body = bet();
    await world.submit(body);
    await end();
    await world.ageSession(session, LATE_SECONDS);
    expectSessionInvalid(await world.submit(winIn(body.roundId)));
  });

  test('late settlement is for the session’s own provider', async () => {
    await configure({ lateSettlementSeconds: LATE_SECONDS });
    const body = bet();
    await world.submit(body);
    await end();
    expectSessionInvalid(await world.submit(winIn(body.roundId), OTHER_PROVIDER));
  });
});

test('a session is revoked once; a second call returns the first revocation', async () => {
  const first = await world.revoke(session.sessionId);
  expect(first.json).toMatchObject({ sessionId: session.sessionId, status: 'REVOKED' });
  await world.advance(5);
  expect((await world.revoke(session.sessionId)).json['revokedAt']).toBe(first.json['revokedAt']);
});

test('an expired session can still be revoked', async () => {
  await world.ageSession(session, 61);
  expect((await world.revoke(session.sessionId)).json).toMatchObject({ status: 'REVOKED' });
});

test.each(['nothing', '00000000-0000-4000-8000-000000000000'])(
  'revoking the session %s is 404',
  async (id) => {
    expectCode(await world.revoke(id), 404, 'NOT_FOUND');
  },
);

test("another operator's session is 404", async () => {
  const path = `/v1/operator/sessions/${session.sessionId}/revoke`;
  expectCode(await world.signed('grand-casino', path, { reason: 'KICK' }), 404, 'NOT_FOUND');
});

test('all live sessions of a player are revoked together, but not those at another operator', async () => {
  const { playerRef } = session;
  const second = await world.launch({ playerRef, gameId: FOREIGN_GAME });
  const elsewhere = await world.launch({ playerRef }, 'grand-casino');
  const path = `/v1/operator/players/${playerRef}/revoke-sessions`;
  const reply = await world.signed(OPERATOR, path, { reason: 'SELF_EXCLUSION' });
  expect(reply.status).toBe(200);
  expect(new Set(reply.json['revoked'] as string[])).toEqual(new Set([session.sessionId, second.sessionId]));
  expectSessionInvalid(await world.submit(bet()));
  expect((await world.balance(elsewhere)).status).toBe(200);
  expect((await world.signed(OPERATOR, path, { reason: 'KICK' })).json).toEqual({ revoked: [] });
});

describe('when the game is disabled', () => {
  const game = (status: string) =>
    world.admin('PUT', `/v1/admin/games/${GAME}`, { providerId: PROVIDER, name: GAME, status });

  test('it takes no BET and no launch; WIN and ROLLBACK still settle', async () => {
    const won = bet();
    const undone = bet();
    await world.submit(won);
    await world.submit(undone);
    await game('DISABLED');
    try {
      const refused = bet();
      expectCode(await world.submit(refused), 503, 'GAME_NOT_CONFIGURED');
      expect(await world.stateOf(refused.transactionId)).toBeUndefined();
      expect((await world.submit(won)).headers.get('idempotency-replayed')).toBe('true');
      expect((await world.submit(winIn(won.roundId))).json).toMatchObject({ status: 'APPROVED' });
      expect((await world.submit(rollbackOf(undone))).json).toMatchObject({ status: 'APPROVED' });
      const launch = { playerRef: 'ann', gameId: GAME, currency: 'EUR' };
      expectCode(await world.signed(OPERATOR, '/v1/operator/sessions', launch), 503, 'GAME_NOT_CONFIGURED');
    } finally {
      await game('ACTIVE');
    }
  });
});

test('a game that was given to another provider takes no BET of its earlier sessions', async () => {
  const gameId = 'sold-reels';
  const game = (providerId: string) =>
    world.admin('PUT', `/v1/admin/games/${gameId}`, { providerId, name: gameId, status: 'ACTIVE' });
  await game(PROVIDER);
  session = await world.launch({ gameId });
  const won = bet();
  expect((await world.submit(won)).json).toMatchObject({ status: 'APPROVED' });
  await game(OTHER_PROVIDER);
  expectCode(await world.submit(bet()), 503, 'GAME_NOT_CONFIGURED');
  expect((await world.submit(winIn(won.roundId))).json).toMatchObject({ status: 'APPROVED' });
});

describe('when the operator is disabled', () => {
  const operator = (status: string) => world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { status });

  test('BET and balance are 503, its own calls 401; WIN and ROLLBACK still settle', async () => {
    const won = bet();
    const undone = bet();
    await world.submit(won);
    await world.submit(undone);
    await operator('DISABLED');
    try {
      expectCode(await world.submit(bet()), 503, 'OPERATOR_NOT_CONFIGURED');
      expectCode(await world.balance(session), 503, 'OPERATOR_NOT_CONFIGURED');
      expect((await world.submit(winIn(won.roundId))).json).toMatchObject({ status: 'APPROVED' });
      expect((await world.submit(rollbackOf(undone))).json).toMatchObject({ status: 'APPROVED' });
      const { sessionToken } = session;
      expect((await world.signed(PROVIDER, '/v1/wallet/session/verify', { sessionToken })).status).toBe(200);
      const launch = { playerRef: 'ann', gameId: GAME, currency: 'EUR' };
      expect((await world.signed(OPERATOR, '/v1/operator/sessions', launch)).text).toBe('invalid signature');
    } finally {
      await operator('ACTIVE');
    }
  });
});

test('a disabled provider is 401 in all its calls', async () => {
  await configure({ status: 'DISABLED' });
  try {
    expect((await world.submit(bet())).text).toBe('invalid signature');
  } finally {
    await configure({ status: 'ACTIVE' });
  }
});

describe('order of checks', () => {
  test('401 before 403, 403 before a mismatch, a mismatch before 503', async () => {
    const foreign = await world.launch({ gameId: FOREIGN_GAME });
    const body = world.transaction(foreign, 'BET', { currency: 'USD' });
    expectCode(await world.submit(body), 403, 'SESSION_OF_ANOTHER_PROVIDER');
    await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { status: 'DISABLED' });
    expectCode(await world.submit(bet({ currency: 'USD' })), 400, 'SESSION_MISMATCH');
    await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { status: 'ACTIVE' });
    await world.ageSession(foreign, 86_401);
    expectSessionInvalid(await world.submit(body));
  });
});
