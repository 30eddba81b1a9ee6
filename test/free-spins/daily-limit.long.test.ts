import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BATCHES, batchOrder, GRANTS, limit } from '../approvals/desk.js';
import { grantOrder } from '../world/grant-order.js';
import { CANCEL, GRANT } from '../world/provider.js';
import { OPERATOR, useWorld, type World } from '../world/world.js';
import { Tool, until } from './tool.js';

/** Each grant has a stake of 1.00 in its currency; each test has a currency of its own, and so its own limit. */
const STAKE_MINOR = 100;

let other: World;
const world = useWorld();
const tool = new Tool(world);
beforeAll(async () => {
  other = await world.another(world.clock);
});
afterAll(() => other.app.close());

/** Grants whose callbacks were lost, so that their outcome is unknown. */
async function lostGrants(count: number, currency: string): Promise<string[]> {
  const lost = world.provider.always({ do: 'drop' }, { path: GRANT });
  const orders = Array.from({ length: count }, () => grantOrder({ currency }));
  for (const { status } of await Promise.all(orders.map((order) => world.admin('POST', GRANTS, order)))) {
    expect(status).toBe(502);
  }
  lost.withdraw();
  return orders.map(({ requestRef }) => requestRef);
}

/** Lets the grants of a currency become older than the day that the limit counts. */
const age = (currency: string) =>
  world.sql.run(
    `UPDATE free_spin_grants SET created_at = created_at - interval '25 hours' WHERE currency = $1`,
    [currency],
  );

const used = async (currency: string) =>
  (await world.admin('GET', `/v1/admin/limits/${OPERATOR}/${currency}`)).json['usedMinor'];

const count = (statuses: readonly number[], status: number) =>
  statuses.filter((one) => one === status).length;

describe('under a daily limit', () => {
  test('concurrent resends and grants on two instances do not exceed it in total', async () => {
    const currency = 'PLN';
    const lost = await lostGrants(8, currency);
    await age(currency);
    await limit(world, { dailyMinor: 5 * STAKE_MINOR }, currency);
    const replies = await Promise.all([
      ...lost.map((ref, index) =>
        (index % 2 ? other : world).admin('POST', `${GRANTS}/${encodeURIComponent(ref)}/resend`),
      ),
      ...Array.from({ length: 8 }, (_, index) =>
        (index % 2 ? other : world).admin('POST', GRANTS, grantOrder({ currency })),
      ),
    ]);
    const statuses = replies.map(({ status }) => status);
    expect(count(statuses, 200) + count(statuses, 201)).toBe(5);
    expect(count(statuses.slice(0, 8), 409) + count(statuses.slice(8), 202)).toBe(11);
    expect(await used(currency)).toBe(5 * STAKE_MINOR);
  });

  test('a resent grant counts once', async () => {
    const currency = 'CZK';
    const [requestRef] = await lostGrants(1, currency);
    await limit(world, { dailyMinor: 1 }, currency);
    expect(await used(currency)).toBe(STAKE_MINOR);
    expect((await tool.act(requestRef!, 'resend')).status).toBe(200);
    expect(await used(currency)).toBe(STAKE_MINOR);
  });

  test('a batch is resent with unknown outcomes only if all fit, and otherwise left unchanged', async () => {
    const currency = 'HUF';
    const lost = world.provider.always({ do: 'drop' }, { path: GRANT });
    const { batchId } = (await world.admin('POST', BATCHES, batchOrder(3, { currency }))).json;
    const batch = async () => (await world.admin('GET', `${BATCHES}/${String(batchId)}?items=false`)).json;
    await until('all have failed', async () => (await batch())['failed'] === 3);
    lost.withdraw();
    await age(currency);
    await limit(world, { dailyMinor: 2 * STAKE_MINOR }, currency);
    const resend = () =>
      world.admin('POST', `${BATCHES}/${String(batchId)}/resend`, { includeUnknown: true });
    expect((await resend()).json['error']).toBe(
      'sending it again would exceed the daily limit of 2.00 HUF, of which 0.00 HUF is used',
    );
    expect(await batch()).toMatchObject({ failed: 3, pending: 0 });
    await limit(world, { dailyMinor: 3 * STAKE_MINOR }, currency);
    expect((await resend()).status).toBe(202);
    await until('all are granted', async () => (await batch())['granted'] === 3);
    expect(await used(currency)).toBe(3 * STAKE_MINOR);
  });

  test('a void is always permitted, and does not count', async () => {
    const currency = 'RON';
    const [requestRef] = await lostGrants(1, currency);
    await age(currency);
    await limit(world, { dailyMinor: 0 }, currency);
    const { status, json } = await world.admin('POST', `${GRANTS}/${requestRef!}/void`);
    expect([status, json['state']]).toEqual([200, 'CANCELLED']);
    expect(tool.calls(CANCEL, requestRef!)).toHaveLength(1);
    expect(await used(currency)).toBe(0);
  });
});
