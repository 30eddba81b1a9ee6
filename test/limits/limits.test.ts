import { afterEach, describe, expect, test, vi } from 'vitest';
import { Database } from '../../src/database/database.js';
import { LimitStore } from '../../src/limits/limit.store.js';
import { LimitsService } from '../../src/limits/limits.service.js';
import {
  ADJUSTMENTS,
  adjustmentOrder,
  APPROVALS,
  BATCHES,
  batchOrder,
  GRANTS,
  limit,
} from '../approvals/desk.js';
import { grantOrder } from '../world/grant-order.js';
import { letPass } from '../desk/desk.js';
import { GRANT } from '../world/provider.js';
import { OPERATOR, OTHER_OPERATOR, type Reply, useWorld } from '../world/world.js';

const world = useWorld();
afterEach(() => world.sql.run('DELETE FROM limits'));

const PATH = `/v1/admin/limits/${OPERATOR}/EUR`;

describe('the limits of an operator in a currency', () => {
  test('are set, lowered, read and listed at once, with the administrator, each of it in the audit log', async () => {
    const asker = await world.administrator('admin', 'Night shift');
    const set = await asker.call('PUT', PATH, { maxGrantMinor: 100, dailyMinor: 500 });
    expect([set.status, set.json]).toEqual([
      200,
      {
        operatorId: OPERATOR,
        currency: 'EUR',
        maxGrantMinor: 100,
        dailyMinor: 500,
        usedMinor: 0,
        updatedAt: expect.any(String) as string,
        updatedBy: asker.actor,
        updatedByName: 'Night shift',
      },
    ]);
    const lowered = await world.admin('PATCH', PATH, { dailyMinor: 400, maxWinMinor: 7 });
    expect([lowered.status, lowered.json]).toMatchObject([
      200,
      { maxGrantMinor: 100, dailyMinor: 400, maxWinMinor: 7, updatedBy: 'root', updatedByName: 'root' },
    ]);
    expect((await world.admin('GET', PATH)).json).toEqual(lowered.json);
    expect((await world.admin('GET', '/v1/admin/limits')).json).toEqual({ items: [lowered.json] });
    const target = encodeURIComponent(`limit:${OPERATOR}/EUR`);
    const { items } = (await world.admin('GET', `/v1/admin/audit?target=${target}`)).json;
    expect(items).toMatchObject([
      { action: 'limit.read' },
      {
        action: 'limit.replace',
        before: { dailyMinor: 500 },
        after: { maxGrantMinor: 100, dailyMinor: 400 },
      },
      { action: 'limit.create', after: { maxGrantMinor: 100, dailyMinor: 500 } },
    ]);
  });

  test('name who changed them, also after the key was revoked, and after a token signed the person in', async () => {
    const asker = await world.administrator('admin', 'Night <b>shift</b>');
    await asker.call('PUT', PATH, { maxGrantMinor: 100 });
    const named = async () => (await world.admin('GET', PATH)).json['updatedByName'];
    await world.admin('DELETE', `/v1/admin/keys/${asker.id}`);
    expect(await named()).toBe('Night <b>shift</b>');
    await world.sql.run("UPDATE limits SET updated_by = 'jwt:anna@desk:7'");
    expect(await named()).toBe('anna@desk:7');
  });

  test.each([
    ['PUT', '/v1/admin/limits/nobody/EUR', { maxGrantMinor: 1 }, 404],
    ['PATCH', '/v1/admin/limits/nobody/EUR', { maxGrantMinor: 1 }, 404],
    ['PUT', `/v1/admin/limits/${OPERATOR}/eur`, { maxGrantMinor: 1 }, 400],
    ['PUT', PATH, {}, 400],
    ['PUT', PATH, { dailyMinor: null }, 400],
    ['PUT', PATH, { maxGrantMinor: -1 }, 400],
    ['PUT', PATH, { maxGrantMinor: 0.5 }, 400],
    ['PATCH', PATH, {}, 400],
    ['PATCH', PATH, { maxGrantMinor: '1' }, 400],
    ['PATCH', PATH, { dailyMinor: null }, 204],
    ['DELETE', PATH, undefined, 404],
    ['GET', PATH, undefined, 404],
  ])('%s %s %j is a %i', async (method, path, body, status) => {
    expect((await world.admin(method, path, body)).status).toBe(status);
  });

  test('are changed by administrators only', async () => {
    const { call } = await world.administrator('operations');
    for (const method of ['PUT', 'PATCH']) {
      expect((await call(method, PATH, { maxGrantMinor: 1 })).status).toBe(403);
    }
    expect((await call('DELETE', PATH)).status).toBe(403);
    expect((await call('GET', '/v1/admin/limits')).status).toBe(200);
  });

  test('are a page by operator and currency', async () => {
    for (const operator of [OTHER_OPERATOR, OPERATOR]) {
      for (const currency of ['USD', 'EUR']) await limit(world, { dailyMinor: 1 }, currency, operator);
    }
    // A text with the currency would put `-` and `.` before the `/` of the shorter id.
    const longer = `${OTHER_OPERATOR}-2`;
    const created = { id: longer, name: 'Longer', walletBaseUrl: world.wallet.baseUrl };
    expect((await world.admin('POST', '/v1/admin/operators', created)).status).toBe(201);
    await limit(world, { dailyMinor: 1 }, 'EUR', longer);
    const listed = [];
    for (let cursor = ''; ;) {
      const { json } = await world.admin('GET', `/v1/admin/limits?limit=3${cursor}`);
      listed.push(...(json['items'] as { operatorId: string; currency: string }[]));
      if (json['nextCursor'] === undefined) break;
      cursor = `&cursor=${String(json['nextCursor'])}`;
    }
    expect(listed.map(({ operatorId, currency }) => `${operatorId}/${currency}`)).toEqual([
      `${OTHER_OPERATOR}/EUR`,
      `${OTHER_OPERATOR}/USD`,
      `${longer}/EUR`,
      `${OPERATOR}/EUR`,
      `${OPERATOR}/USD`,
    ]);
  });
});

describe('a request that exceeds a limit is 202, and no counterpart is called:', () => {
  const actions: Record<string, (limits?: object) => Promise<Reply>> = {
    maxGrantMinor: () => world.admin('POST', GRANTS, grantOrder({ betAmountMinor: 21 })),
    maxBatchMinor: () => world.admin('POST', BATCHES, batchOrder(2)),
    maxAdjustmentMinor: () => world.admin('POST', ADJUSTMENTS, adjustmentOrder({ amountMinor: -101 })),
    dailyMinor: () => world.signed(OPERATOR, '/v1/operator/free-spins', own({ betAmountMinor: 21 })),
  };
  const own = (fields: object) => {
    const { operatorId: _, ...order } = grantOrder();
    return { ...order, ...fields };
  };

  test.each(Object.keys(actions))('%s', async (name) => {
    // Makes the grants and adjustments of other tests too old to count.
    await world.sql.run(`UPDATE free_spin_grants SET created_at = created_at - interval '2 days'`);
    await world.sql.run(
      `UPDATE transactions SET created_at = created_at - interval '2 days', updated_at = updated_at - interval '2 days'`,
    );
    await limit(world, { [name]: 100 });
    const calls = [world.provider.received.length, world.wallet.received.length];
    const { status, json } = await actions[name]!();
    expect([status, json]).toMatchObject([
      202,
      { state: 'WAITING', limit: { name, limitMinor: 100, usedMinor: 0 } },
    ]);
    expect([world.provider.received.length, world.wallet.received.length]).toEqual(calls);
    expect((await world.admin('GET', `${APPROVALS}/${String(json['approvalId'])}`)).json).toMatchObject({
      state: 'WAITING',
    });
  });

  test('a request within the limits is carried out as usual', async () => {
    await limit(world, { maxGrantMinor: 100, maxBatchMinor: 200, maxAdjustmentMinor: 100 });
    expect((await world.admin('POST', GRANTS, grantOrder())).json).toMatchObject({
      state: 'GRANTED',
      stakeMinor: 100,
    });
    expect((await world.admin('POST', BATCHES, batchOrder(2))).json).toMatchObject({ stakeMinor: 200 });
    expect((await world.admin('POST', ADJUSTMENTS, adjustmentOrder())).status).toBe(201);
  });

  test('in another currency, or of another operator, nothing needs approval', async () => {
    await limit(world, { maxGrantMinor: 0 });
    expect((await world.admin('POST', GRANTS, grantOrder({ currency: 'USD' }))).status).toBe(201);
    expect((await world.admin('POST', GRANTS, grantOrder({ operatorId: OTHER_OPERATOR }))).status).toBe(201);
  });

  test("a stake of the provider's default, whose amount is unknown, needs approval under any limit on grants", async () => {
    await limit(world, { maxAdjustmentMinor: 0 });
    expect((await world.admin('POST', GRANTS, grantOrder({ betAmountMinor: 0 }))).status).toBe(201);
    await limit(world, { maxBatchMinor: 1_000_000 });
    const { status, json } = await world.admin('POST', GRANTS, grantOrder({ betAmountMinor: 0 }));
    expect([status, json['summary']]).toEqual([
      202,
      expect.stringMatching(/^5 spins of the provider's default stake for .*, of unknown value$/),
    ]);
  });
});

describe('a daily limit', () => {
  const used = async (currency: string) =>
    (await world.admin('GET', `/v1/admin/limits/${OPERATOR}/${currency}`)).json['usedMinor'];

  test('counts actions carried out in 24 hours, but not those that are known to have failed, or that wait', async () => {
    const currency = 'SEK';
    const grant = (fields: object = {}) => world.admin('POST', GRANTS, grantOrder({ currency, ...fields }));
    await limit(world, { dailyMinor: 1_000 }, currency);
    await grant({ operatorId: OTHER_OPERATOR });
    await world.admin('POST', ADJUSTMENTS, adjustmentOrder({ currency, operatorId: OTHER_OPERATOR }));
    await world.admin('POST', ADJUSTMENTS, adjustmentOrder({ currency: 'CZK' }));
    const granted = String((await grant()).json['requestRef']);
    expect(await used(currency)).toBe(100);
    world.provider.next({ do: 'answer', status: 422, body: {} }, { path: GRANT });
    expect((await grant()).status).toBe(502);
    expect(await used(currency)).toBe(100);
    world.provider.next({ do: 'drop' }, { path: GRANT });
    expect((await grant()).status).toBe(502);
    expect(await used(currency)).toBe(200);
    await world.admin('POST', `${GRANTS}/${granted}/cancel`);
    await world.admin('POST', ADJUSTMENTS, adjustmentOrder({ currency, amountMinor: -50 }));
    world.wallet.next({ do: 'decline', reason: 'PLAYER_BLOCKED' });
    await world.admin('POST', ADJUSTMENTS, adjustmentOrder({ currency, amountMinor: 50 }));
    expect(await used(currency)).toBe(250);
    world.wallet.next({ do: 'drop' });
    expect(
      (await world.admin('POST', ADJUSTMENTS, adjustmentOrder({ currency, amountMinor: 5 }))).status,
    ).toBe(500);
    expect(await used(currency)).toBe(255);
    expect((await grant({ betAmountMinor: 1_000 })).status).toBe(202);
    expect(await used(currency)).toBe(255);
    await world.sql.run(
      `UPDATE free_spin_grants SET created_at = clock_timestamp() - interval '25 hours' WHERE currency = $1`,
      [currency],
    );
    expect(await used(currency)).toBe(55);
  });

  test('counts an adjustment while it is undecided, and for 24 hours after it was booked', async () => {
    const currency = 'HUF';
    const HOURS_25 = 25 * 3600;
    const adjust = (order: object) => world.admin('POST', ADJUSTMENTS, order);
    await limit(world, { dailyMinor: 1_000 }, currency);
    const late = adjustmentOrder({ currency, amountMinor: 900 });
    world.wallet.next({ do: 'drop' }, { transactionId: late.adjustmentId });
    expect((await adjust(late)).status).toBe(500);
    await letPass(world, late.adjustmentId, HOURS_25);
    expect(await used(currency)).toBe(900);
    expect((await adjust(adjustmentOrder({ currency, amountMinor: 900 }))).status).toBe(202);
    expect((await adjust(late)).status).toBe(201);
    expect(await used(currency)).toBe(900);
    expect((await adjust(adjustmentOrder({ currency, amountMinor: 900 }))).status).toBe(202);
    await letPass(world, late.adjustmentId, HOURS_25);
    expect(await used(currency)).toBe(0);
  });

  test('counts an undecided adjustment until it is declined', async () => {
    const currency = 'BGN';
    await limit(world, { dailyMinor: 1_000 }, currency);
    const order = adjustmentOrder({ currency, amountMinor: 900 });
    world.wallet.next({ do: 'drop' }, { transactionId: order.adjustmentId });
    expect((await world.admin('POST', ADJUSTMENTS, order)).status).toBe(500);
    await letPass(world, order.adjustmentId, 25 * 3600);
    expect(await used(currency)).toBe(900);
    world.wallet.next({ do: 'decline', reason: 'LIMIT_REACHED' }, { transactionId: order.adjustmentId });
    expect((await world.admin('POST', ADJUSTMENTS, order)).json['status']).toBe('DECLINED');
    expect(await used(currency)).toBe(0);
  });

  test.each([
    ['the operator', OPERATOR, 'NOK'],
    ['the installation', '*', 'ISK'],
  ])('of %s is not exceeded by concurrent requests', async (_, operatorId, currency) => {
    await limit(world, { dailyMinor: 1_000 }, currency, operatorId);
    const other = await world.another(world.clock);
    const orders = Array.from({ length: 30 }, () => grantOrder({ currency }));
    const replies = await Promise.all(
      orders.map((order, index) => (index % 2 ? other : world).admin('POST', GRANTS, order)),
    );
    const statuses = replies.map(({ status }) => status);
    expect([201, 202].map((status) => statuses.filter((one) => one === status).length)).toEqual([10, 20]);
    await other.app.close();
  });
});

test('a preview shows the stake of an action and whether it needs approval, and calls no counterpart', async () => {
  const { call } = await world.administrator('promotions');
  const calls = world.provider.received.length;
  const { requestRef: _, ...order } = grantOrder({ currency: 'DKK' });
  const expected = { players: 1, spins: 5, stakeMinor: 100, currency: 'DKK' };
  expect((await call('POST', `${GRANTS}/preview`, order)).json).toEqual({
    ...expected,
    requires: 'nothing',
    limitsSet: false,
  });
  await limit(world, { maxGrantMinor: 99, maxBatchMinor: 200 }, 'DKK');
  expect((await call('POST', `${GRANTS}/preview`, order)).json).toEqual({
    ...expected,
    requires: 'approval',
    limit: { name: 'maxGrantMinor', limitMinor: 99, usedMinor: 0 },
    limitsSet: true,
  });
  await limit(world, { maxBatchMinor: 200 }, 'DKK');
  const preview = await call('POST', `${BATCHES}/preview`, batchOrder(3, { currency: 'DKK' }));
  expect([preview.status, preview.json]).toEqual([
    200,
    {
      ...expected,
      players: 3,
      stakeMinor: 300,
      requires: 'approval',
      limit: { name: 'maxBatchMinor', limitMinor: 200, usedMinor: 0 },
      limitsSet: true,
    },
  ]);
  expect(world.provider.received.length).toBe(calls);
  expect((await call('POST', `${GRANTS}/preview`, { ...order, gameId: 'none' })).status).toBe(400);
});

test.each([
  ['POST', GRANTS, () => grantOrder({ spins: 2, betAmountMinor: Number.MAX_SAFE_INTEGER })],
  ['POST', `${GRANTS}/preview`, () => grantOrder({ spins: 1000, betAmountMinor: 9_007_199_254_741 })],
  ['POST', BATCHES, () => batchOrder(2, { spins: 1, betAmountMinor: 2 ** 52 })],
])('%s %s: a stake beyond 2^53−1 is a 400', async (method, path, body) => {
  const { status, json } = await world.admin(method, path, body());
  expect([status, json['error']]).toEqual([400, expect.stringContaining('must be at most 2^53−1')]);
});

test('a WIN above maxWinMinor is booked, and joins the flagged winnings', async () => {
  await limit(world, { maxWinMinor: 1_000 });
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  await world.submit(bet);
  const { roundId } = bet;
  const small = world.transaction(session, 'WIN', { amountMinor: 1_000, roundId });
  const big = world.transaction(session, 'WIN', { amountMinor: 1_001, roundId });
  for (const win of [small, big])
    expect((await world.submit(win)).json).toMatchObject({ status: 'APPROVED' });
  const { items } = (await world.admin('GET', '/v1/admin/free-spins-winnings/flagged')).json;
  expect(items).toMatchObject([
    { transactionId: big.transactionId, flag: 'ABOVE_LIMIT', amountMinor: 1_001 },
  ]);
  expect(await world.metrics()).toMatch(/croupier_flagged_winnings_total\{.*flag="ABOVE_LIMIT".*\} 1/);
});

test('the amount used is read only for a daily limit, and for what exceeds another limit', async () => {
  const key = { operatorId: OPERATOR, currency: 'EUR' };
  const reads = vi.spyOn(world.app.get(LimitStore), 'usedMinor');
  const judge = (amountMinor: number) =>
    world.app
      .get(Database)
      .transaction(({ query }) =>
        world.app.get(LimitsService).judge(query, key, { kind: 'grant', amountMinor }),
      );
  try {
    await world.admin('PUT', PATH, { maxGrantMinor: 100 });
    expect(await judge(100)).toBeUndefined();
    expect(reads).not.toHaveBeenCalled();
    expect(await judge(101)).toMatchObject({ name: 'maxGrantMinor', limitMinor: 100 });
    expect(reads).toHaveBeenCalledTimes(1);
  } finally {
    reads.mockRestore();
  }
});
