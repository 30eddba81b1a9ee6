import { beforeEach, describe, expect, test } from 'vitest';
import {
  CSV,
  GAME,
  type LaunchedSession,
  OPERATOR,
  OTHER_GAME,
  OTHER_OPERATOR,
  PROVIDER,
  useWorld,
} from '../world/world.js';
import { type Body, letPass, tick, timedOut } from './desk.js';

let session: LaunchedSession;
const world = useWorld();
beforeEach(async () => (session = await world.launch()));

const bet = (fields = {}) => world.transaction(session, 'BET', fields);
const winOf = ({ roundId }: Body, fields = {}) => world.transaction(session, 'WIN', { roundId, ...fields });
const rollbackOf = ({ transactionId, roundId }: Body) =>
  world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId });
const round = ({ roundId }: Body, query = '') =>
  world.admin('GET', `/v1/admin/rounds/${PROVIDER}/${roundId}${query}`);
const list = (query: string) => world.admin('GET', `/v1/admin/rounds?${query}`);

async function roundIds(query: string): Promise<string[]> {
  const { json } = await list(query);
  return (json['items'] as { roundId: string }[]).map(({ roundId }) => roundId);
}

test('a list and a round show the same sums, as reported to the provider', async () => {
  const played = bet({ amountMinor: 250 });
  const undone = bet({ amountMinor: 50, roundId: played.roundId });
  const won = winOf(played, { amountMinor: 70 });
  for (const body of [played, undone, rollbackOf(undone), won]) await world.submit(body);
  await timedOut(world, winOf(played, { amountMinor: 7 }), true);
  const lostBet = bet({ amountMinor: 5 });
  await timedOut(world, lostBet, false);
  const above = await world.launch({ playerRef: session.playerRef, maxBetMinor: 1 });
  await world.submit(world.transaction(above, 'BET', { roundId: lostBet.roundId }));
  const { json } = await list(`playerRef=${session.playerRef}`);
  const items = json['items'] as Record<string, unknown>[];
  expect(items).toMatchObject([
    { roundId: lostBet.roundId, currency: 'EUR', betMinor: 0, winMinor: 0, netMinor: 0 },
    { roundId: played.roundId, gameId: GAME, currency: 'EUR', betMinor: 250, winMinor: 70, netMinor: -180 },
  ]);
  for (const item of items) {
    const { json: whole } = await round({ ...bet(), roundId: item['roundId'] as string });
    const { betMinor, winMinor, netMinor, currency } = item;
    expect(whole).toMatchObject({ betMinor, winMinor, netMinor, currency });
    expect(whole['sums']).toMatchObject([{ currency, told: { betMinor, winMinor, netMinor } }]);
  }
});

test('a list of rounds is restricted by the game', async () => {
  const { playerRef } = session;
  const other = await world.launch({ playerRef, gameId: OTHER_GAME });
  const [here, there] = [bet(), world.transaction(other, 'BET')];
  for (const body of [here, there]) await world.submit(body);
  expect(await roundIds(`playerRef=${playerRef}&gameId=${OTHER_GAME}`)).toEqual([there.roundId]);
  expect(await roundIds(`playerRef=${playerRef}&gameId=${GAME}`)).toEqual([here.roundId]);
  expect(await roundIds(`playerRef=${playerRef}&gameId=nothing`)).toEqual([]);
});

test('rounds and transactions show the roundDetailsUrl of their game', async () => {
  const gameId = 'shown-slots';
  const roundDetailsUrl =
    'https://r.example/{gameId}/{roundId}?p={playerRef}&s={sessionId}&t={transactionId}&l={language}';
  const game = { providerId: PROVIDER, name: 'Shown', roundDetailsUrl };
  expect((await world.admin('PUT', `/v1/admin/games/${gameId}`, game)).status).toBe(200);
  session = await world.launch({ gameId, language: 'de' });
  const [first, second] = [bet({ roundId: 'round/1' }), bet({ roundId: 'round/1' })];
  const win = winOf(first);
  for (const body of [first, second, win]) await world.submit(body);
  const { playerRef, sessionId } = session;
  const urlOf = ({ transactionId }: Body) =>
    `https://r.example/${gameId}/round%2F1?p=${playerRef}&s=${sessionId}&t=${transactionId}&l=de`;
  const transactions = await world.admin('GET', `/v1/admin/transactions?playerRef=${playerRef}`);
  expect(transactions.json['items']).toMatchObject(
    [win, second, first].map((body) => ({ roundDetailsUrl: urlOf(body) })),
  );
  const { json } = await world.admin('GET', `/v1/admin/transactions/${PROVIDER}/${win.transactionId}`);
  expect(json).toMatchObject({ roundDetailsUrl: urlOf(win) });
  const rounds = await list(`playerRef=${playerRef}`);
  expect(rounds.json['items']).toMatchObject([{ roundDetailsUrl: urlOf(first) }]);
  const query = `?playerRef=${playerRef}`;
  const whole = await world.admin('GET', `/v1/admin/rounds/${PROVIDER}/round%2F1${query}`);
  expect(whole.json).toMatchObject({ roundDetailsUrl: urlOf(first) });
});

describe('a round', () => {
  test('has its transactions, oldest first, and their sums', async () => {
    const first = bet({ amountMinor: 250 });
    const second = bet({ amountMinor: 50, roundId: first.roundId });
    const undo = rollbackOf(second);
    const win = winOf(first, { amountMinor: 70, roundClosed: true });
    for (const body of [first, second, undo, win]) await world.submit(body);
    const { status, json } = await round(first);
    expect(status).toBe(200);
    const settled = { betMinor: 250, winMinor: 70, netMinor: -180 };
    expect(json).toMatchObject({
      providerId: PROVIDER,
      roundId: first.roundId,
      operatorId: OPERATOR,
      playerRef: session.playerRef,
      gameId: GAME,
      mode: 'REAL',
      open: false,
      sums: [
        {
          currency: 'EUR',
          told: settled,
          operator: settled,
          unknown: { betMinor: 0, winMinor: 0, netMinor: 0 },
        },
      ],
      advice: {
        action: 'none',
        text: 'The operator debited 2.50 EUR, credited 0.70 EUR. All transactions are decided.',
      },
    });
    const ids = (json['items'] as { transactionId: string }[]).map(({ transactionId }) => transactionId);
    expect(ids).toEqual([first, second, undo, win].map(({ transactionId }) => transactionId));
  });

  test('distinguishes the answers to the provider from those of the operator', async () => {
    const first = bet({ amountMinor: 250 });
    await world.submit(first);
    const win = await timedOut(world, winOf(first, { amountMinor: 70 }), true);
    expect((await round(first)).json).toMatchObject({
      open: true,
      sums: [{ unknown: { betMinor: 0, winMinor: 70, netMinor: 70 } }],
      advice: { action: 'wait' },
    });
    await letPass(world, win.transactionId, 61);
    await tick(world);
    expect((await round(first)).json).toMatchObject({
      open: false,
      sums: [{ told: { winMinor: 0, netMinor: -250 }, operator: { winMinor: 70, netMinor: -180 } }],
      advice: { action: 'contact-provider' },
    });
  });

  test('needs more parameters than its id if several have that id', async () => {
    const first = bet();
    await world.submit(first);
    const other = await world.launch({ mode: 'DEMO', playerRef: session.playerRef });
    await world.submit(world.transaction(other, 'BET', { roundId: first.roundId }));
    expect((await round(first)).json).toMatchObject({ mode: 'REAL', items: [{}] });
    expect((await round(first, '?mode=DEMO')).json).toMatchObject({ mode: 'DEMO', open: true });
    const third = await world.launch({}, OTHER_OPERATOR);
    await world.submit(world.transaction(third, 'BET', { roundId: first.roundId }));
    const refused = await round(first);
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
    const chosen = await round(
      first,
      `?operatorId=${OTHER_OPERATOR}&playerRef=${third.playerRef}&gameId=${GAME}`,
    );
    expect(chosen.json).toMatchObject({ operatorId: OTHER_OPERATOR, playerRef: third.playerRef });
    expect((await round(first, '?playerRef=nobody')).status).toBe(404);
    expect((await world.admin('GET', '/v1/admin/rounds/a%20b/%00')).status).toBe(404);
  });

  test('is marked if it has more transactions than are shown', async () => {
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, response_body)
       SELECT $1, 'long-' || n, gen_random_uuid(), 'BET', 'APPROVED', $2, 'REAL', 'p', 'g', 'EUR', 1, 'long', 1, '{}'
         FROM generate_series(1, 1001) n`,
      [PROVIDER, OPERATOR],
    );
    const { json } = await world.admin('GET', `/v1/admin/rounds/${PROVIDER}/long`);
    // The sums cover all of them.
    expect(json).toMatchObject({ truncated: true, sums: [{ operator: { betMinor: 1001 } }] });
    expect(json['items']).toHaveLength(1000);
    // Another player's transaction makes the roundId ambiguous, although it is newer than all that are shown.
    const theirs = bet({ roundId: 'long' });
    await world.submit(theirs);
    expect((await world.admin('GET', `/v1/admin/rounds/${PROVIDER}/long`)).status).toBe(400);
    const chosen = await round(theirs, `?playerRef=${theirs.playerRef}`);
    expect(chosen.json).toMatchObject({ playerRef: theirs.playerRef, sums: [{ told: { betMinor: 100 } }] });
  });
});

describe('the list of rounds', () => {
  test('has each round once, by its first BET, and shows whether it is open', async () => {
    const [open, won, closed, undone] = [bet(), bet(), bet({ roundClosed: true }), bet()];
    for (const body of [open, won, closed, undone]) await world.submit(body);
    await world.submit(bet({ roundId: open.roundId }));
    await world.submit(winOf(won));
    await world.submit(winOf(open, { winKind: 'PROMOTION', amountMinor: 0 }));
    await world.submit(rollbackOf(undone));
    const doubtful = await timedOut(world, bet(), false);
    const demo = await world.launch({ mode: 'DEMO', playerRef: session.playerRef });
    await world.submit(world.transaction(demo, 'BET'));
    const of = `playerRef=${session.playerRef}`;
    expect(await roundIds(of)).toEqual([doubtful, undone, closed, won, open].map(({ roundId }) => roundId));
    for (const item of (await list(of)).json['items'] as { roundId: string; open: boolean }[]) {
      const { json: whole } = await round({ ...bet(), roundId: item.roundId });
      expect(whole['open']).toBe(item.open);
    }
    const { json } = await list(`${of}&open=true`);
    expect(json).toEqual({
      items: [
        {
          providerId: PROVIDER,
          roundId: open.roundId,
          operatorId: OPERATOR,
          playerRef: session.playerRef,
          gameId: GAME,
          mode: 'REAL',
          open: true,
          transactions: 3,
          undecided: 0,
          currency: 'EUR',
          betMinor: 200,
          winMinor: 0,
          netMinor: -200,
          createdAt: expect.any(String) as string,
        },
      ],
    });
    const { text } = await world.admin('GET', `/v1/admin/rounds?${of}&open=true`, undefined, CSV);
    expect(text.trim().split('\r\n')).toHaveLength(2);
  });

  test('has rounds without a BET, by their first WIN', async () => {
    const [earlier, later] = [bet(), bet()];
    const prize = winOf(later, { winKind: 'PROMOTION', amountMinor: 250 });
    await world.submit(earlier);
    await world.submit(prize);
    const late = { ...earlier, transactionId: world.transaction(session, 'BET').transactionId };
    await world.submit(winOf(earlier, { winKind: 'JACKPOT' }));
    await world.submit(late);
    const of = `playerRef=${session.playerRef}`;
    expect(await roundIds(of)).toEqual([later.roundId, earlier.roundId]);
    const { json } = await list(of);
    expect(json['items']).toMatchObject([{ open: false, winMinor: 250, netMinor: 250 }, { betMinor: 200 }]);
    expect(await roundIds(`${of}&limit=1`)).toEqual([later.roundId]);
  });

  test('is restricted by tenants, player and age', async () => {
    const own = bet();
    await world.submit(own);
    const elsewhere = await world.launch({ playerRef: session.playerRef }, OTHER_OPERATOR);
    const theirs = world.transaction(elsewhere, 'BET');
    await world.submit(theirs);
    const of = `open=true&playerRef=${session.playerRef}`;
    expect(await roundIds(`${of}&operatorId=${OTHER_OPERATOR}`)).toEqual([theirs.roundId]);
    expect(await roundIds(`open=true&operatorId=${OTHER_OPERATOR}&limit=1`)).toEqual([theirs.roundId]);
    expect(await roundIds(`${of}&providerId=nobody`)).toEqual([]);
    expect(await roundIds(`open=true&providerId=${PROVIDER}&limit=2`)).toEqual([theirs.roundId, own.roundId]);
    expect(await roundIds(`${of}&olderThanMinutes=1`)).toEqual([]);
    await letPass(world, own.transactionId, 61);
    await world.submit(bet({ roundId: own.roundId }));
    expect(await roundIds(`${of}&olderThanMinutes=1`)).toEqual([own.roundId]);
    expect(await roundIds(`${of}&olderThanMinutes=0`)).toEqual([theirs.roundId, own.roundId]);
    const refused = await list('olderThanMinutes=-1');
    expect(refused.status).toBe(400);
  });

  test('examines a bounded part for a page, and continues at the cursor without a gap', async () => {
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, created_at)
       SELECT $1, kind || '-' || n, gen_random_uuid(), kind, 'APPROVED', $2, 'REAL', 'player-of-rounds', 'g', 'EUR', 1,
              'round-' || n, 1, '{}', timestamptz '2021-06-01Z' + n * interval '1 second'
         FROM generate_series(1, 3000) n, unnest(ARRAY['BET', 'WIN']) kind WHERE kind = 'BET' OR n > 3`,
      [PROVIDER, OPERATOR],
    );
    for (const of of [
      'playerRef=player-of-rounds',
      'to=2021-06-02&from=2021-06-01',
      `to=2021-06-02&operatorId=${OPERATOR}`,
    ]) {
      const first = await list(`${of}&open=true`);
      expect(first.json).toMatchObject({ items: [] });
      const found: string[] = [];
      let cursor = first.json['nextCursor'];
      for (let page = 0; cursor !== undefined && page < 5; page += 1) {
        const { json } = await list(`${of}&open=true&limit=2&cursor=${String(cursor)}`);
        found.push(...(json['items'] as { roundId: string }[]).map(({ roundId }) => roundId));
        cursor = json['nextCursor'];
      }
      expect(found).toEqual(['round-3', 'round-2', 'round-1']);
    }
  });
});
