import { beforeEach, describe, expect, test } from 'vitest';
import {
  FOREIGN_GAME,
  GAME,
  type LaunchedSession,
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  useWorld,
} from '../world/world.js';
import { timedOut } from './desk.js';

let session: LaunchedSession;
const world = useWorld();
beforeEach(async () => (session = await world.launch()));

const get = (path: string) => world.admin('GET', `/v1/admin/${path}`);
async function items(path: string): Promise<Record<string, unknown>[]> {
  const reply = await get(path);
  expect(reply.status).toBe(200);
  return reply.json['items'] as Record<string, unknown>[];
}
const sessions = async (query: string) =>
  new Set((await items(`sessions?${query}`)).map(({ sessionId }) => sessionId));

describe('the list of sessions', () => {
  test('shows the fields of a session, never its token', async () => {
    expect(await items(`sessions?playerRef=${session.playerRef}`)).toEqual([
      {
        sessionId: session.sessionId,
        status: 'ACTIVE',
        operatorId: OPERATOR,
        providerId: PROVIDER,
        playerRef: session.playerRef,
        gameId: GAME,
        currency: 'EUR',
        mode: 'REAL',
        createdAt: expect.stringMatching(/Z$/) as string,
        expiresAt: expect.stringMatching(/Z$/) as string,
      },
    ]);
  });

  test('is restricted by each of its filters', async () => {
    const { playerRef } = session;
    const elsewhere = await world.launch({ playerRef }, OTHER_OPERATOR);
    const foreign = await world.launch({ playerRef, gameId: FOREIGN_GAME });
    await world.admin('POST', `/v1/admin/sessions/${foreign.sessionId}/revoke`, { reason: 'FRAUD_HOLD' });
    const of = `playerRef=${playerRef}`;
    expect(await sessions(`${of}&operatorId=${OTHER_OPERATOR}`)).toEqual(new Set([elsewhere.sessionId]));
    expect(await sessions(`${of}&providerId=${OTHER_PROVIDER}`)).toEqual(new Set([foreign.sessionId]));
    expect(await sessions(`${of}&gameId=${FOREIGN_GAME}`)).toEqual(new Set([foreign.sessionId]));
    expect(await sessions(`${of}&revoked=true`)).toEqual(new Set([foreign.sessionId]));
    expect((await sessions(`${of}&revoked=false`)).size).toBe(2);
    expect((await sessions(`${of}&to=2020-01-01`)).size).toBe(0);
    expect((await sessions(`${of}&from=2020-01-01`)).size).toBe(3);
    const [revoked] = await items(`sessions?${of}&revoked=true`);
    expect(revoked).toMatchObject({ status: 'REVOKED', revokeReason: 'FRAUD_HOLD' });
  });

  test('is read page by page, newest first', async () => {
    const { playerRef } = session;
    const second = await world.launch({ playerRef });
    const first = await get(`sessions?playerRef=${playerRef}&limit=1`);
    expect(first.json['items']).toMatchObject([{ sessionId: second.sessionId }]);
    const cursor = String(first.json['nextCursor']);
    const rest = await get(`sessions?playerRef=${playerRef}&limit=1&cursor=${cursor}`);
    expect(rest.json['items']).toMatchObject([{ sessionId: session.sessionId }]);
    expect(rest.json).not.toHaveProperty('nextCursor');
  });

  test.each(['revoked=maybe', 'cursor=x', 'playerRef='])('refuses ?%s with 400', async (query) => {
    expect((await get(`sessions?${query}`)).status).toBe(400);
  });
});

describe('one session', () => {
  test('has its rounds and transactions, and nothing of the player’s other sessions', async () => {
    const bet = world.transaction(session, 'BET', { amountMinor: 250 });
    const win = world.transaction(session, 'WIN', { amountMinor: 40, roundId: bet.roundId });
    const other = world.transaction(session, 'BET');
    for (const body of [bet, win]) await world.submit(body);
    await timedOut(world, other, false);
    const { playerRef } = session;
    await world.submit(world.transaction(await world.launch({ playerRef }), 'BET'));
    const { status, json } = await get(`sessions/${session.sessionId}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      session: { sessionId: session.sessionId, status: 'ACTIVE' },
      rounds: [
        {
          roundId: other.roundId,
          betMinor: 0,
          wonMinor: 0,
          undecided: 1,
          transactionIds: [other.transactionId],
        },
        {
          roundId: bet.roundId,
          betMinor: 250,
          wonMinor: 40,
          undecided: 0,
          transactionIds: [win.transactionId, bet.transactionId],
        },
      ],
      transactions: [other, win, bet].map(({ transactionId }) => ({ transactionId })),
    });
    const page = await get(`sessions/${session.sessionId}?limit=2`);
    expect(page.json['transactions']).toHaveLength(2);
    expect(page.json).toHaveProperty('nextCursor');
  });

  test('leaves out a sum that a number cannot represent exactly', async () => {
    const { playerRef } = session;
    world.wallet.always({ do: 'answer-call', fields: '"status":"APPROVED","balance":1' }, { playerRef });
    const win = world.transaction(session, 'WIN', { amountMinor: Number.MAX_SAFE_INTEGER });
    for (const transactionId of ['largest-1', 'largest-2']) await world.submit({ ...win, transactionId });
    const { json } = await get(`sessions/${session.sessionId}`);
    expect(json['rounds']).toEqual([
      { roundId: win.roundId, betMinor: 0, undecided: 0, transactionIds: ['largest-2', 'largest-1'] },
    ]);
  });

  test.each(['x', '00000000-0000-4000-8000-000000000000'])('%s is a 404', async (id) => {
    expect((await get(`sessions/${id}`)).status).toBe(404);
  });
});

describe('callbacks', () => {
  test('are listed with request and answer, and read one by one', async () => {
    await world.admin('POST', `/v1/admin/sessions/${session.sessionId}/revoke`, { reason: 'KICK' });
    const [item, ...more] = await items(`callbacks?reference=${session.sessionId}`);
    expect(more).toEqual([]);
    expect(item).toMatchObject({
      providerId: PROVIDER,
      route: '/v1/game/session/revoke',
      reference: session.sessionId,
      body: expect.stringContaining(session.sessionId) as string,
      status: 200,
      durationMs: expect.any(Number) as number,
      createdAt: expect.stringMatching(/Z$/) as string,
      completedAt: expect.stringMatching(/Z$/) as string,
    });
    expect((await get(`callbacks/${String(item?.['callbackId'])}`)).json).toEqual(item);
    const of = `reference=${session.sessionId}`;
    expect(await items(`callbacks?${of}&providerId=${OTHER_PROVIDER}`)).toEqual([]);
    expect(await items(`callbacks?${of}&route=/v1/game/free-spins/grant`)).toEqual([]);
    expect(await items(`callbacks?${of}&route=/v1/game/session/revoke&from=2020-01-01`)).toHaveLength(1);
  });

  test.each(['0', 'x', '999999999999999', '9'.repeat(30)])('%s is a 404', async (id) => {
    expect((await get(`callbacks/${id}`)).status).toBe(404);
  });

  test.each(['route=/v1/elsewhere', 'cursor=x', 'providerId='])('refuses ?%s with 400', async (query) => {
    expect((await get(`callbacks?${query}`)).status).toBe(400);
  });
});
