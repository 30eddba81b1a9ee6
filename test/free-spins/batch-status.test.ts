import { beforeAll, describe, expect, test } from 'vitest';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { StatusRunner } from '../../src/free-spins/batches/status.runner.js';
import { GRANT, STATUS } from '../world/provider.js';
import { TestClock } from '../world/test-clock.js';
import { OPERATOR, OTHER_OPERATOR, useWorld, type World } from '../world/world.js';
import { CALLS_AT_ONCE, Tool, until } from './tool.js';

const world = useWorld();
const tool = new Tool(world);
let other: World;
beforeAll(async () => {
  other = await world.another(new TestClock());
  return () => other.app.close();
});

interface Batch {
  readonly order: ReturnType<typeof batchOrder>;
  readonly path: string;
  readonly refs: readonly string[];
}

const read = async ({ path }: Pick<Batch, 'path'>) => (await world.admin('GET', `${path}?items=false`)).json;

/** A batch, all of whose grants are over or GRANTED. */
async function settled(order: Batch['order']): Promise<Batch> {
  const { batchId } = (await world.admin('POST', BATCHES, order)).json;
  const path = `${BATCHES}/${String(batchId)}`;
  await until('nothing is pending', async () => (await read({ path }))['pending'] === 0);
  const { items } = (await world.admin('GET', path)).json;
  return { order, path, refs: (items as { requestRef: string }[]).map(({ requestRef }) => requestRef) };
}

const asked = ({ refs }: Batch) => refs.map((requestRef) => tool.calls(STATUS, requestRef).length);
const remains = (requestRef: string, spins: number) => {
  world.provider.batches.get(`batch-of-${requestRef}`)!.remainingSpins = spins;
};

describe('the status of a batch', () => {
  test('asks about each GRANTED grant, and sums the answers', async () => {
    const failing = batchOrder(4);
    world.provider.next({ do: 'answer', status: 422 }, { path: GRANT, playerRef: failing.playerRefs[3]! });
    const batch = await settled(failing);
    const { path, refs } = batch;
    const batchId = path.slice(-36);
    expect(await read(batch)).not.toHaveProperty('statusCheckedAt');
    remains(refs[0]!, 0);
    remains(refs[1]!, 2);
    const support = await world.administrator('support');
    const before = new Date().toISOString();
    const reply = await support.call('POST', `${path}/status`);
    expect([reply.status, reply.json]).toMatchObject([202, { batchId, granted: 3, failed: 1 }]);
    await until('all answered', async () => {
      const { completed, remainingSpins } = await read(batch);
      return completed === 1 && remainingSpins === 7;
    });
    const counts = await read(batch);
    expect(counts).toMatchObject({ completed: 1, granted: 3, failed: 1, total: 4 });
    expect(String(counts['statusCheckedAt']) >= before).toBe(true);
    expect(asked(batch)).toEqual([1, 1, 1, 0]);
    expect((await world.admin('GET', `${BATCHES}?limit=1`)).json['items']).toMatchObject([
      { completed: 1, remainingSpins: 7 },
    ]);
    const { items: entries } = (await world.admin('GET', '/v1/admin/audit?action=free-spins.batch-status'))
      .json;
    expect(entries).toMatchObject([{ target: `batch:${batchId}`, outcome: 'done' }]);
  });

  test('has at most 8 calls under way, over all instances; a request meanwhile adds what is newly GRANTED', async () => {
    const failing = batchOrder(20);
    const [playerRef] = failing.playerRefs as [string];
    world.provider.next({ do: 'answer', status: 422 }, { path: GRANT, playerRef });
    const batch = await settled(failing);
    const held = world.provider.always({ do: 'hold' }, { path: STATUS });
    const ofOperator = batch.path.replace('/admin/', '/operator/');
    expect((await world.signed(OPERATOR, `${ofOperator}/status`, '')).status).toBe(202);
    const underWay = () => asked(batch).filter((calls) => calls === 1).length;
    await until('eight are under way', () => underWay() === CALLS_AT_ONCE);
    await world.admin('POST', `${batch.path}/resend`, {});
    await until('all are GRANTED', async () => (await read(batch))['granted'] === 20);
    expect((await other.admin('POST', `${batch.path}/status`)).status).toBe(202);
    // The other instance looks for runs, and finds that this one has been claimed.
    await other.app.get(StatusRunner)['loop'].run();
    expect(underWay()).toBe(CALLS_AT_ONCE);
    held.withdraw();
    held.release();
    const due = () => world.sql.run('SELECT FROM free_spin_batches WHERE status_due_since IS NOT NULL');
    await until('no run is due', async () => (await due()).length === 0);
    expect(asked(batch)).toEqual(batch.refs.map(() => 1));
  });

  test('is continued by another instance if the lease of a dead one has expired', async () => {
    const batch = await settled(batchOrder(10));
    const held = world.provider.always({ do: 'hold', then: { do: 'drop' } }, { path: STATUS });
    await world.admin('POST', `${batch.path}/status`);
    await until(
      'eight are under way',
      () => asked(batch).filter((calls) => calls === 1).length === CALLS_AT_ONCE,
    );
    held.withdraw();
    await world.sql.run('UPDATE free_spin_batches SET status_lease_until = clock_timestamp()');
    await other.app.get(StatusRunner)['loop'].run();
    await until('all answered', async () => (await read(batch))['remainingSpins'] === 50);
    expect(asked(batch).reduce((sum, calls) => sum + calls)).toBe(CALLS_AT_ONCE + 10);
    held.release();
    expect(await read(batch)).toMatchObject({ completed: 0, remainingSpins: 50 });
  });

  test('keeps earlier answers about grants that the provider does not answer now', async () => {
    const batch = await settled(batchOrder(2));
    await world.admin('POST', `${batch.path}/status`);
    await until('both answered', async () => (await read(batch))['remainingSpins'] === 10);
    const { statusCheckedAt } = await read(batch);
    world.provider.next(
      { do: 'answer', status: 503 },
      { path: STATUS, externalRef: `batch-of-${batch.refs[0]!}` },
    );
    remains(batch.refs[1]!, 1);
    await world.admin('POST', `${batch.path}/status`);
    await until('one answered', async () => (await read(batch))['remainingSpins'] === 6);
    await until('both were asked', () => asked(batch).every((calls) => calls === 2));
    // The time of the older answer, so that no figure is older than it says.
    const { items } = (await world.admin('GET', batch.path)).json;
    const times = (items as Record<string, unknown>[])
      .map((grant) => String(grant['statusCheckedAt']))
      .sort();
    expect((await read(batch))['statusCheckedAt']).toBe(times[0]);
    expect(times[0]! >= String(statusCheckedAt)).toBe(true);
    expect(times[0]! < times[1]!).toBe(true);
  });

  test('keeps completed grants completed, although the provider now reports spins with their externalRef', async () => {
    const batch = await settled(batchOrder(2));
    remains(batch.refs[0]!, 0);
    await world.admin('POST', `${batch.path}/status`);
    await until('both answered', async () => (await read(batch))['remainingSpins'] === 5);
    const { statusCheckedAt } = await read(batch);
    remains(batch.refs[0]!, 3);
    remains(batch.refs[1]!, 1);
    await world.admin('POST', `${batch.path}/status`);
    await until(
      'both answered again',
      async () => (await read(batch))['statusCheckedAt'] !== statusCheckedAt,
    );
    const due = () => world.sql.run('SELECT FROM free_spin_batches WHERE status_due_since IS NOT NULL');
    await until('no run is due', async () => (await due()).length === 0);
    expect(asked(batch)).toEqual([2, 2]);
    expect(await read(batch)).toMatchObject({ completed: 1, remainingSpins: 1 });
  });

  test('and its failures are a 404 for another operator, and a 404 if there is no such batch', async () => {
    const batch = await settled(batchOrder(1));
    const path = batch.path.replace('/admin/', '/operator/');
    expect((await world.signed(OTHER_OPERATOR, `${path}/status`, '')).status).toBe(404);
    expect((await world.signedGet(OTHER_OPERATOR, `${path}/failures`)).status).toBe(404);
    const unknown = `${BATCHES}/00000000-0000-4000-8000-000000000000`;
    expect((await world.admin('POST', `${unknown}/status`)).status).toBe(404);
    expect((await world.admin('GET', `${unknown}/failures`)).status).toBe(404);
    expect((await world.admin('GET', `${BATCHES}/no-uuid/failures`)).status).toBe(404);
    expect(asked(batch)).toEqual([0]);
  });
});

test('the failures of a batch are listed by cause, the most frequent first', async () => {
  const order = batchOrder(6);
  const [first, second, third, fourth] = order.playerRefs as [string, string, string, string];
  for (const playerRef of [first, second, third])
    world.provider.next({ do: 'answer', status: 422 }, { path: GRANT, playerRef });
  world.provider.next({ do: 'answer', status: 200, body: {} }, { path: GRANT, playerRef: fourth });
  const { batchId } = (await world.admin('POST', BATCHES, order)).json;
  const path = `${BATCHES}/${String(batchId)}`;
  await until('it is settled', async () => (await read({ path }))['pending'] === 0);
  const failures = [
    { error: 'the provider answered 422', count: 3, outcomeUnknown: false },
    { error: 'the provider answered 200 without a usable externalRef', count: 1, outcomeUnknown: true },
  ];
  const support = await world.administrator('support');
  expect((await support.call('GET', `${path}/failures`)).json).toEqual({ items: failures });
  const own = await world.signedGet(OPERATOR, `${path.replace('/admin/', '/operator/')}/failures`);
  expect(own.json).toEqual({ items: failures });
  await world.admin('POST', `${path}/resend`, { includeUnknown: true });
  await until('all are granted', async () => (await read({ path }))['granted'] === 6);
  expect((await support.call('GET', `${path}/failures`)).json).toEqual({ items: [] });
});
