import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ADJUSTMENTS, adjustmentOrder, APPROVALS, batchOrder, BATCHES, GRANTS } from '../approvals/desk.js';
import { grantOrder } from '../world/grant-order.js';
import {
  OPERATOR,
  OTHER_OPERATOR,
  type Administrator,
  type Reply,
  type World,
  useWorld,
} from '../world/world.js';

const world = useWorld();
const PATH = `/v1/admin/limits/${OPERATOR}/EUR`;
const DEFAULT = '/v1/admin/limits/*/EUR';

let asker: Administrator;
let approver: Administrator;
let other: World;
beforeAll(async () => {
  other = await world.another(world.clock);
  asker = await world.administrator('admin', 'Asker');
  approver = await world.administrator('admin', 'Approver');
});
afterAll(() => other.app.close());
afterEach(async () => {
  await world.sql.run('DELETE FROM limits');
  await world.sql.run(`UPDATE approvals SET state = 'EXPIRED' WHERE state = 'WAITING'`);
});

const approve = (id: unknown, by = approver) => by.call('POST', `${APPROVALS}/${String(id)}/approve`);
const set = async (limits: object, path = PATH) => {
  expect((await asker.call('PUT', path, limits)).status).toBe(200);
};
const limitsAt = async (path = PATH) => {
  const {
    operatorId: _,
    currency,
    usedMinor,
    updatedAt,
    updatedBy,
    updatedByName,
    ...limits
  } = (await asker.call('GET', path)).json;
  return limits;
};
const waits = (reply: Reply, before: object, after: object) => {
  expect([reply.status, reply.json]).toMatchObject([202, { state: 'WAITING', kind: 'limit' }]);
  expect([reply.json['before'], reply.json['after']]).toEqual([before, after]);
  return String(reply.json['approvalId']);
};

describe('a change that raises or removes a limit waits for another administrator:', () => {
  const LIMITS = { maxGrantMinor: 100, dailyMinor: 500 };

  test.each<[string, string, object | undefined, object]>([
    ['a raise by PUT', 'PUT', { ...LIMITS, maxGrantMinor: 101 }, { ...LIMITS, maxGrantMinor: 101 }],
    ['a field that PUT does not name', 'PUT', { maxGrantMinor: 100 }, { maxGrantMinor: 100 }],
    [
      'one lower, one higher',
      'PUT',
      { maxGrantMinor: 1, dailyMinor: 501 },
      { maxGrantMinor: 1, dailyMinor: 501 },
    ],
    ['a raise by PATCH', 'PATCH', { dailyMinor: 501 }, { ...LIMITS, dailyMinor: 501 }],
    [
      'a field set to null',
      'PATCH',
      { dailyMinor: null, maxWinMinor: 1 },
      { maxGrantMinor: 100, maxWinMinor: 1 },
    ],
    ['all fields set to null', 'PATCH', { maxGrantMinor: null, dailyMinor: null }, {}],
    ['DELETE', 'DELETE', undefined, {}],
  ])('%s', async (_, method, body, after) => {
    await set(LIMITS);
    const id = waits(await asker.call(method, PATH, body), LIMITS, after);
    expect(await limitsAt()).toEqual(LIMITS);
    const approved = await approve(id);
    expect([approved.status, approved.json]).toMatchObject([
      200,
      { state: 'APPROVED', before: LIMITS, after, terms: { before: LIMITS, after } },
    ]);
    expect(approved.json['result']).toEqual({ operatorId: OPERATOR, currency: 'EUR', ...after });
    const read = await asker.call('GET', PATH);
    if (Object.keys(after).length === 0) expect(read.status).toBe(404);
    else expect([await limitsAt(), read.json['updatedBy']]).toEqual([after, asker.actor]);
    expect((await approve(id)).json).toEqual(approved.json);
  });

  test('its summary names each field with money, and the audit log both persons', async () => {
    await set(LIMITS);
    const { json } = await asker.call('PATCH', PATH, { dailyMinor: null, maxGrantMinor: 250 });
    expect(json['summary']).toBe(
      `limits of ${OPERATOR} in EUR: maxGrantMinor from 1.00 EUR to 2.50 EUR, dailyMinor from 5.00 EUR to no limit`,
    );
    expect(json).not.toHaveProperty('amountMinor');
    await approve(json['approvalId']);
    const { items } = (await world.admin('GET', '/v1/admin/audit?limit=3')).json;
    expect(items).toMatchObject([
      { action: 'approval.approve', actor: approver.actor },
      {
        action: 'limit.replace',
        actor: approver.actor,
        before: LIMITS,
        after: { maxGrantMinor: 250, dailyMinor: null },
      },
      { action: 'approval.ask', actor: asker.actor, after: { summary: json['summary'] } },
    ]);
    const [, change] = items as { before: object; after: object }[];
    expect(Object.keys(change!.before).sort()).toEqual(Object.keys(change!.after).sort());
  });

  test('a person without the role admin cannot approve it, nor can the requester', async () => {
    await set(LIMITS);
    const { json } = await asker.call('DELETE', PATH);
    expect((await approve(json['approvalId'], await world.administrator('operations'))).json).toEqual({
      error: 'this needs the role admin',
    });
    expect((await approve(json['approvalId'], asker)).status).toBe(403);
    const rejected = await approver.call('POST', `${APPROVALS}/${String(json['approvalId'])}/reject`, {
      reason: 'no',
    });
    expect(rejected.json).toMatchObject({ state: 'REJECTED' });
    expect(await limitsAt()).toEqual(LIMITS);
  });

  test('a PUT or PATCH that changes nothing is answered with the stored limits, and writes nothing', async () => {
    await set(LIMITS);
    const stored = (await asker.call('GET', PATH)).json;
    const entries = () => world.sql.run(`SELECT * FROM audit_entries WHERE action LIKE 'limit.%'`);
    const before = await entries();
    for (const [method, body] of [
      ['PUT', LIMITS],
      ['PATCH', { dailyMinor: LIMITS.dailyMinor }],
      ['PATCH', { maxWinMinor: null }],
    ] as const) {
      const reply = await approver.call(method, PATH, body);
      expect([reply.status, reply.json]).toEqual([200, stored]);
    }
    expect(await entries()).toEqual(before);
  });

  test('the same change again gets the same approval, and another one is a 409', async () => {
    await set(LIMITS);
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => asker.call('PATCH', PATH, { dailyMinor: 501 })),
    );
    expect(new Set(replies.map(({ status, json }) => `${status} ${String(json['approvalId'])}`)).size).toBe(
      1,
    );
    expect(await approver.call('PATCH', PATH, { dailyMinor: 502 })).toMatchObject({
      status: 409,
      json: { error: 'another change of these limits already waits for approval: it must be decided first' },
    });
    // Once it is decided, the same change can be requested again.
    await approve(replies[0]!.json['approvalId']);
    await asker.call('PATCH', PATH, { dailyMinor: 500 });
    expect((await asker.call('PATCH', PATH, { dailyMinor: 501 })).status).toBe(202);
  });

  test('after another change of the limits, the approved one is not carried out', async () => {
    await set(LIMITS);
    const id = waits(await asker.call('PATCH', PATH, { dailyMinor: 501 }), LIMITS, {
      ...LIMITS,
      dailyMinor: 501,
    });
    expect((await asker.call('PATCH', PATH, { maxGrantMinor: 50 })).status).toBe(200);
    expect((await approve(id)).json).toMatchObject({
      state: 'APPROVED',
      result: { error: 'the limits have changed since this change was requested' },
    });
    expect(await limitsAt()).toEqual({ ...LIMITS, maxGrantMinor: 50 });
  });
});

describe('the default of the installation', () => {
  test('is set, listed, raised with approval and removed like the limits of an operator', async () => {
    await set({ maxGrantMinor: 100 }, DEFAULT);
    expect((await asker.call('GET', DEFAULT)).json).toMatchObject({
      operatorId: '*',
      maxGrantMinor: 100,
      usedMinor: 0,
    });
    expect((await asker.call('GET', '/v1/admin/limits')).json).toMatchObject({
      items: [{ operatorId: '*' }],
    });
    const raised = await asker.call('PUT', DEFAULT, { maxGrantMinor: 101 });
    const id = waits(raised, { maxGrantMinor: 100 }, { maxGrantMinor: 101 });
    expect(raised.json).toMatchObject({
      operatorId: '*',
      summary: 'default limits in EUR: maxGrantMinor from 1.00 EUR to 1.01 EUR',
    });
    expect((await asker.call('GET', `${APPROVALS}?operatorId=*`)).json).toMatchObject({
      items: [{ approvalId: id }],
    });
    await approve(id);
    expect(await limitsAt(DEFAULT)).toEqual({ maxGrantMinor: 101 });
    await approve((await asker.call('DELETE', DEFAULT)).json['approvalId']);
    expect((await asker.call('GET', DEFAULT)).status).toBe(404);
  });

  test('applies to grants, batches, adjustments and previews, and an own field wins', async () => {
    await set({ maxGrantMinor: 99, maxBatchMinor: 150, maxAdjustmentMinor: 99 }, DEFAULT);
    const limitOf = async (path: string, order: object) => {
      const { status, json } = await asker.call('POST', path, order);
      return [status, (json['limit'] as { name: string; limitMinor: number } | undefined)?.limitMinor];
    };
    expect(await limitOf(GRANTS, grantOrder())).toEqual([202, 99]);
    expect(await limitOf(ADJUSTMENTS, adjustmentOrder())).toEqual([202, 99]);
    const { requestRef: _, ...preview } = grantOrder();
    expect((await asker.call('POST', `${GRANTS}/preview`, preview)).json).toMatchObject({
      requires: 'approval',
      limit: { limitMinor: 99 },
      limitsSet: true,
    });
    // An own limit above the default raises what is in effect.
    const raise = await asker.call('PUT', PATH, { maxGrantMinor: 100 });
    const before = { maxGrantMinor: 99, maxBatchMinor: 150, maxAdjustmentMinor: 99 };
    await approve(waits(raise, before, { ...before, maxGrantMinor: 100 }));
    expect(await limitsAt()).toEqual({ maxGrantMinor: 100 });
    expect((await asker.call('POST', GRANTS, grantOrder())).status).toBe(201);
    expect(await limitOf(BATCHES, batchOrder(2))).toEqual([202, 150]);
    expect(await limitOf(ADJUSTMENTS, adjustmentOrder())).toEqual([202, 99]);
    expect(await limitOf(GRANTS, grantOrder({ operatorId: OTHER_OPERATOR }))).toEqual([202, 99]);
  });

  test('stays when an own limit is removed: only a looser one than the own needs approval', async () => {
    await set({ maxGrantMinor: 100 }, DEFAULT);
    await set({ maxGrantMinor: 50 });
    waits(await asker.call('DELETE', PATH), { maxGrantMinor: 50 }, { maxGrantMinor: 100 });
    expect((await asker.call('PATCH', DEFAULT, { maxGrantMinor: 20 })).status).toBe(200);
    expect((await asker.call('DELETE', PATH)).status).toBe(204);
    expect((await asker.call('GET', PATH)).status).toBe(404);
    await set({ maxGrantMinor: 20 });
    expect((await asker.call('PATCH', PATH, { maxGrantMinor: null })).status).toBe(204);
  });

  test('changed since the request, an own limit is not raised', async () => {
    await set({ maxGrantMinor: 100 }, DEFAULT);
    const raise = await asker.call('PUT', PATH, { maxGrantMinor: 200 });
    const id = waits(raise, { maxGrantMinor: 100 }, { maxGrantMinor: 200 });
    await set({ maxGrantMinor: 10 }, DEFAULT);
    expect((await approve(id)).json).toMatchObject({ result: { error: expect.any(String) as string } });
    expect((await asker.call('GET', PATH)).status).toBe(404);
  });

  test('of maxWinMinor flags WINs, on every instance, until an own one replaces it', async () => {
    const flagged = async () => {
      const session = await other.launch();
      const bet = other.transaction(session, 'BET');
      expect((await other.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
      const win = other.transaction(session, 'WIN', { amountMinor: 1_001, roundId: bet.roundId });
      expect((await other.submit(win)).json).toMatchObject({ status: 'APPROVED' });
      const { items } = (await world.admin('GET', '/v1/admin/free-spins-winnings/flagged')).json;
      return (items as { transactionId: string }[]).some(
        ({ transactionId }) => transactionId === win.transactionId,
      );
    };
    await set({ maxWinMinor: 1_000 }, DEFAULT);
    await expect.poll(flagged).toBe(true);
    const raise = await asker.call('PUT', PATH, { maxWinMinor: 2_000 });
    await approve(waits(raise, { maxWinMinor: 1_000 }, { maxWinMinor: 2_000 }));
    await expect.poll(flagged).toBe(false);
  });

  test('with a daily limit is not exceeded by concurrent requests at two instances', async () => {
    const currency = 'ISK';
    await set({ dailyMinor: 1_000 }, `/v1/admin/limits/*/${currency}`);
    const orders = Array.from({ length: 30 }, () => grantOrder({ currency }));
    const replies = await Promise.all(
      orders.map((order, index) => (index % 2 ? other : world).admin('POST', GRANTS, order)),
    );
    const statuses = replies.map(({ status }) => status);
    expect([201, 202].map((status) => statuses.filter((one) => one === status).length)).toEqual([10, 20]);
  });
});

describe('concurrent changes at two instances', () => {
  test('first limits: one takes effect, and the others are judged by it', async () => {
    const callers = [world, other];
    const amounts = Array.from({ length: 10 }, (_, index) => 100 + index);
    const replies = await Promise.all(
      amounts.map((maxGrantMinor, index) => callers[index % 2]!.admin('PUT', PATH, { maxGrantMinor })),
    );
    const effective = amounts.filter((_, index) => replies[index]!.status === 200);
    // Each change that took effect lowered the limit or was the first, so the lowest of them stands.
    expect(await limitsAt()).toEqual({ maxGrantMinor: Math.min(...effective) });
    expect(replies.every(({ status }) => [200, 202, 409].includes(status))).toBe(true);
    const stored = await world.sql.run<{ action: string; minor: string }>(
      `SELECT action, after->>'maxGrantMinor' AS minor FROM audit_entries
        WHERE target = $1 AND outcome = 'done' AND action <> 'limit.read' ORDER BY day, position`,
      [`limit:${OPERATOR}/EUR`],
    );
    const changes = stored.slice(-effective.length);
    expect(changes.map(({ action }) => action)).toEqual([
      'limit.create',
      ...effective.slice(1).map(() => 'limit.replace'),
    ]);
    const order = changes.map(({ minor }) => Number(minor));
    expect(order).toEqual([...order].sort((left, right) => right - left));
  });

  test('an approval by several people is carried out once', async () => {
    const people = await Promise.all(
      Array.from({ length: 6 }, (_, index) => (index % 2 ? other : world).administrator('admin')),
    );
    await set({ maxGrantMinor: 100 });
    const id = waits(
      await asker.call('PUT', PATH, { maxGrantMinor: 200 }),
      { maxGrantMinor: 100 },
      { maxGrantMinor: 200 },
    );
    const replies = await Promise.all(people.map((one) => approve(id, one)));
    expect(replies.map(({ status }) => status)).toEqual(people.map(() => 200));
    const entries = await world.sql.run(
      `SELECT FROM audit_entries WHERE action = 'limit.replace' AND after->>'maxGrantMinor' = '200'`,
    );
    expect(entries).toHaveLength(1);
    expect(await limitsAt()).toEqual({ maxGrantMinor: 200 });
  });

  test('an approval and a lower limit never end in the approved limit after the lower one', async () => {
    for (let round = 0; round < 5; round += 1) {
      await world.sql.run('DELETE FROM limits');
      await set({ maxGrantMinor: 100 });
      const raised = await asker.call('PUT', PATH, { maxGrantMinor: 200 });
      const [approved, lowered] = await Promise.all([
        approve(raised.json['approvalId']),
        other.admin('PATCH', PATH, { maxGrantMinor: 50 }),
      ]);
      expect([approved.status, lowered.status]).toEqual([200, 200]);
      expect(await limitsAt()).toEqual({ maxGrantMinor: 50 });
    }
  });
});
