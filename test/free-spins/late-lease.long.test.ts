import { afterAll, beforeAll, expect, test } from 'vitest';
import { CANCEL, GRANT, REVOKE } from '../world/provider.js';
import { useWorld, type World } from '../world/world.js';
import { suspendCallback, Tool, until } from './tool.js';

/*
 * An instance that is suspended between its claim and the call does not send the call once the lease has ended.
 */

/** The lease of a callback is its time-out and the lease of transactions: 2.5 s. */
const SHORT_LEASE = {
  CALLBACK_TIMEOUT_MS: '500',
  TRANSACTION_LEASE_SECONDS: '2',
  OPERATOR_TIMEOUT_MS: '500',
};

const world = useWorld();
const tool = new Tool(world);
let instance: World;
beforeAll(async () => {
  instance = await world.another(world.clock, SHORT_LEASE);
});
afterAll(() => instance.app.close());

/** Does the work, whose callback is claimed, but begins only when the condition holds. */
async function suspended<T>(
  route: string,
  work: () => Promise<T>,
  isOver: () => Promise<boolean>,
): Promise<T> {
  const suspension = await suspendCallback(world, route);
  const result = work();
  await until('the lease is over', isOver);
  await suspension.release();
  return result;
}

const leaseIsOver = async (table: string, lease: string, condition: string) =>
  (await world.sql.run(`SELECT FROM ${table} WHERE ${condition} AND ${lease} <= clock_timestamp()`)).length >
  0;

test('a grant is FAILED, and known not to be booked', async () => {
  const order = tool.order();
  const { requestRef } = order;
  await suspended(
    GRANT,
    () => new Tool(instance).post(order),
    async () => (await tool.state(requestRef)) === 'FAILED',
  );
  expect(tool.calls(GRANT, requestRef)).toEqual([]);
  expect((await tool.read(requestRef)).json).toMatchObject({
    state: 'FAILED',
    failure: { error: expect.stringContaining('suspended') as string, outcomeUnknown: false },
  });
  expect(await tool.callbacks(requestRef)).toMatchObject([
    { status: null, error: expect.stringContaining('suspended') as string },
  ]);
});

test('a cancel has failed', async () => {
  const { requestRef } = await tool.granted();
  const reply = await suspended(
    CANCEL,
    () => new Tool(instance).act(requestRef, 'cancel'),
    () => leaseIsOver('free_spin_grants', 'cancel_lease_until', `request_ref = '${requestRef}'`),
  );
  expect(reply.status).toBe(502);
  expect(tool.calls(CANCEL, requestRef)).toEqual([]);
  expect((await tool.read(requestRef)).json).toMatchObject({ state: 'GRANTED' });
});

test('the notification of a revocation is sent later', async () => {
  const { sessionId } = await world.launch();
  const reply = await suspended(
    REVOKE,
    () => instance.admin('POST', `/v1/admin/sessions/${sessionId}/revoke`, { reason: 'OTHER' }),
    () => leaseIsOver('session_revocations', 'lease_until', `sent AND session_id = '${sessionId}'`),
  );
  expect(reply.json['notification']).toEqual({ delivered: false, error: 'pending' });
  const calls = () => world.provider.calls(REVOKE).filter(({ json }) => json['sessionId'] === sessionId);
  await until('it is sent', () => calls().length === 1);
});
