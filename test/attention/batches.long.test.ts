import { beforeAll, describe, expect, test, vi } from 'vitest';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { AttentionWatcher } from '../../src/attention/attention.watcher.js';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { Tool, until } from '../free-spins/tool.js';
import { CANCEL, GRANT } from '../world/provider.js';
import { TestClock } from '../world/test-clock.js';
import { GAME, OPERATOR, PROVIDER, useWorld, type World } from '../world/world.js';

const PATIENCE = { timeout: 20_000, interval: 50 };
const DAY_MS = 24 * 3_600_000;

const world = useWorld();
const tool = new Tool(world);
let other: World;
beforeAll(async () => {
  other = await world.another(new TestClock());
  return () => other.app.close();
});

const tomorrow = () => new Date(Date.now() + DAY_MS).toISOString();

/** Looks for causes now, at both instances. */
async function pass(): Promise<void> {
  for (const { app } of [world, other]) {
    await world.sql.run(`DELETE FROM attention_scans WHERE name = 'causes'`);
    await app.get(AttentionWatcher).tick();
  }
}

/** The items of the kind `grant` that name the batch or any of its grants. */
async function itemsOf(subjects: readonly string[]): Promise<Record<string, unknown>[]> {
  await pass();
  const { json } = await world.admin('GET', '/v1/admin/attention?kind=grant&limit=500');
  return (json['items'] as Record<string, unknown>[]).filter(({ subject }) =>
    subjects.includes(String(subject)),
  );
}

async function batchOf(players: number, failing: number, fields: object = {}) {
  const order = batchOrder(players, { ...fields });
  for (const playerRef of order.playerRefs.slice(0, failing))
    world.provider.next({ do: 'answer', status: 422 }, { path: GRANT, playerRef });
  const batchId = String((await world.admin('POST', BATCHES, order)).json['batchId']);
  const path = `${BATCHES}/${batchId}`;
  const read = async () => (await world.admin('GET', path)).json;
  await until('it is settled', async () => (await read())['pending'] === 0);
  const refs = ((await read())['items'] as { requestRef: string }[]).map(({ requestRef }) => requestRef);
  return {
    order,
    batchId,
    path,
    read,
    refs,
    subjects: [batchId, `${batchId}/expiry`, `${batchId}/cancel`, ...refs],
  };
}

describe('the FAILED grants of a batch', () => {
  test('have one item with their number, which closes when none is left', async () => {
    const { order, batchId, path, refs, subjects } = await batchOf(6, 4);
    const [item] = await vi.waitFor(async () => {
      const items = await itemsOf(subjects);
      expect(items).toMatchObject([
        {
          state: 'OPEN',
          subject: batchId,
          count: 4,
          operatorId: OPERATOR,
          providerId: PROVIDER,
          summary: `4 grants of the batch ${order.batchRef} in ${GAME} failed`,
          href: `/v1/admin/free-spins?batchId=${batchId}&state=FAILED`,
        },
      ]);
      return items;
    }, PATIENCE);
    expect((await world.admin('GET', String(item!['href']))).json['items']).toHaveLength(4);
    const single = tool.order();
    world.provider.next({ do: 'answer', status: 422 }, { requestRef: single.requestRef });
    await tool.post(single);
    await vi.waitFor(
      async () => expect(await itemsOf([single.requestRef])).toMatchObject([{ state: 'OPEN' }]),
      PATIENCE,
    );
    expect((await itemsOf([single.requestRef]))[0]).not.toHaveProperty('count');

    await tool.act(refs[0]!, 'resend');
    await vi.waitFor(
      async () =>
        expect(await itemsOf(subjects)).toMatchObject([{ id: item!['id'], state: 'OPEN', count: 3 }]),
      PATIENCE,
    );
    await world.admin('POST', `${path}/resend`, {});
    await vi.waitFor(
      async () =>
        expect(await itemsOf(subjects)).toMatchObject([
          { id: item!['id'], state: 'CLOSED', closedBy: 'croupier' },
        ]),
      PATIENCE,
    );
  }, 120_000);
});

test('grants of a batch whose cancels were given up have one item with their number', async () => {
  const { order, batchId, path, read, refs, subjects } = await batchOf(40, 0);
  const silent = world.provider.always({ do: 'drop' }, { path: CANCEL });
  await world.admin('POST', `${path}/cancel`);
  await until('all have failed', async () =>
    ((await read())['items'] as object[]).every((grant) => 'lastCancelError' in grant),
  );
  expect(refs.filter((ref) => tool.calls(CANCEL, ref).length > 0).length).toBeLessThan(40);
  silent.withdraw();
  const id = await vi.waitFor(async () => {
    const items = await itemsOf(subjects);
    expect(items).toMatchObject([
      {
        state: 'OPEN',
        subject: `${batchId}/cancel`,
        count: 40,
        operatorId: OPERATOR,
        providerId: PROVIDER,
        summary: `40 grants of the batch ${order.batchRef} in ${GAME} could not be cancelled`,
        href: `/v1/admin/free-spins?batchId=${batchId}&state=GRANTED`,
      },
    ]);
    return items[0]!['id'];
  }, PATIENCE);
  world.provider.batches.get(`batch-of-${refs[0]!}`)!.remainingSpins = 0;
  expect((await tool.act(refs[0]!, 'status')).json).toMatchObject({ completed: true });
  await vi.waitFor(
    async () => expect(await itemsOf(subjects)).toMatchObject([{ id, state: 'OPEN', count: 39 }]),
    PATIENCE,
  );
  await world.admin('POST', `${path}/cancel`);
  await vi.waitFor(
    async () =>
      expect(await itemsOf(subjects)).toMatchObject([{ id, state: 'CLOSED', closedBy: 'croupier' }]),
    PATIENCE,
  );
}, 120_000);

test('the item of FAILED grants closes although another grant of the batch could not be cancelled', async () => {
  const { batchId, path, refs, subjects } = await batchOf(2, 1);
  await vi.waitFor(
    async () =>
      expect(await itemsOf(subjects)).toMatchObject([{ state: 'OPEN', subject: batchId, count: 1 }]),
    PATIENCE,
  );
  const { externalRef } = (await tool.read(refs[1]!)).json;
  world.provider.next({ do: 'answer', status: 503 }, { path: CANCEL, externalRef: String(externalRef) });
  expect((await tool.act(refs[1]!, 'cancel')).status).toBe(502);
  await world.admin('POST', `${path}/resend`, {});
  await vi.waitFor(async () => {
    const items = await itemsOf(subjects);
    expect(items.find(({ subject }) => subject === batchId)).toMatchObject({
      state: 'CLOSED',
      closedBy: 'croupier',
    });
    expect(items.find(({ subject }) => subject === `${batchId}/cancel`)).toMatchObject({
      state: 'OPEN',
      count: 1,
    });
  }, PATIENCE);
}, 60_000);

describe('a grant that could not be cancelled at its expiresAt', () => {
  const expire = async (condition: string, value: string) => {
    await world.sql.run(
      `UPDATE free_spin_grants SET expires_at = clock_timestamp() WHERE ${condition} = $1`,
      [value],
    );
    world.app.get(QueueRunner).wake();
  };

  test('has an item until it is cancelled', async () => {
    const { requestRef, externalRef } = await tool.granted({ expiresAt: tomorrow() });
    world.provider.next({ do: 'answer', status: 503 }, { path: CANCEL, externalRef: String(externalRef) });
    await expire('request_ref', requestRef);
    const [item] = await vi.waitFor(async () => {
      const items = await itemsOf([requestRef]);
      expect(items).toMatchObject([{ state: 'OPEN', href: `/v1/admin/free-spins/${requestRef}` }]);
      return items;
    }, PATIENCE);
    expect(item!['summary']).toMatch(/could not be cancelled at its expiresAt: the provider answered 503$/);
    expect((await tool.act(requestRef, 'cancel')).status).toBe(200);
    await vi.waitFor(
      async () => expect(await itemsOf([requestRef])).toMatchObject([{ id: item!['id'], state: 'CLOSED' }]),
      PATIENCE,
    );
  }, 60_000);

  test('has no item once its spins have been played', async () => {
    const { requestRef } = await tool.granted({ expiresAt: tomorrow() });
    world.provider.always(
      { do: 'answer', status: 503 },
      { path: CANCEL, externalRef: `batch-of-${requestRef}` },
    );
    await expire('request_ref', requestRef);
    await vi.waitFor(
      async () => expect(await itemsOf([requestRef])).toMatchObject([{ state: 'OPEN' }]),
      PATIENCE,
    );
    world.provider.batches.get(`batch-of-${requestRef}`)!.remainingSpins = 0;
    expect((await tool.act(requestRef, 'status')).json).toMatchObject({ completed: true });
    await vi.waitFor(
      async () =>
        expect(await itemsOf([requestRef])).toMatchObject([{ state: 'CLOSED', closedBy: 'croupier' }]),
      PATIENCE,
    );
    await pass();
    expect(await itemsOf([requestRef])).toHaveLength(1);
  }, 60_000);

  test('has an item of its own, even if a person has closed that of an earlier failure', async () => {
    const order = tool.order({ expiresAt: tomorrow() });
    const { requestRef } = order;
    const close = async (item: Record<string, unknown>) => {
      const path = `/v1/admin/attention/${String(item['id'])}/close`;
      expect((await world.admin('POST', path, { reason: 'ticket 1' })).status).toBe(200);
    };
    world.provider.next({ do: 'answer', status: 200, body: {} }, { path: GRANT, requestRef });
    expect((await tool.post(order)).status).toBe(502);
    const [failure] = await vi.waitFor(async () => {
      const items = await itemsOf([requestRef]);
      expect(items).toMatchObject([{ state: 'OPEN' }]);
      return items;
    }, PATIENCE);
    await close(failure!);
    world.provider.always(
      { do: 'answer', status: 503 },
      { path: CANCEL, externalRef: `batch-of-${requestRef}` },
    );
    expect((await world.admin('POST', `/v1/admin/free-spins/${requestRef}/void`)).status).toBe(502);
    expect(await tool.state(requestRef)).toBe('GRANTED');
    expect(await itemsOf([requestRef])).toMatchObject([{ id: failure!['id'], state: 'CLOSED' }]);
    await expire('request_ref', requestRef);
    const expiry = await vi.waitFor(async () => {
      const [newest, ...others] = await itemsOf([requestRef]);
      expect(newest).toMatchObject({
        state: 'OPEN',
        summary: expect.stringContaining('could not be cancelled at its expiresAt') as string,
      });
      expect(others).toMatchObject([{ id: failure!['id'], state: 'CLOSED' }]);
      return newest!;
    }, PATIENCE);
    await close(expiry);
    await pass();
    expect(await itemsOf([requestRef])).toMatchObject([
      { id: expiry['id'], state: 'CLOSED' },
      { id: failure!['id'], state: 'CLOSED' },
    ]);
  }, 60_000);

  test('shares one item with those of its batch, beside the item of FAILED ones', async () => {
    const { order, batchId, path, read, subjects } = await batchOf(4, 1, { expiresAt: tomorrow() });
    const refusing = world.provider.always({ do: 'answer', status: 500 }, { path: CANCEL });
    await expire('batch_id', batchId);
    await vi.waitFor(async () => {
      const items = await itemsOf(subjects);
      expect(items).toHaveLength(2);
      expect(items.find(({ subject }) => subject === `${batchId}/expiry`)).toMatchObject({
        state: 'OPEN',
        count: 3,
        summary: `3 grants of the batch ${order.batchRef} in ${GAME} could not be cancelled at their expiresAt`,
        href: `/v1/admin/free-spins?batchId=${batchId}&state=GRANTED`,
      });
      expect(items.find(({ subject }) => subject === batchId)).toMatchObject({ state: 'OPEN', count: 1 });
    }, PATIENCE);
    refusing.withdraw();
    await world.admin('POST', `${path}/cancel`);
    await until('they are cancelled', async () => (await read())['cancelled'] === 3);
    await vi.waitFor(async () => {
      const items = await itemsOf([`${batchId}/expiry`]);
      expect(items).toMatchObject([{ state: 'CLOSED', closedBy: 'croupier' }]);
    }, PATIENCE);
    const { items } = await read();
    expect((items as object[]).filter((grant) => 'expired' in grant)).toEqual([]);
  }, 120_000);
});
