import { expect, test } from 'vitest';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { useKillable } from '../process/killable.js';
import { CANCEL, GRANT } from '../world/provider.js';
import { useWorld } from '../world/world.js';
import { CALLS_AT_ONCE, Tool, until } from './tool.js';

// The world has the counterparts, the database and the surviving instance.
const world = useWorld();
const tool = new Tool(world);
const killable = useKillable(world);

/** Kills the instance, and lets its leases end. */
async function kill(): Promise<void> {
  await killable.kill();
  await world.sql.run(
    `UPDATE free_spin_grants SET lease_until = CASE WHEN lease_until IS NOT NULL THEN clock_timestamp() END,
            cancel_lease_until = CASE WHEN cancel_lease_until IS NOT NULL THEN clock_timestamp() END`,
  );
}

/** A POST to the instance that is killed; its answer may get lost. */
const post = (path: string) => killable.world.admin('POST', path).catch(() => undefined);

test('another instance finishes the cancel of a batch whose instance was killed', async () => {
  await killable.start();
  const players = 3 * CALLS_AT_ONCE;
  const { batchId } = (await world.admin('POST', BATCHES, batchOrder(players))).json;
  const counts = async () => (await world.admin('GET', `${BATCHES}/${String(batchId)}?items=false`)).json;
  await until('all are granted', async () => (await counts())['granted'] === players);

  const held = world.provider.always({ do: 'hold' }, { path: CANCEL });
  expect((await post(`${BATCHES}/${String(batchId)}/cancel`))?.status).toBe(202);
  await until('cancels are in flight', () => world.provider.calls(CANCEL).length >= CALLS_AT_ONCE);
  await kill();
  const unanswered = world.provider.calls(CANCEL).length;
  held.withdraw();
  held.release();
  await until('the survivor has cancelled all', async () => (await counts())['cancelled'] === players);

  const calls = new Map<unknown, number>();
  for (const { json } of world.provider.calls(CANCEL)) {
    calls.set(json['externalRef'], (calls.get(json['externalRef']) ?? 0) + 1);
  }
  expect(calls.size).toBe(players);
  expect(Math.max(...calls.values())).toBe(2);
  // Only a cancel that was not answered when the instance was killed is sent again.
  const repeated = [...calls.values()].filter((times) => times === 2).length;
  expect(repeated).toBeGreaterThan(0);
  expect(repeated).toBeLessThanOrEqual(unanswered);
}, 120_000);

test('another instance finishes a void whose instance was killed after the grant', async () => {
  await killable.start();
  const order = tool.order();
  world.provider.next({ do: 'drop' }, { path: GRANT, requestRef: order.requestRef });
  expect((await tool.post(order)).status).toBe(502);
  const externalRef = `batch-of-${order.requestRef}`;
  const held = world.provider.next({ do: 'hold', then: { do: 'drop' } }, { path: CANCEL, externalRef });
  const lost = post(`/v1/admin/free-spins/${order.requestRef}/void`);
  await held.arrived;
  await kill();
  await lost;
  await until(
    'the survivor has cancelled it',
    async () => (await tool.state(order.requestRef)) === 'CANCELLED',
  );
  held.release();
  expect(tool.calls(GRANT, order.requestRef)).toHaveLength(2);
}, 120_000);

test('a grant that a void was sending when its instance was killed is FAILED again, until another void', async () => {
  await killable.start();
  const order = tool.order();
  const { requestRef } = order;
  world.provider.next({ do: 'drop' }, { path: GRANT, requestRef });
  expect((await tool.post(order)).status).toBe(502);
  const held = world.provider.next({ do: 'hold', then: { do: 'drop' } }, { path: GRANT, requestRef });
  const lost = post(`/v1/admin/free-spins/${requestRef}/void`);
  await held.arrived;
  await kill();
  await lost;
  expect((await tool.read(requestRef)).json).toMatchObject({
    state: 'FAILED',
    failure: { outcomeUnknown: true },
  });
  held.release();
  const again = await world.admin('POST', `/v1/admin/free-spins/${requestRef}/void`);
  expect([again.status, again.json['state']]).toEqual([200, 'CANCELLED']);
}, 120_000);
