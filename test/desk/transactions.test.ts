import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  CSV,
  GAME,
  type LaunchedSession,
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  type Reply,
  useWorld,
} from '../world/world.js';
import { abandoned, type Body, endingOf, letPass, tick, timedOut } from './desk.js';
import { PATIENCE } from '../world/patience.js';

let session: LaunchedSession;
const world = useWorld();
beforeEach(async () => (session = await world.launch()));

const bet = (fields = {}) => world.transaction(session, 'BET', fields);
const win = (fields = {}) => world.transaction(session, 'WIN', fields);
const rollbackOf = ({ transactionId, roundId }: Body) =>
  world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId });
const list = (query: string) => world.admin('GET', `/v1/admin/transactions?${query}`);
const at = ({ transactionId }: Body) => `/v1/admin/transactions/${PROVIDER}/${transactionId}`;
const detail = (body: Body) => world.admin('GET', at(body));
const resolve = (body: Body) => world.admin('POST', `${at(body)}/resolve`);
const idsOf = ({ json }: Reply) =>
  (json['items'] as { transactionId: string }[]).map(({ transactionId }) => transactionId);
const lost = { do: 'answer', status: 500 } as const;

const csv = (query: string) => world.admin('GET', `/v1/admin/transactions?${query}`, undefined, CSV);

describe('the list', () => {
  test('is newest first, and shows the fields of a transaction', async () => {
    const [first, second] = [bet(), win({ amountMinor: 0, roundClosed: true })];
    for (const body of [first, second]) await world.submit(body);
    const reply = await list(`playerRef=${session.playerRef}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(Object.keys(reply.json)).toEqual(['items']);
    expect(idsOf(reply)).toEqual([second.transactionId, first.transactionId]);
    expect((reply.json['items'] as object[])[0]).toEqual({
      providerId: PROVIDER,
      transactionId: second.transactionId,
      platformTransactionId: expect.any(String) as string,
      kind: 'WIN',
      winKind: 'GAME',
      state: 'APPROVED',
      operatorId: OPERATOR,
      sessionId: session.sessionId,
      mode: 'REAL',
      playerRef: session.playerRef,
      gameId: GAME,
      roundId: second.roundId,
      amountMinor: 0,
      currency: 'EUR',
      roundClosed: true,
      balance: 99_900,
      operatorTransactionId: expect.any(String) as string,
      attempt: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      updatedAt: expect.any(String) as string,
    });
  });

  test('is restricted by each of its filters, separately and together', async () => {
    const elsewhere = await world.launch({ playerRef: session.playerRef }, OTHER_OPERATOR);
    const foreign = await world.launch({ playerRef: session.playerRef, gameId: 'reelhouse-keno' });
    const [own, theirs, others] = [
      bet(),
      world.transaction(elsewhere, 'BET'),
      world.transaction(foreign, 'BET'),
    ];
    await world.submit(own);
    await world.submit(theirs);
    await world.submit(others, OTHER_PROVIDER);
    const doubtful = await timedOut(world, bet(), false);
    const refused = bet();
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { transactionId: refused.transactionId });
    await world.submit(refused);
    const undone = bet();
    await world.submit(undone);
    await world.submit(rollbackOf(undone));
    const abandonedBet = bet();
    const holder = await abandoned(world, abandonedBet);
    const of = `playerRef=${session.playerRef}`;
    const found = async (query: string) => new Set(idsOf(await list(query)));
    const ids = (...bodies: Body[]) => new Set(bodies.map(({ transactionId }) => transactionId));

    expect(await found(`${of}&operatorId=${OTHER_OPERATOR}`)).toEqual(ids(theirs));
    expect(await found(`${of}&providerId=${OTHER_PROVIDER}`)).toEqual(ids(others));
    expect(await found(`roundId=${own.roundId}`)).toEqual(ids(own));
    expect(await found(`${of}&state=TIMED_OUT`)).toEqual(ids(doubtful));
    expect(await found(`${of}&state=DECLINED`)).toEqual(ids(refused));
    expect(await found(`${of}&state=ROLLED_BACK`)).toEqual(ids(undone));
    expect(await found(`${of}&state=PENDING`)).toEqual(ids(abandonedBet));
    expect(await found(`operatorId=${OTHER_OPERATOR}&providerId=${PROVIDER}`)).toEqual(ids(theirs));
    expect(await found(`providerId=${OTHER_PROVIDER}`)).toEqual(ids(others));
    expect(await found(`operatorId=${OTHER_OPERATOR}`)).toEqual(ids(theirs));
    expect((await found(`operatorId=${OPERATOR}`)).has(own.transactionId)).toBe(true);
    expect(await found(`${of}&operatorId=nobody`)).toEqual(new Set());
    await holder.wakeUp();
  });

  test('shows no balance if the last answer to the provider was not stored', async () => {
    const body = bet({ amountMinor: 10 });
    await world.submit(body);
    const listed = async () =>
      (await list(`playerRef=${session.playerRef}&kind=BET`)).json['items'] as { balance?: number }[];
    expect(await listed()).toMatchObject([{ balance: 99_990 }]);
    await world.submit(rollbackOf(body));
    expect((await world.submit(body)).json).toMatchObject({ status: 'DECLINED', balance: 100_000 });
    expect((await listed())[0]).not.toHaveProperty('balance');
  });

  test('shows the balance as reported to the provider, and is restricted by a range of amounts', async () => {
    const [low, high] = [bet({ amountMinor: 10 }), bet({ amountMinor: 20 })];
    for (const body of [low, high]) await world.submit(body);
    const unknown = await timedOut(world, win({ amountMinor: 30 }), true);
    await letPass(world, unknown.transactionId, 61);
    await tick(world);
    const of = `playerRef=${session.playerRef}`;
    const balances = async () =>
      new Map(
        ((await list(of)).json['items'] as { transactionId: string; balance?: number }[]).map((item) => [
          item.transactionId,
          item.balance,
        ]),
      );
    const settled = await balances();
    expect(settled.get(low.transactionId)).toBe(99_990);
    expect(settled.get(high.transactionId)).toBe(99_970);
    expect(await world.stateOf(unknown.transactionId)).toBe('APPROVED');
    expect(settled.get(unknown.transactionId)).toBeUndefined();
    await world.submit(unknown);
    expect((await balances()).get(unknown.transactionId)).toBe(100_000);

    const found = async (query: string) => idsOf(await list(`${of}&${query}`)).reverse();
    expect(await found('minAmountMinor=20')).toEqual([unknown.transactionId, high.transactionId]);
    expect(await found('maxAmountMinor=20')).toEqual([low.transactionId, high.transactionId]);
    expect(await found('minAmountMinor=11&maxAmountMinor=29')).toEqual([high.transactionId]);
    expect(await found('minAmountMinor=21&maxAmountMinor=20')).toEqual([]);
    for (const query of ['minAmountMinor=1.5', 'maxAmountMinor=many'])
      expect((await list(`${of}&${query}`)).status).toBe(400);
  });

  test('shows why a WIN is paid, and is restricted by it', async () => {
    const [game, spins, jackpot] = [
      win(),
      win({ freeSpinsRef: 'batch-1' }),
      win({ winKind: 'JACKPOT', promotionRef: 'mega' }),
    ];
    for (const body of [bet(), game, spins, jackpot]) await world.submit(body);
    const of = `playerRef=${session.playerRef}`;
    const found = async (winKind: string) => idsOf(await list(`${of}&winKind=${winKind}`));
    expect(await found('GAME')).toEqual([game.transactionId]);
    expect(await found('FREE_SPINS')).toEqual([spins.transactionId]);
    expect(await found('JACKPOT')).toEqual([jackpot.transactionId]);
    expect(await found('TOURNAMENT')).toEqual([]);
    expect((await list(`${of}&winKind=RAFFLE`)).status).toBe(400);
    const items = (await list(of)).json['items'] as Record<string, unknown>[];
    expect(items.map(({ winKind, promotionRef }) => [winKind, promotionRef])).toEqual([
      ['JACKPOT', 'mega'],
      ['FREE_SPINS', undefined],
      ['GAME', undefined],
      [undefined, undefined],
    ]);
    const [header, first] = (await csv(`${of}&winKind=JACKPOT`)).text
      .split('\r\n')
      .map((row) => row.split(','));
    expect(first?.[header!.indexOf('winKind')]).toBe('JACKPOT');
    expect(first?.[header!.indexOf('promotionRef')]).toBe('mega');
    expect((await detail(jackpot)).json).toMatchObject({
      winKind: 'JACKPOT',
      promotionRef: 'mega',
      operatorRequest: { body: { winKind: 'JACKPOT', promotionRef: 'mega' } },
    });
    const { json } = await detail(game);
    expect(json).toMatchObject({ winKind: 'GAME' });
    expect((json['operatorRequest'] as { body: object }).body).not.toHaveProperty('winKind');
  });

  test('is restricted by kind, game, session, amount, currency and parked', async () => {
    const { playerRef } = session;
    const other = await world.launch({ playerRef, gameId: 'night-roulette', currency: 'USD' });
    const [first, second, dollars] = [
      bet({ amountMinor: 7 }),
      win({ amountMinor: 70 }),
      world.transaction(other, 'BET', { amountMinor: 7 }),
    ];
    for (const body of [first, second, dollars]) await world.submit(body);
    const adjustment = {
      adjustmentId: `adjust-${playerRef}`,
      operatorId: OPERATOR,
      playerRef,
      amountMinor: -7,
    };
    await world.admin('POST', '/v1/admin/adjustments', { ...adjustment, currency: 'EUR', reason: 'test' });
    const doubtful = await timedOut(world, bet(), false);
    const parked = `UPDATE transactions SET parked_at = clock_timestamp() WHERE transaction_id = $1`;
    await world.sql.run(parked, [doubtful.transactionId]);
    const decided = await timedOut(world, win(), false);
    await world.sql.run(parked, [decided.transactionId]);
    await world.submit(decided);
    const of = `playerRef=${playerRef}`;
    const found = async (query: string) => new Set(idsOf(await list(query)));
    const ids = (...bodies: Body[]) => new Set(bodies.map(({ transactionId }) => transactionId));

    expect(await found(`${of}&kind=WIN`)).toEqual(ids(second, decided));
    expect(await found(`${of}&gameId=night-roulette`)).toEqual(ids(dollars));
    expect(await found(`sessionId=${other.sessionId}`)).toEqual(ids(dollars));
    expect(await found(`sessionId=${session.sessionId}&kind=BET`)).toEqual(ids(first, doubtful));
    expect(await found('sessionId=00000000-0000-4000-8000-000000000000')).toEqual(new Set());
    expect(await found(`${of}&amountMinor=7`)).toEqual(ids(first, dollars));
    expect(await found(`${of}&amountMinor=7&currency=USD`)).toEqual(ids(dollars));
    expect(await found(`amountMinor=-7&kind=ADJUSTMENT`)).toEqual(new Set([adjustment.adjustmentId]));
    expect(await found(`${of}&kind=ADJUSTMENT&providerId=${PROVIDER}`)).toEqual(new Set());
    expect(await found('parked=true')).toEqual(ids(doubtful));
    expect(await found(`parked=true&${of}&kind=BET&state=TIMED_OUT`)).toEqual(ids(doubtful));
    expect(await found('parked=true&kind=WIN')).toEqual(new Set());
    expect(await found(`${of}&state=TIMED_OUT&kind=BET`)).toEqual(ids(doubtful));
    expect(await found(`roundId=${first.roundId}&kind=WIN`)).toEqual(new Set());
    expect((await csv(`${of}&kind=WIN&currency=EUR`)).text.match(/,WIN,/g)).toHaveLength(2);
  });

  test('examines a bounded part for filters without an index, and continues at the cursor', async () => {
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, created_at)
       SELECT $1, 'rare-' || n, gen_random_uuid(), CASE n WHEN 1 THEN 'WIN' ELSE 'BET' END, 'APPROVED', $2, 'REAL',
              'player-of-rare', 'g', 'EUR', n, 'r', 1, '{}', timestamptz '2021-06-01Z' + n * interval '1 second'
         FROM generate_series(1, 6000) n`,
      [PROVIDER, OPERATOR],
    );
    for (const query of ['playerRef=player-of-rare&kind=WIN', 'kind=WIN&to=2021-06-02&from=2021-06-01']) {
      const first = await list(query);
      expect(idsOf(first)).toEqual([]);
      const second = await list(`${query}&cursor=${String(first.json['nextCursor'])}`);
      expect([idsOf(second), second.json['nextCursor']]).toEqual([['rare-1'], undefined]);
      expect((await csv(query)).text).toContain('rare-1,');
    }
  });

  test('is bounded by from (inclusive) and to (exclusive)', async () => {
    const bodies = [bet(), bet(), bet()];
    for (const body of bodies) await world.submit(body);
    const times = ['2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z', '2020-01-03T00:00:00Z'];
    for (const [index, { transactionId }] of bodies.entries()) {
      await world.sql.run('UPDATE transactions SET created_at = $2 WHERE transaction_id = $1', [
        transactionId,
        times[index],
      ]);
    }
    const [first, second] = bodies.map(({ transactionId }) => transactionId);
    expect(idsOf(await list(`from=2020-01-01&to=2020-01-03T00:00:00Z`))).toEqual([second, first]);
    expect(idsOf(await list(`to=2020-01-02T01:00:00%2B01:00`))).toEqual([first]);
  });

  test('is read page by page, without a gap, if all were created at the same time', async () => {
    const bodies = Array.from({ length: 7 }, () => bet());
    for (const body of bodies) await world.submit(body);
    await world.sql.run(
      `UPDATE transactions SET created_at = '2021-01-01T00:00:00.123456Z' WHERE player_ref = $1`,
      [session.playerRef],
    );
    const seen: string[] = [];
    let cursor: unknown = '';
    for (let page = 0; cursor !== undefined && page < 5; page += 1) {
      const reply = await list(
        `playerRef=${session.playerRef}&limit=3${cursor === '' ? '' : `&cursor=${String(cursor)}`}`,
      );
      seen.push(...idsOf(reply));
      cursor = reply.json['nextCursor'];
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen)).toEqual(new Set(bodies.map(({ transactionId }) => transactionId)));
  });

  test.each([
    ['limit=0'],
    ['limit=501'],
    ['cursor=x'],
    [`cursor=${Buffer.from('2020-13-41T00:00:00.000000Z/0').toString('base64url')}`],
    ['state=LOST'],
    ['from=yesterday'],
    ['from=2020-01-01T00:00:00'],
    ['from=2026-02-30T00:00:00Z'],
    ['to=2025-02-29'],
    ['to=0000-01-01T00:00:00Z'],
    [`cursor=${Buffer.from('2020-02-30T00:00:00.000000Z/0').toString('base64url')}`],
    ['from=2020-01-01&from=2020-01-02'],
    ['playerRef=a%20b'],
    ['color=red'],
    ['kind=REFUND'],
    ['sessionId=mine'],
    ['amountMinor=1.5'],
    ['currency=eur'],
    ['parked=false'],
  ])('refuses ?%s with 400', async (query) => {
    const reply = await list(query);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
  });

  test.each(['from=2020-01-01T00:00%2B23:59', 'to=9999-12-31T23:59-23:59'])(
    'accepts a time at the limit of the format: ?%s',
    async (query) => {
      expect((await list(query)).status).toBe(200);
    },
  );

  test('is for administrators only', async () => {
    expect((await world.request('/v1/admin/transactions')).status).toBe(401);
    expect((await world.signed(PROVIDER, '/v1/admin/transactions/a/b/resolve', '')).status).toBe(401);
  });
});

describe('the list as CSV', () => {
  test.each([
    'text/csv; charset=utf-8',
    'text/csv;header=present',
    'text/csv;version="1";q=0.5, */*;q=0.1',
    'application/json;charset=utf-8;q=0.1, text/csv; charset=UTF-8; q=0.2; x=1',
  ])('is sent to a client that accepts %s', async (accept) => {
    const { headers } = await world.admin('GET', '/v1/admin/transactions', undefined, { Accept: accept });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  });

  test('has the JSON’s fields as columns, CRLF, and all rows if there is no limit', async () => {
    const count = 60;
    for (let index = 0; index < count; index += 1) await world.submit(bet({ amountMinor: index }));
    const reply = await csv(`playerRef=${session.playerRef}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="transactions.csv"');
    expect(reply.headers.get('vary')).toContain('Accept');
    const [header, ...records] = reply.text.split('\r\n');
    expect(records.pop()).toBe('');
    expect(records).toHaveLength(count);
    const columns = header?.split(',') ?? [];
    const [item] = (await list(`playerRef=${session.playerRef}&limit=1`)).json['items'] as Record<
      string,
      unknown
    >[];
    const cells = Object.fromEntries(
      records[0]?.split(',').map((cell, index) => [columns[index], cell]) ?? [],
    );
    for (const [name, value] of Object.entries(item!)) expect(cells[name]).toBe(String(value));
    expect(columns[columns.indexOf('balance') + 1]).toBe('balanceMajor');
    expect(cells['balanceMajor']).toBe((Number(item!['balance']) / 100).toFixed(2));
    const limited = await csv(`playerRef=${session.playerRef}&limit=2`);
    expect(limited.text.split('\r\n')).toHaveLength(4);
  });

  test('is streamed over more than one batch, without a gap', async () => {
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, created_at)
       SELECT $1, 'many-' || n, gen_random_uuid(), 'BET', 'APPROVED', $2, 'REAL', 'player-of-many', 'g', 'EUR', n, 'r',
              1, '{}', timestamptz '2022-01-01Z' + n / 3 * interval '1 microsecond'
         FROM generate_series(1, 1700) n`,
      [PROVIDER, OPERATOR],
    );
    const reply = await csv('playerRef=player-of-many');
    const ids = reply.text.match(/many-\d+,/g) ?? [];
    expect(ids).toHaveLength(1700);
    expect(new Set(ids).size).toBe(1700);
  });

  test('contains no formula for a spreadsheet', async () => {
    const playerRef = '=HYPERLINK("http://evil.example";"x")';
    const evil = await world.launch({ playerRef });
    await world.submit(world.transaction(evil, 'BET', { transactionId: '@SUM(1,2)', roundId: '-1+1' }));
    const { text } = await csv(`playerRef=${encodeURIComponent(playerRef)}`);
    expect(text).toContain(`,"'=HYPERLINK(""http://evil.example"";""x"")",`);
    expect(text).toContain(`,"'@SUM(1,2)",`);
    expect(text).toContain(`,'-1+1,`);
  });

  test('refuses like the JSON', async () => {
    const reply = await csv('cursor=x');
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
    expect(reply.json['error']).toEqual(expect.any(String));
  });
});

describe('the detail', () => {
  test("shows every attempt, the operator's answer and the answer to the provider", async () => {
    const body = await timedOut(world, win({ amountMinor: 70 }), true);
    const last = await world.submit(body);
    const { status, json } = await detail(body);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      transactionId: body.transactionId,
      state: 'APPROVED',
      attempt: 2,
      responseBody: last.text,
      operatorRequest: { route: '/transaction', body: world.wallet.calls(body.transactionId)[0]?.json },
      rollback: null,
      attempts: [
        {
          attempt: 1,
          driver: 'provider',
          outcome: 'OPERATOR_UNAVAILABLE',
          detail: 'the wallet answered 500',
          told: { status: 500, code: 'OPERATOR_UNAVAILABLE' },
        },
        {
          attempt: 2,
          driver: 'provider',
          requestId: last.headers.get('x-request-id'),
          outcome: 'APPROVED',
          balance: 100_070,
          operatorTransactionId: expect.any(String) as string,
          told: { status: 200, body: last.text },
        },
      ],
    });
    const timeline = json['timeline'] as { at: string; event: string }[];
    expect(timeline.map(({ event }) => event)).toEqual([
      'requested',
      'operator-called',
      'operator-silent',
      'provider-told',
      'operator-called',
      'operator-answered',
      'provider-told',
    ]);
    expect(timeline.map((entry) => entry.at)).toEqual(timeline.map((entry) => entry.at).sort());
  });

  test("shows the operator's answers, valid and invalid", async () => {
    const body = bet({ amountMinor: 70 });
    const { transactionId } = body;
    const page = `<html>\n\u0000\u001bdown for maintenance</html>${'x'.repeat(5000)}`;
    world.wallet.next({ do: 'answer', status: 503, body: page }, { transactionId });
    world.wallet.next({ do: 'answer-call', fields: '"status":"MAYBE"' }, { transactionId });
    world.wallet.next({ do: 'drop' }, { transactionId });
    for (let attempt = 1; attempt <= 4; attempt += 1) await world.submit(body);
    const { json } = await detail(body);
    const attempts = json['attempts'] as { operatorStatus?: number; operatorBody?: string }[];
    const kept = '<html> \uFFFD\uFFFDdown for maintenance</html>'.padEnd(4096, 'x');
    expect(attempts).toMatchObject([
      { operatorStatus: 503, operatorBody: kept },
      { operatorStatus: 200, operatorBody: JSON.stringify({ transactionId, status: 'MAYBE' }) },
      { outcome: 'OPERATOR_UNAVAILABLE' },
      {
        outcome: 'APPROVED',
        operatorStatus: 200,
        operatorBody: expect.stringMatching(
          /^\{"transactionId":"[^"]+","status":"APPROVED","balance":\d+,"operatorTransactionId":"[^"]+"\}$/,
        ),
      },
    ]);
    expect(attempts[2]).not.toHaveProperty('operatorStatus');
    expect(attempts[2]).not.toHaveProperty('operatorBody');
    const silences = (json['timeline'] as { event: string }[]).filter(
      ({ event }) => event === 'operator-silent',
    );
    expect(silences).toMatchObject([
      { operatorStatus: 503, operatorBody: kept },
      { operatorStatus: 200 },
      {},
    ]);
    const undo = await timedOut(world, rollbackOf(body), false);
    world.wallet.next(
      { do: 'answer', status: 502, body: 'bad gateway' },
      { transactionId: undo.transactionId },
    );
    await world.submit(undo);
    expect((await detail(body)).json['rollback']).toMatchObject({
      attempts: [{ operatorStatus: 500 }, { operatorStatus: 502, operatorBody: 'bad gateway' }],
    });
  });

  test("settles and answers although the operator's answer cannot be stored", async () => {
    const body = bet();
    const { transactionId } = body;
    await world.sql.run('ALTER TABLE operator_answers RENAME TO operator_answers_away');
    try {
      world.wallet.next({ do: 'answer', status: 503, body: 'down' }, { transactionId });
      expect((await world.submit(body)).status).toBe(500);
    } finally {
      await world.sql.run('ALTER TABLE operator_answers_away RENAME TO operator_answers');
    }
    const { json } = await detail(body);
    expect(json['attempts']).toMatchObject([{ outcome: 'OPERATOR_UNAVAILABLE', operatorStatus: 503 }]);
    expect((await world.submit(body)).json).toMatchObject({ status: 'APPROVED' });
  });

  test('stores the answers of as many attempts as the history has', async () => {
    const body = await timedOut(world, win(), false);
    const { transactionId } = body;
    await world.sql.run(
      `INSERT INTO operator_answers (provider_id, transaction_id, attempt, body)
       SELECT $1, $2, n, n::text FROM generate_series(2, 299) n`,
      [PROVIDER, transactionId],
    );
    await world.sql.run('UPDATE transactions SET attempt = 299 WHERE transaction_id = $1', [transactionId]);
    world.wallet.next({ do: 'answer', status: 503, body: '300' }, { transactionId });
    await world.submit(body);
    await vi.waitFor(async () => {
      const kept = await world.sql.run<{ attempt: number }>(
        'SELECT attempt FROM operator_answers WHERE transaction_id = $1 ORDER BY attempt',
        [transactionId],
      );
      const latest = Array.from({ length: 180 }, (_, index) => index + 121);
      expect(kept.map(({ attempt }) => attempt)).toEqual([
        ...Array.from({ length: 19 }, (_, index) => index + 2),
        ...latest,
      ]);
    }, PATIENCE);
  });

  test('advises what to do, from the time-out to the decision that the provider does not know', async () => {
    const body = await timedOut(world, win({ amountMinor: 70 }), true);
    const advised = async () => (await detail(body)).json['advice'] as { action: string; text: string };
    expect(await advised()).toMatchObject({ action: 'wait' });
    await letPass(world, body.transactionId, 61);
    expect(await advised()).toEqual({
      action: 'resolve',
      text:
        'It is not known whether the operator credited 0.70 EUR. ' +
        'Resolving sends the WIN again as it is: the operator books it at most once.',
    });
    await tick(world);
    expect(await advised()).toMatchObject({ action: 'contact-provider' });
    await world.submit(body);
  });

  test('of a rolled-back BET has its ROLLBACK, with its attempts, and its end', async () => {
    const body = bet();
    await world.submit(body);
    const undo = await timedOut(world, rollbackOf(body), true);
    expect((await detail(body)).json).toMatchObject({
      state: 'APPROVED',
      rollbackId: undo.transactionId,
      rollback: { transactionId: undo.transactionId, state: 'TIMED_OUT' },
    });
    await world.submit(undo);
    const { json } = await detail(body);
    expect(json).toMatchObject({
      state: 'ROLLED_BACK',
      rollback: {
        state: 'APPROVED',
        attempts: [{ outcome: 'OPERATOR_UNAVAILABLE' }, { outcome: 'APPROVED' }],
      },
    });
    const events = (json['timeline'] as { event: string }[]).map(({ event }) => event);
    expect(events.slice(-3)).toEqual(['rollback-requested', 'rollback-settled', 'rolled-back']);
  });

  test('shows an attempt in flight, one whose instance died, and which attempt took it over', async () => {
    const body = win();
    const holder = await abandoned(world, body);
    const inFlight = { attempts: [{ attempt: 1, outcome: 'IN_FLIGHT' }] };
    expect((await detail(body)).json).toMatchObject(inFlight);
    await letPass(world, body.transactionId, 61);
    expect((await detail(body)).json).toMatchObject({ attempts: [{ attempt: 1, outcome: 'LEASE_OVER' }] });
    await tick(world);
    const { json } = await detail(body);
    expect(json).toMatchObject({
      attempts: [
        { attempt: 1, outcome: 'LEASE_OVER', startedAt: expect.stringMatching(/Z$/) as string },
        { attempt: 2, driver: 'resolver', outcome: 'APPROVED' },
      ],
    });
    expect((json['attempts'] as object[])[1]).not.toHaveProperty('told');
    await holder.wakeUp();
  });

  test('shows a verdict of the platform, and a tombstone', async () => {
    const target = win();
    await world.submit(target);
    const refused = rollbackOf(target);
    await world.submit(refused);
    expect((await detail(refused)).json).toMatchObject({
      state: 'DECLINED',
      declineReason: 'NOT_ROLLBACKABLE',
      verdict: 'DECLINED',
      operatorRequest: { route: '/balance', body: { playerRef: session.playerRef, currency: 'EUR' } },
    });
    const never = bet();
    const first = rollbackOf(never);
    await world.submit(first);
    const [requested] = (await detail(first)).json['timeline'] as { text: string }[];
    expect(requested!.text).toBe(
      `the provider requests ROLLBACK of ${never.transactionId} for the BET's amount; the operator decides`,
    );
    const { json } = await detail(never);
    expect(json).toMatchObject({
      state: 'ROLLED_BACK',
      attempts: [],
      rollback: { transactionId: first.transactionId },
    });
    expect(json).not.toHaveProperty('kind');
    expect(json).not.toHaveProperty('operatorRequest');
  });

  test.each([['nobody/nothing'], [`${PROVIDER}/nothing`], [`${PROVIDER}/a%20b`], [`${PROVIDER}/%00`]])(
    'of %s is a 404',
    async (key) => {
      const reply = await world.admin('GET', `/v1/admin/transactions/${key}`);
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([404, 'NOT_FOUND']);
    },
  );

  test('keeps the beginning and the end of a very long history', async () => {
    const body = await timedOut(world, win(), false);
    await world.sql.run(
      `UPDATE transactions SET attempt = 500, attempts = (SELECT jsonb_agg(jsonb_build_object('attempt', n,
         'outcome', 'OPERATOR_UNAVAILABLE', 'startedAt', '2026-01-01T00:00:00.000Z', 'durationMs', 1, 'detail', 'x'))
         FROM generate_series(1, 200) n) WHERE transaction_id = $1`,
      [body.transactionId],
    );
    await world.submit(body);
    const attempts = (await detail(body)).json['attempts'] as { attempt: number }[];
    expect(attempts).toHaveLength(200);
    expect([attempts[19], attempts[20], attempts.at(-1)].map((each) => each?.attempt)).toEqual([20, 22, 501]);
  });

  test('keeps as many attempts of a very long history if instances died', async () => {
    const body = win();
    const holder = await abandoned(world, body);
    await world.sql.run(
      `UPDATE transactions SET attempt = 201, attempts = (SELECT jsonb_agg(jsonb_build_object('attempt', n,
         'outcome', 'LEASE_OVER', 'startedAt', '2026-01-01T00:00:00.000Z'))
         FROM generate_series(1, 200) n) WHERE transaction_id = $1`,
      [body.transactionId],
    );
    await letPass(world, body.transactionId, 61);
    await world.submit(body);
    const attempts = (await detail(body)).json['attempts'] as { attempt: number }[];
    expect([attempts.length, attempts.at(-2)?.attempt, attempts.at(-1)?.attempt]).toEqual([200, 201, 202]);
    await holder.wakeUp();
  });
});

describe('resolve', () => {
  test('sends a WIN again at once, by the administrator', async () => {
    const body = await timedOut(world, win(), false);
    const reply = await resolve(body);
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({
      state: 'APPROVED',
      attempts: [
        {},
        { driver: 'administrator', requestId: reply.headers.get('x-request-id'), outcome: 'APPROVED' },
      ],
    });
  });

  test('is audited', async () => {
    const body = await timedOut(world, win(), false);
    await resolve(body);
    const target = `transaction:${PROVIDER}/${body.transactionId}`;
    const { json } = await world.admin('GET', `/v1/admin/audit?target=${target}`);
    expect(json['items']).toMatchObject([{ actor: 'root', action: 'transaction.resolve' }]);
  });

  test('ends a BET by a ROLLBACK of the platform’s own', async () => {
    const body = await timedOut(world, bet(), true);
    const { status, json } = await resolve(body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ state: 'ROLLED_BACK', rollback: { state: 'APPROVED', kind: 'ROLLBACK' } });
    expect(world.wallet.balanceOf(session.playerRef)).toBe(100_000);
  });

  test('is a 200 with the detail if the operator fails again, and may be repeated', async () => {
    const body = await timedOut(world, bet(), true);
    world.wallet.next(lost, { originalTransactionId: body.transactionId });
    const { status, json } = await resolve(body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ state: 'TIMED_OUT', rollback: { state: 'TIMED_OUT' } });
    expect((await resolve(body)).json).toMatchObject({
      state: 'ROLLED_BACK',
      rollback: { state: 'APPROVED' },
    });
    const ending = (await endingOf(world, body.transactionId)) ?? '';
    expect(world.wallet.calls(ending)).toHaveLength(2);
  });

  test('parks a BET at once if the operator DECLINES the platform’s ROLLBACK', async () => {
    const body = await timedOut(world, bet(), true);
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { originalTransactionId: body.transactionId });
    expect((await resolve(body)).json).toMatchObject({
      state: 'TIMED_OUT',
      parkedAt: expect.any(String),
      advice: { action: 'contact-operator' },
    });
  });

  test('does not park a BET if the operator DECLINES its provider’s ROLLBACK', async () => {
    const body = await timedOut(world, bet(), true);
    await timedOut(world, rollbackOf(body), false);
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { originalTransactionId: body.transactionId });
    const { json } = await resolve(body);
    expect(json).toMatchObject({ state: 'TIMED_OUT', advice: { action: 'wait' } });
    expect(json).not.toHaveProperty('parkedAt');
  });

  test('after the operator DECLINED the platform’s ROLLBACK sends a further one, under another id', async () => {
    const body = await timedOut(world, bet(), true);
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { originalTransactionId: body.transactionId });
    expect((await resolve(body)).json).toMatchObject({ state: 'TIMED_OUT', rollback: { state: 'DECLINED' } });
    const first = await endingOf(world, body.transactionId);
    expect((await resolve(body)).json).toMatchObject({
      state: 'ROLLED_BACK',
      rollback: { state: 'APPROVED' },
    });
    expect(await endingOf(world, body.transactionId)).not.toBe(first);
    expect(world.wallet.balanceOf(session.playerRef)).toBe(100_000);
  });

  test('of a decided transaction is a 409 CONFLICT', async () => {
    const [fine, refused] = [win(), bet()];
    await world.submit(fine);
    world.wallet.next({ do: 'decline', reason: 'OTHER' }, { transactionId: refused.transactionId });
    await world.submit(refused);
    const undone = bet();
    await world.submit(undone);
    await world.submit(rollbackOf(undone));
    for (const body of [fine, refused, undone]) {
      const reply = await resolve(body);
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([409, 'CONFLICT']);
    }
  });

  test('of a PENDING transaction is a 409 TRANSACTION_IN_FLIGHT, until its lease has expired', async () => {
    const body = win();
    const holder = await abandoned(world, body);
    const reply = await resolve(body);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([409, 'TRANSACTION_IN_FLIGHT']);
    expect(reply.headers.get('x-next-action')).toBe('wait-then-retry');
    await world.endLease(body.transactionId);
    expect((await resolve(body)).json).toMatchObject({ state: 'APPROVED' });
    await holder.wakeUp();
  });

  test('fifty times at once is one call', async () => {
    const body = await timedOut(world, win(), false);
    const replies = await Promise.all(Array.from({ length: 50 }, () => resolve(body)));
    expect(replies.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(replies.some(({ status }) => status === 200)).toBe(true);
    expect(world.wallet.calls(body.transactionId)).toHaveLength(2);
  });

  test('of an unknown one is a 404', async () => {
    expect((await world.admin('POST', `/v1/admin/transactions/${PROVIDER}/nothing/resolve`)).status).toBe(
      404,
    );
  });
});
