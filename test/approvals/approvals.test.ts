import { ApprovalsService } from '../../src/approvals/approvals.service.js';
import { Turns } from '../../src/database/turns.js';
import { CroupierError } from '../../src/errors/croupier-error.js';
import { overloaded } from '../../src/errors/try-later.js';
import { AdjustmentService } from '../../src/desk/corrections/adjustment.service.js';
import pg from 'pg';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { GRANT } from '../world/provider.js';
import { waitingForLocks } from '../world/locks.js';
import {
  CSV,
  GAME,
  OPERATOR,
  OTHER_OPERATOR,
  type Administrator,
  type Reply,
  useWorld,
} from '../world/world.js';
import { ADJUSTMENTS, adjustmentOrder, APPROVALS, BATCHES, batchOrder, GRANTS, limit } from './desk.js';
import { grantOrder } from '../world/grant-order.js';

let asker: Administrator;
let promotions: Administrator;
let operations: Administrator;
const world = useWorld();
beforeAll(async () => {
  asker = await world.administrator('admin', 'Asker');
  promotions = await world.administrator('promotions', 'Promotions');
  operations = await world.administrator('operations', 'Night shift');
  await limit(world, { maxGrantMinor: 10, maxBatchMinor: 10, maxAdjustmentMinor: 10 });
});

const waiting = async (path: string, body: object, by: Administrator = asker): Promise<string> => {
  const { status, json } = await by.call('POST', path, body);
  expect([status, json['state']]).toEqual([202, 'WAITING']);
  return String(json['approvalId']);
};
const approve = (id: string, by: Administrator) => by.call('POST', `${APPROVALS}/${id}/approve`);
const reject = (id: string, by: Administrator, reason = 'one zero too many') =>
  by.call('POST', `${APPROVALS}/${id}/reject`, { reason });
const grantsOf = (playerRef: unknown) =>
  world.provider.calls(GRANT).filter(({ json }) => json['playerRef'] === playerRef).length;
const expireAll = () =>
  world.sql.run(
    `UPDATE approvals SET expires_at = clock_timestamp() - interval '1 second' WHERE state = 'WAITING'`,
  );

/** Waits until this number of connections wait for a lock. */
const untilWaiting = (count: number) =>
  expect.poll(() => waitingForLocks(world.sql)).toBeGreaterThanOrEqual(count);

describe('an approved', () => {
  test('grant is sent once, and approving again answers the same', async () => {
    const order = grantOrder();
    const id = await waiting(GRANTS, order);
    expect(grantsOf(order.playerRef)).toBe(0);
    const { requestRef: _, ...shown } = order;
    const first = await approve(id, promotions);
    expect([first.status, first.json]).toMatchObject([
      200,
      {
        state: 'APPROVED',
        summary: `5 spins of 0.20 EUR for ${order.playerRef} in ${GAME}: 1.00 EUR`,
        stakeMinor: 100,
        askedBy: asker.actor,
        askedByName: 'Asker',
        decidedBy: promotions.actor,
        decidedByName: 'Promotions',
        result: { ...shown, state: 'GRANTED', stakeMinor: 100 },
      },
    ]);
    const again = await approve(id, await world.administrator('promotions'));
    expect([again.status, again.json]).toEqual([200, first.json]);
    expect(grantsOf(order.playerRef)).toBe(1);
    // Now the original call gets the same answer as for a known grant.
    expect(await asker.call('POST', GRANTS, order)).toMatchObject({
      status: 200,
      json: { state: 'GRANTED' },
    });
  });

  test('batch is sent to each player once', async () => {
    const order = batchOrder(6);
    const id = await waiting(BATCHES, order);
    const { json } = await approve(id, promotions);
    const result = json['result'] as { batchId: string; stakeMinor: number };
    expect(result.stakeMinor).toBe(600);
    await expect
      .poll(async () => (await asker.call('GET', `${BATCHES}/${result.batchId}`)).json)
      .toMatchObject({ total: 6, granted: 6 });
    expect(order.playerRefs.map(grantsOf)).toEqual([1, 1, 1, 1, 1, 1]);
    const { text } = await asker.call('POST', BATCHES, order);
    expect(JSON.parse(text)).toEqual(result);
  });

  test('adjustment is booked once', async () => {
    const order = adjustmentOrder({ playerRef: 'eve', amountMinor: 250 });
    const id = await waiting(ADJUSTMENTS, order);
    const { json } = await approve(id, operations);
    expect(json).toMatchObject({
      summary: 'adjustment of 2.50 EUR for eve: ticket 1',
      amountMinor: 250,
      result: { status: 'APPROVED', amountMinor: 250, balance: 100_250 },
    });
    expect(world.wallet.booked(order.adjustmentId)?.movements).toBe(1);
    expect(await asker.call('POST', ADJUSTMENTS, order)).toMatchObject({ status: 200, json: json['result'] });
  });

  test('adjustment that the operator has not answered yet says so to a second approver', async () => {
    const order = adjustmentOrder();
    const id = await waiting(ADJUSTMENTS, order);
    const held = world.wallet.next({ do: 'hold' }, { transactionId: order.adjustmentId });
    const first = approve(id, operations);
    await held.arrived;
    const second = await approve(id, await world.administrator('operations'));
    expect(second.json['result']).toEqual({
      error: "the operator's answer is awaited: read the approval again",
    });
    held.release();
    expect((await first).json).toMatchObject({ result: { status: 'APPROVED' } });
  });

  test('action is carried out once, even if several people approve it at once, at two instances', async () => {
    const other = await world.another(world.clock);
    const people = await Promise.all(
      Array.from({ length: 6 }, (_, index) => (index % 2 ? other : world).administrator('promotions')),
    );
    const order = grantOrder();
    const id = await waiting(GRANTS, order);
    const replies = await Promise.all(people.map((one) => approve(id, one)));
    expect(replies.map(({ status }) => status)).toEqual(people.map(() => 200));
    await expect.poll(() => grantsOf(order.playerRef)).toBe(1);
    await other.app.close();
    const { json } = await asker.call('GET', `${APPROVALS}/${id}`);
    expect(json).toMatchObject({ state: 'APPROVED', result: { state: 'GRANTED' } });
    expect(grantsOf(order.playerRef)).toBe(1);
  });

  test('action that fails stays APPROVED, with the error as its result', async () => {
    const refused = grantOrder();
    const refusedId = await waiting(GRANTS, refused);
    world.provider.next({ do: 'answer', status: 422, body: {} }, { path: GRANT });
    expect((await approve(refusedId, promotions)).json).toMatchObject({
      state: 'APPROVED',
      result: { error: 'the provider answered 422' },
    });

    const unanswered = adjustmentOrder();
    const unansweredId = await waiting(ADJUSTMENTS, unanswered);
    world.wallet.next({ do: 'drop' }, { transactionId: unanswered.adjustmentId });
    expect((await approve(unansweredId, operations)).json['result']).toHaveProperty('error');
    // The adjustment itself continues, as after any call that was not answered.
    await asker.call('POST', ADJUSTMENTS, unanswered);
    expect((await approve(unansweredId, operations)).json).toMatchObject({ result: { status: 'APPROVED' } });
    expect(world.wallet.booked(unanswered.adjustmentId)?.movements).toBe(1);
  });

  test('action that is no longer possible stays APPROVED, with the reason', async () => {
    const gameId = 'soon-closed';
    const game = { providerId: 'spinwell', name: gameId };
    await world.admin('PUT', `/v1/admin/games/${gameId}`, { ...game, status: 'ACTIVE' });
    const order = grantOrder({ gameId });
    const id = await waiting(GRANTS, order);
    await world.admin('PUT', `/v1/admin/games/${gameId}`, { ...game, status: 'DISABLED' });
    const approved = await approve(id, promotions);
    expect([approved.status, approved.json]).toMatchObject([
      200,
      { state: 'APPROVED', result: { error: 'the game is not configured' } },
    ]);
    expect((await approve(id, promotions)).json).toEqual(approved.json);
    expect(grantsOf(order.playerRef)).toBe(0);
  });
});

test('concurrent adjustments above a limit all wait for approval, without blocking each other over connections', async () => {
  const orders = Array.from({ length: 60 }, () => adjustmentOrder({ amountMinor: 250 }));
  const replies = await Promise.all(orders.map((order) => asker.call('POST', ADJUSTMENTS, order)));
  expect(replies.map(({ status }) => status)).toEqual(orders.map(() => 202));
});

test('an action that fails after it wrote something leaves nothing but the record of its failure', async () => {
  const order = adjustmentOrder();
  const id = await waiting(ADJUSTMENTS, order);
  const instance = await world.another(world.clock);
  const { approved } = instance.app.get(AdjustmentService);
  instance.app.get(ApprovalsService).register('adjustment', {
    ...approved,
    record: async (...parameters) => {
      await approved.record(...parameters);
      throw new CroupierError('CONFLICT', 'too late');
    },
  });
  const late = await instance.administrator('operations');
  expect((await approve(id, late)).json).toMatchObject({ state: 'APPROVED', result: { error: 'too late' } });
  await instance.app.close();
  expect(await world.stateOf(order.adjustmentId)).toBeUndefined();
  const entries = await world.sql.run<{ action: string; after: object }>(
    'SELECT action, after FROM audit_entries WHERE target = ANY ($1) ORDER BY day, position',
    [[`approval:${id}`, `adjustment:${order.adjustmentId}`]],
  );
  expect(entries).toMatchObject([
    { action: 'approval.ask' },
    { action: 'approval.approve', after: { error: 'too late' } },
  ]);
});

test('an approval that has waited too long for its turn can be repeated', async () => {
  const order = grantOrder();
  const id = await waiting(GRANTS, order);
  vi.spyOn(world.app.get(Turns).changes, 'run').mockRejectedValueOnce(overloaded(1));
  expect(await approve(id, promotions)).toMatchObject({
    status: 500,
    json: { error: 'the platform is overloaded; the same request may be tried again' },
  });
  expect((await asker.call('GET', `${APPROVALS}/${id}`)).json).toMatchObject({ state: 'WAITING' });
  expect((await approve(id, promotions)).json).toMatchObject({ state: 'APPROVED', result: order });
});

test('a request that is checked while another is approved counts the approved amount', async () => {
  const currency = 'SGD';
  await limit(world, { dailyMinor: 250 }, currency);
  const id = await waiting(GRANTS, grantOrder({ currency, spins: 15 }));
  const connection = new pg.Client({ connectionString: world.databaseUrl });
  await connection.connect();
  // Every change appends to the audit log last, so that this lock holds both transactions before their commit.
  await connection.query('SELECT pg_advisory_lock(7300003)');
  const approved = approve(id, promotions);
  await untilWaiting(1);
  const granted = asker.call('POST', GRANTS, grantOrder({ currency }));
  await untilWaiting(2);
  await connection.end();
  expect((await approved).json).toMatchObject({ state: 'APPROVED' });
  expect((await granted).status).toBe(202);
});

describe('the same body again', () => {
  const actions: Record<string, () => [string, { [name: string]: unknown }, Administrator]> = {
    requestRef: () => [GRANTS, grantOrder(), promotions],
    batchRef: () => [BATCHES, batchOrder(2), promotions],
    adjustmentId: () => [ADJUSTMENTS, adjustmentOrder(), operations],
  };

  test.each(Object.keys(actions))('answers the same approval while it waits: %s', async (name) => {
    const [path, order] = actions[name]!();
    const replies = await Promise.all(Array.from({ length: 5 }, () => asker.call('POST', path, order)));
    expect(new Set(replies.map(({ status, json }) => `${status} ${String(json['approvalId'])}`)).size).toBe(
      1,
    );
    const [change, value] = 'amountMinor' in order ? ['amountMinor', 999] : ['spins', 6];
    expect(await asker.call('POST', path, { ...order, [change]: value })).toMatchObject({
      status: 409,
      text: `{"error":"this ${name} was already used with another request"}`,
    });
  });

  test.each(Object.keys(actions))(
    'opens a new approval after a rejection and after the expiry: %s',
    async (name) => {
      const [path, order, approver] = actions[name]!();
      const first = await waiting(path, order);
      expect((await reject(first, approver)).json).toMatchObject({
        state: 'REJECTED',
        reason: 'one zero too many',
        decidedBy: approver.actor,
      });
      const second = await waiting(path, order);
      expect(second).not.toBe(first);
      await expireAll();
      expect((await approve(second, approver)).status).toBe(409);
      expect((await asker.call('GET', `${APPROVALS}/${second}`)).json['state']).toBe('EXPIRED');
      const third = await waiting(path, order);
      expect(new Set([first, second, third]).size).toBe(3);
      expect((await approve(first, approver)).status).toBe(409);
      expect((await approve(third, approver)).json).toMatchObject({ state: 'APPROVED' });
    },
  );
});

test('a grant and a batch with one reference wait for approvals of their own', async () => {
  const grant = grantOrder();
  const batch = batchOrder(2, { batchRef: grant.requestRef });
  const [ofGrant, ofBatch] = [await waiting(GRANTS, grant), await waiting(BATCHES, batch)];
  expect(ofBatch).not.toBe(ofGrant);
  for (const id of [ofGrant, ofBatch]) {
    expect((await approve(id, promotions)).json).toMatchObject({ state: 'APPROVED' });
  }
});

test('an approval stays APPROVED or REJECTED after its expiry', async () => {
  const [approved, rejected] = [await waiting(GRANTS, grantOrder()), await waiting(GRANTS, grantOrder())];
  await approve(approved, promotions);
  await reject(rejected, promotions);
  await world.sql.run(
    `UPDATE approvals SET expires_at = clock_timestamp() - interval '1 second' WHERE approval_id = ANY ($1)`,
    [[approved, rejected]],
  );
  const stateOf = async (id: string) => (await asker.call('GET', `${APPROVALS}/${id}`)).json['state'];
  expect([await stateOf(approved), await stateOf(rejected)]).toEqual(['APPROVED', 'REJECTED']);
});

test('an approval that expires while it is being decided is not carried out', async () => {
  const order = grantOrder();
  const id = await waiting(GRANTS, order);
  const connection = new pg.Client({ connectionString: world.databaseUrl });
  await connection.connect();
  // The decision waits for the limits of the operator, whose lock limit.store.ts defines.
  await connection.query(`SELECT pg_advisory_lock(7300005, hashtext('${OPERATOR}/EUR'))`);
  const approved = approve(id, promotions);
  await untilWaiting(1);
  await expireAll();
  await connection.end();
  expect((await approved).status).toBe(409);
  expect((await asker.call('GET', `${APPROVALS}/${id}`)).json['state']).toBe('EXPIRED');
  expect(grantsOf(order.playerRef)).toBe(0);
});

describe('who may decide:', () => {
  const refused = (reply: Reply, error: string) =>
    expect([reply.status, reply.json['error']]).toEqual([403, error]);

  test('neither the requester, nor a key that the requester created, nor one that such a key created', async () => {
    const id = await waiting(GRANTS, grantOrder());
    refused(await approve(id, asker), 'this needs a person other than the requester');
    const child = await world.administrator('admin', 'Child', asker);
    const grandchild = await world.administrator('promotions', 'Grandchild', child);
    for (const key of [child, grandchild]) {
      refused(await approve(id, key), 'this needs another person: the requester created this key');
    }
    expect((await approve(id, promotions)).status).toBe(200);
  });

  test("nor who created the requester's key, directly or through other keys, unless that is the root key", async () => {
    const boss = await world.administrator('admin', 'Boss');
    const child = await world.administrator('admin', 'Child', boss);
    const grandchild = await world.administrator('promotions', 'Grandchild', child);
    const path = (id: string) => `${APPROVALS}/${id}/approve`;
    const id = await waiting(GRANTS, grantOrder(), child);
    for (const waitingId of [id, await waiting(GRANTS, grantOrder(), grandchild)]) {
      refused(
        await approve(waitingId, boss),
        "this needs another person: the approver created the requester's key",
      );
    }
    expect((await world.admin('POST', path(await waiting(GRANTS, grantOrder(), grandchild)))).status).toBe(
      200,
    );
    expect((await world.admin('POST', path(await waiting(GRANTS, grantOrder(), boss)))).status).toBe(200);
    // The boss may still reject it.
    expect((await reject(id, boss)).json).toMatchObject({ state: 'REJECTED' });
  });

  test('only a person whose role may do the action', async () => {
    const grant = await waiting(GRANTS, grantOrder());
    const adjustment = await waiting(ADJUSTMENTS, adjustmentOrder());
    const support = await world.administrator('support');
    for (const decide of [approve, reject]) {
      refused(await decide(grant, operations), 'this needs the role promotions');
      refused(await decide(grant, support), 'this needs the role promotions');
      refused(await decide(adjustment, promotions), 'this needs the role operations');
    }
  });

  test('the requester may withdraw it', async () => {
    const id = await waiting(GRANTS, grantOrder(), promotions);
    expect((await reject(id, promotions, 'withdrawn')).json).toMatchObject({
      state: 'REJECTED',
      reason: 'withdrawn',
      decidedBy: promotions.actor,
    });
    expect((await reject(id, promotions)).status).toBe(409);
  });

  test('the request, refused attempts and the decision are in the audit log', async () => {
    const id = await waiting(GRANTS, grantOrder());
    await approve(id, asker);
    await approve(id, promotions);
    const target = encodeURIComponent(`approval:${id}`);
    const { items } = (await world.admin('GET', `/v1/admin/audit?target=${target}`)).json;
    expect(items).toMatchObject([
      { action: 'approval.approve', outcome: 'done', actorName: 'Promotions' },
      { action: 'approval.approve', outcome: 'FORBIDDEN', actorName: 'Asker' },
      {
        action: 'approval.ask',
        actorName: 'Asker',
        after: { summary: expect.stringContaining('1.00 EUR'), limit: { name: 'maxGrantMinor' } },
      },
    ]);
  });
});

describe('an operator', () => {
  const { operatorId: _, ...order } = grantOrder();
  const read = (id: string, operator: string) => world.signedGet(operator, `/v1/operator/approvals/${id}`);

  test('waits for an administrator, and reads the outcome of its own grant only', async () => {
    const response = await world.signed(OPERATOR, '/v1/operator/free-spins', order);
    expect(response.status).toBe(202);
    const id = String(response.json['approvalId']);
    expect((await read(id, OPERATOR)).json).toMatchObject({
      state: 'WAITING',
      askedBy: `operator:${OPERATOR}`,
    });
    expect((await read(id, OTHER_OPERATOR)).status).toBe(404);
    await approve(id, promotions);
    const seen = (await read(id, OPERATOR)).json;
    expect(seen).toMatchObject({ state: 'APPROVED', result: { state: 'GRANTED' } });
    expect(seen).not.toHaveProperty('decidedBy');
    expect(await world.signed(OPERATOR, '/v1/operator/free-spins', order)).toMatchObject({ status: 200 });
  });

  test("reads what an administrator requested for its players, without that administrator's name", async () => {
    const requested = grantOrder();
    const id = await waiting(GRANTS, requested);
    const { operatorId: __, ...same } = requested;
    const repeated = await world.signed(OPERATOR, '/v1/operator/free-spins', same);
    expect([repeated.status, repeated.json['approvalId']]).toEqual([202, id]);
    const found = await read(id, OPERATOR);
    expect([found.status, found.json]).toMatchObject([200, { state: 'WAITING', kind: 'grant' }]);
    for (const { json } of [repeated, found]) {
      expect(json).not.toHaveProperty('askedBy');
      expect(json).not.toHaveProperty('askedByName');
    }
    expect((await read(id, OTHER_OPERATOR)).status).toBe(404);
  });

  test('does not read the approval of an adjustment', async () => {
    expect((await read(await waiting(ADJUSTMENTS, adjustmentOrder()), OPERATOR)).status).toBe(404);
  });
});

describe('the list of approvals', () => {
  beforeEach(expireAll);

  test('is filtered by state and operator, as JSON and as CSV, newest first', async () => {
    const first = await waiting(GRANTS, grantOrder());
    const second = await waiting(ADJUSTMENTS, adjustmentOrder({ amountMinor: -250 }));
    const list = async (query: string) =>
      ((await asker.call('GET', `${APPROVALS}?${query}`)).json['items'] as { approvalId: string }[]).map(
        ({ approvalId }) => approvalId,
      );
    expect(await list(`state=WAITING&operatorId=${OPERATOR}`)).toEqual([second, first]);
    expect(await list('state=WAITING&limit=1')).toEqual([second]);
    expect(await list(`state=WAITING&operatorId=${OTHER_OPERATOR}`)).toEqual([]);
    expect(await list('state=WAITING&to=2020-01-01')).toEqual([]);
    expect((await list('state=EXPIRED')).length).toBeGreaterThan(0);
    const { call } = await world.administrator('support');
    const { text } = await call('GET', `${APPROVALS}?state=WAITING`, undefined, CSV);
    expect(text.split('\r\n')[0]).toContain('stakeMinor,stake,amountMinor,amount,');
    expect(text.split('\r\n')[1]).toContain(',-250,-2.50,');
    await world.sql.run(
      `UPDATE approvals SET created_at = created_at - interval '1 hour' WHERE approval_id = $1`,
      [first],
    );
    const metrics = await world.metrics();
    expect(metrics).toContain(`croupier_approvals_waiting{operator="${OPERATOR}"} 2`);
    const [, oldest] = new RegExp(`croupier_approvals_oldest_seconds{operator="${OPERATOR}"} (\\S+)`).exec(
      metrics,
    )!;
    expect(Number(oldest)).toBeGreaterThanOrEqual(3_600);
    expect(Number(oldest)).toBeLessThan(4_000);
  });
});
