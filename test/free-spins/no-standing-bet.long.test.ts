import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { valuesOf } from '../../src/database/statement.js';
import { WinningsService } from '../../src/free-spins/winnings/winnings.service.js';
import { FLAGGED_IN_ROUND, WinningsStore } from '../../src/free-spins/winnings/winnings.store.js';
import { currentRequestId } from '../../src/observability/trace.js';
import { WinMonitor, type WinningsTrigger } from '../../src/wallet/win-monitor.js';
import { type Body, letPass, tick, timedOut } from '../desk/desk.js';
import { nodesOn, Planner, rowsTouched } from '../world/plan.js';
import { CSV, type LaunchedSession, OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { Tool, until } from './tool.js';

const FLAGGED = '/v1/admin/free-spins-winnings/flagged';

let session: LaunchedSession;
const world = useWorld({ OPERATOR_TIMEOUT_MS: '20000' });
beforeEach(async () => (session = await world.launch()));

const bet = (fields = {}) => world.transaction(session, 'BET', fields);
const win = (fields = {}) => world.transaction(session, 'WIN', fields);
const rollbackOf = ({ transactionId, roundId }: Body) =>
  world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId });

async function approved<B extends Body>(body: B): Promise<B> {
  const reply = await world.submit(body);
  expect([reply.status, reply.json['status']]).toEqual([200, 'APPROVED']);
  return body;
}

async function declined<B extends Body>(body: B): Promise<B> {
  world.wallet.next({ do: 'decline', reason: 'LIMIT_REACHED' }, { transactionId: body.transactionId });
  expect((await world.submit(body)).json['status']).toBe('DECLINED');
  return body;
}

/** Submits a BET of the round that times out, and rolls it back. */
async function rolledBack(roundId: string): Promise<Body> {
  const lost = await timedOut(world, bet({ roundId }), true);
  await approved(rollbackOf(lost));
  return lost;
}

async function entryOf({ transactionId }: Body): Promise<Record<string, unknown> | undefined> {
  const { json } = await world.admin('GET', `${FLAGGED}?limit=500`);
  return (json['items'] as Record<string, unknown>[]).find((item) => item['transactionId'] === transactionId);
}
const flagOf = async (body: Body) => (await entryOf(body))?.['flag'];

async function counted(flag = 'NO_STANDING_BET'): Promise<number> {
  const text = await world.metrics();
  return Number(new RegExp(`croupier_flagged_winnings_total{flag="${flag}"} (\\d+)`).exec(text)?.[1] ?? 0);
}

/** Runs the work and waits until the metric has counted the WIN that it flags. */
async function counting(work: () => Promise<unknown>): Promise<void> {
  const before = await counted();
  await work();
  await until('the metric counts the WIN', async () => (await counted()) === before + 1);
}

describe('a review of a round with thousands of transactions', () => {
  const ROUND = 2_000;

  /** Fills a round with WINs and tombstones, after a first transaction that is one of both or an APPROVED BET. */
  async function fill(roundId: string, first: 'tombstone' | 'BET'): Promise<void> {
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id,
                                 session_id, mode, player_ref, game_id, currency, amount_minor, round_id, attempt,
                                 rollback_id, attempts, response_body)
       SELECT $1, $2 || n, gen_random_uuid(), kind, CASE WHEN kind IS NULL THEN 'ROLLED_BACK' ELSE 'APPROVED' END, $4,
              gen_random_uuid(), 'REAL', 'somebody', 'a-game', 'EUR', 100, $2, CASE WHEN kind IS NULL THEN 0 ELSE 1 END,
              CASE WHEN kind IS NULL THEN 'a-rollback' END,
              CASE WHEN kind IS NULL THEN '[]'::jsonb ELSE
                jsonb_build_array(jsonb_build_object('attempt', 1, 'startedAt', '2026-01-01T00:00:00.000Z',
                                                     'durationMs', 2, 'outcome', 'APPROVED', 'balance', 0)) END,
              CASE WHEN kind IS NOT NULL THEN '{"balance":0}' END
         FROM generate_series(0, ${ROUND - 1}) n,
              LATERAL (SELECT CASE WHEN n % 2 = 1 THEN 'WIN' WHEN n = 0 AND $3 = 'BET' THEN 'BET' END AS kind) of`,
      [PROVIDER, roundId, first, OPERATOR],
    );
    await world.sql.run('VACUUM (ANALYZE) transactions');
  }

  test.each([
    ['without a standing BET', 'tombstone', 100],
    ['with a standing BET', 'BET', 0],
  ] as const)('reads the round once: one %s', async (_, first, found) => {
    await fill(`long-${first}`, first);
    const values = { providerId: PROVIDER, transactionId: `long-${first}2`, limit: 100 };
    expect(await world.sql.run(FLAGGED_IN_ROUND.text, valuesOf(FLAGGED_IN_ROUND, values))).toHaveLength(
      found,
    );
    const planner = await Planner.open(world.databaseUrl);
    onTestFinished(() => planner.close());
    for (const nodes of await planner.plansOf(FLAGGED_IN_ROUND, values))
      expect(rowsTouched(nodesOn(nodes, new Set(['transactions'])))).toBeLessThanOrEqual(3 * ROUND);
  });

  test('leaves the connections to the requests: the reviews follow one another', async () => {
    const { roundId } = await approved(win());
    const running = { now: 0, most: 0, requestIds: [] as (string | undefined)[] };
    const store = world.app.get(WinningsStore);
    const read = store.flaggedInRoundOf.bind(store);
    store.flaggedInRoundOf = async (...of) => {
      running.requestIds.push(currentRequestId());
      running.most = Math.max(running.most, (running.now += 1));
      return read(...of).finally(() => (running.now -= 1));
    };
    onTestFinished(() => void Reflect.deleteProperty(store, 'flaggedInRoundOf'));
    const rollback = () => world.submit(rollbackOf(bet({ roundId })));
    const replies = await Promise.all(Array.from({ length: 25 }, rollback));
    const { requestIds } = running;
    await until('all reviews end', () => Promise.resolve(requestIds.length === 25 && running.now === 0));
    expect(running.most).toBe(1);
    expect(requestIds.sort()).toEqual(replies.map(({ headers }) => headers.get('x-request-id')).sort());
  });
});

describe('a booked WIN is flagged and counted', () => {
  test('when its provider rolls back a BET that came later and timed out', async () => {
    const won = await approved(win());
    const lost = await timedOut(world, bet({ roundId: won.roundId }), true);
    expect(await flagOf(won)).toBeUndefined();
    await counting(() => approved(rollbackOf(lost)));
    const { transactionId, playerRef, gameId, roundId, currency } = won;
    expect(await entryOf(won)).toEqual({
      providerId: PROVIDER,
      transactionId,
      operatorId: OPERATOR,
      playerRef,
      gameId,
      roundId,
      amountMinor: 100,
      currency,
      flag: 'NO_STANDING_BET',
      createdAt: expect.any(String) as string,
    });
  });

  test('when the resolver ends that BET', async () => {
    const won = await approved(win());
    const lost = await timedOut(world, bet({ roundId: won.roundId }), false);
    await letPass(world, lost.transactionId, 61);
    await counting(() => tick(world));
    expect(await flagOf(won)).toBe('NO_STANDING_BET');
  });

  test('when a person resolves that BET', async () => {
    const won = await approved(win());
    const { transactionId } = await timedOut(world, bet({ roundId: won.roundId }), false);
    const path = `/v1/admin/transactions/${PROVIDER}/${transactionId}/resolve`;
    await counting(() => world.admin('POST', path));
    expect(await flagOf(won)).toBe('NO_STANDING_BET');
  });

  test('when it is APPROVED only after the BET was rolled back', async () => {
    const won = win();
    const held = world.wallet.next({ do: 'hold' }, { transactionId: won.transactionId });
    const answer = world.submit(won);
    await held.arrived;
    await rolledBack(won.roundId);
    expect(await flagOf(won)).toBeUndefined();
    await counting(async () => {
      held.release();
      expect((await answer).json['status']).toBe('APPROVED');
    });
    expect(await flagOf(won)).toBe('NO_STANDING_BET');
  });

  test('when the resolver sends it again after the BET was rolled back', async () => {
    const won = await timedOut(world, win(), true);
    await rolledBack(won.roundId);
    await letPass(world, won.transactionId, 61);
    await counting(() => tick(world));
    expect(await flagOf(won)).toBe('NO_STANDING_BET');
  });

  test.each([
    ['after', (won: Body, rollback: Body) => [won, rollback]],
    ['before', (won: Body, rollback: Body) => [rollback, won]],
  ])('when the rollback of a BET that never arrived comes %s the WIN', async (_, inOrder) => {
    const won = win();
    const rollback = rollbackOf(bet({ roundId: won.roundId }));
    await counting(async () => {
      for (const body of inOrder(won, rollback)) await approved(body);
    });
    expect(await flagOf(won)).toBe('NO_STANDING_BET');
  });

  test('when its amount is 0: the stake of a lost round was returned', async () => {
    const won = await approved(win({ amountMinor: 0 }));
    await counting(() => rolledBack(won.roundId));
    expect(await entryOf(won)).toMatchObject({ flag: 'NO_STANDING_BET', amountMinor: 0 });
  });

  test('when it was won with a grant of the player', async () => {
    const { requestRef, externalRef, playerRef } = await new Tool(world).granted();
    session = await world.launch({ playerRef });
    const played = await approved(bet());
    await approved(rollbackOf(played));
    const won = win({ roundId: played.roundId, freeSpinsRef: externalRef });
    await counting(() => approved(won));
    expect(await entryOf(won)).toMatchObject({ flag: 'NO_STANDING_BET', freeSpinsRef: externalRef });
    const { json } = await new Tool(world).read(requestRef);
    expect(json['winnings']).toEqual({ count: 1, totalMinor: 100, flagged: 1 });
  });

  test('once, however many of its BETs are rolled back', async () => {
    const won = await approved(win());
    const before = await counted();
    await rolledBack(won.roundId);
    await rolledBack(won.roundId);
    const last = await approved(win());
    await rolledBack(last.roundId);
    await until('the last WIN is counted', async () => (await counted()) >= before + 2);
    expect(await counted()).toBe(before + 2);
  });
});

test('a WIN with a batch that is unknown keeps that flag, and is counted once', async () => {
  const before = [await counted('UNKNOWN_BATCH'), await counted()];
  const won = await approved(win({ freeSpinsRef: 'no-such-batch' }));
  await rolledBack(won.roundId);
  expect(await flagOf(won)).toBe('UNKNOWN_BATCH');
  await counting(async () => {
    const other = await approved(win());
    await rolledBack(other.roundId);
  });
  expect([await counted('UNKNOWN_BATCH'), await counted()]).toEqual([before[0]! + 1, before[1]! + 1]);
});

describe('a WIN is not flagged', () => {
  test.each<[string, (roundId: string) => Promise<unknown>]>([
    ['whose round has no BET', () => Promise.resolve()],
    ['whose round has only a DECLINED BET', (roundId) => declined(bet({ roundId }))],
    [
      'whose round has another APPROVED BET',
      async (roundId) => {
        await approved(bet({ roundId }));
        await rolledBack(roundId);
      },
    ],
    [
      'whose round has another BET that may still be approved',
      async (roundId) => {
        await rolledBack(roundId);
        await timedOut(world, bet({ roundId }), true);
      },
    ],
    [
      'whose roundId is also used by another player',
      async (roundId) => {
        session = await world.launch();
        await rolledBack(roundId);
      },
    ],
  ])('%s', async (_, then) => {
    const won = await approved(win());
    await then(won.roundId);
    expect(await flagOf(won)).toBeUndefined();
  });

  test.each(['JACKPOT', 'PROMOTION', 'TOURNAMENT'])('whose kind is %s', async (winKind) => {
    const prize = await approved(win({ winKind }));
    await rolledBack(prize.roundId);
    await counting(async () => {
      const other = await approved(win());
      await rolledBack(other.roundId);
    });
    expect(await flagOf(prize)).toBeUndefined();
  });

  test('that the operator DECLINED', async () => {
    const lost = await declined(win());
    await rolledBack(lost.roundId);
    expect(await flagOf(lost)).toBeUndefined();
  });

  test('that is DEMO', async () => {
    session = await world.launch({ mode: 'DEMO' });
    const won = await approved(win());
    await approved(rollbackOf(bet({ roundId: won.roundId })));
    expect(await flagOf(won)).toBeUndefined();
  });
});

describe('a WIN is flagged, and reported at once, when the last undecided BET of its round is DECLINED', () => {
  const reported: string[] = [];
  beforeAll(() =>
    world.app.get(WinningsService).onFlagged(({ transactionId }) => reported.push(transactionId)),
  );
  const reportsOf = (won: Body) => reported.filter((id) => id === won.transactionId).length;

  test('which is older than the ROLLBACK of another BET', async () => {
    const won = await approved(win());
    const last = await timedOut(world, bet({ roundId: won.roundId }), false);
    await rolledBack(won.roundId);
    expect(await flagOf(won)).toBeUndefined();
    await counting(() => declined(last));
    expect([await flagOf(won), reportsOf(won)]).toEqual(['NO_STANDING_BET', 1]);
  });

  test('which has taken an earlier flag away', async () => {
    const won = await approved(win());
    await counting(() => rolledBack(won.roundId));
    const last = await timedOut(world, bet({ roundId: won.roundId }), false);
    expect(await flagOf(won)).toBeUndefined();
    await declined(last);
    await until('it is reported again', () => reportsOf(won) === 2);
    expect(await flagOf(won)).toBe('NO_STANDING_BET');
  });
});

test('pages and CSV mix both kinds of flags by time, and leave out the batch that a WIN does not name', async () => {
  const wins: Body[] = [];
  for (let index = 0; index < 3; index += 1) {
    const plain = await approved(win());
    await rolledBack(plain.roundId);
    wins.unshift(plain);
    wins.unshift(await approved(win({ freeSpinsRef: `nowhere-${index}` })));
  }
  const listed: string[] = [];
  for (let cursor = ''; listed.length < wins.length;) {
    const { json } = await world.admin('GET', `${FLAGGED}?limit=2${cursor}`);
    listed.push(...(json['items'] as Body[]).map(({ transactionId }) => transactionId));
    cursor = `&cursor=${String(json['nextCursor'])}`;
  }
  expect(listed).toEqual(wins.map(({ transactionId }) => transactionId));

  const filtered = async (query: string) => {
    const { json } = await world.admin('GET', `${FLAGGED}?limit=500&${query}`);
    return (json['items'] as Body[]).map(({ transactionId }) => transactionId);
  };
  const at = async ({ transactionId }: Body) => {
    const [row] = await world.sql.run<{ at: Date }>(
      'SELECT created_at AS at FROM transactions WHERE transaction_id = $1',
      [transactionId],
    );
    return row!.at.getTime();
  };
  const from = new Date((await at(wins.at(-1)!)) - 1).toISOString();
  const to = new Date((await at(wins[0]!)) + 1).toISOString();
  expect(await filtered(`from=${from}&to=${to}&operatorId=${OPERATOR}`)).toEqual(listed);
  expect(await filtered(`to=${from}`)).not.toContain(listed.at(-1));
  expect(await filtered(`from=${to}`)).toEqual([]);
  expect(await filtered('operatorId=nobody')).toEqual([]);

  const { text } = await world.admin('GET', FLAGGED, undefined, CSV);
  const [header, ...records] = text.split('\r\n');
  const batch = header!.split(',').indexOf('freeSpinsRef');
  expect(records.slice(0, 2).map((record) => record.split(',')[batch])).toEqual(['nowhere-2', '']);
});

test('a plain round causes no review, neither of its BET nor of its WIN', async () => {
  const triggers: string[] = [];
  world.app.get(WinMonitor).onWinningsTrigger(({ transactionId }: WinningsTrigger) => {
    triggers.push(transactionId);
  });
  const played = await approved(bet());
  await approved(win({ roundId: played.roundId }));
  await declined(bet());
  const undone = await approved(bet());
  const undo = await approved(rollbackOf(undone));
  await approved(rollbackOf(undone));
  const early = await approved(win());
  expect(triggers).toEqual([undo.transactionId, early.transactionId]);
});

describe('after its session ended, a late WIN with an unknown batch', () => {
  beforeAll(() => world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { lateSettlementSeconds: 600 }));

  test.each<[string, () => Promise<unknown>]>([
    ['by revocation', () => world.revoke(session.sessionId)],
    [
      'by its time',
      () =>
        world.sql.run(`UPDATE sessions SET expires_at = now() - interval '5 seconds' WHERE session_id = $1`, [
          session.sessionId,
        ]),
    ],
  ])('%s, is booked, flagged and counted', async (_, end) => {
    await end();
    const before = await counted('UNKNOWN_BATCH');
    const won = await approved(win({ freeSpinsRef: 'never-granted' }));
    expect(await entryOf(won)).toMatchObject({ flag: 'UNKNOWN_BATCH', freeSpinsRef: 'never-granted' });
    await until('the metric counts it', async () => (await counted('UNKNOWN_BATCH')) === before + 1);
  });
});
