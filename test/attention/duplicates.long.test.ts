import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { AttentionStore } from '../../src/attention/attention.store.js';
import { CauseStore } from '../../src/attention/cause.store.js';
import { Tool } from '../free-spins/tool.js';
import { GRANT } from '../world/provider.js';
import { useWorld } from '../world/world.js';

const world = useWorld();
const tool = new Tool(world);

/** A player, all of whose grants the provider answers with one externalRef. */
function playerOfOneBatch(): { playerRef: string } {
  const playerRef = `player-${randomUUID()}`;
  const body = { externalRef: `batch-of-${playerRef}` };
  world.provider.always({ do: 'answer', status: 200, body }, { path: GRANT, playerRef });
  return { playerRef };
}

describe('the attention item of a duplicate', () => {
  const itemsOf = async (subject: string) => {
    const { json } = await world.admin('GET', '/v1/admin/attention?kind=grant&limit=500');
    return (
      json['items'] as { id: string; subject: string; state: string; summary: string; closedBy?: string }[]
    ).filter((item) => item.subject === subject);
  };

  test('names the first grant, and stays until a person closes it', async () => {
    const { playerRef } = playerOfOneBatch();
    const first = await tool.granted({ playerRef });
    const { requestRef } = await tool.granted({ playerRef });
    const [item] = await vi.waitFor(async () => {
      const items = await itemsOf(requestRef);
      expect(items).toMatchObject([{ state: 'OPEN', href: `/v1/admin/free-spins/${requestRef}` }]);
      return items;
    }, 20_000);
    expect(item!.summary).toContain(`externalRef of the grant ${first.requestRef}`);
    expect(await itemsOf(first.requestRef)).toEqual([]);
    const closed = await world.admin('POST', `/v1/admin/attention/${item!.id}/close`, { reason: 'asked' });
    expect(closed.status).toBe(200);
    // The item of a grant that becomes a duplicate later shows that all searches have run since.
    const later = await tool.granted({ playerRef });
    await vi.waitFor(async () => expect(await itemsOf(later.requestRef)).toHaveLength(1), 20_000);
    expect(await itemsOf(requestRef)).toMatchObject([{ id: item!.id, state: 'CLOSED' }]);
  }, 60_000);

  test('replaces the item of an earlier failure, even of one that a person has closed', async () => {
    const { playerRef } = playerOfOneBatch();
    await tool.granted({ playerRef });
    const order = tool.order({ playerRef });
    world.provider.next({ do: 'answer', status: 503 }, { requestRef: order.requestRef });
    expect((await tool.post(order)).status).toBe(502);
    const [failure] = await vi.waitFor(async () => {
      const items = await itemsOf(order.requestRef);
      expect(items).toHaveLength(1);
      return items;
    }, 20_000);
    await world.admin('POST', `/v1/admin/attention/${failure!.id}/close`, { reason: 'resent' });
    expect((await tool.act(order.requestRef, 'resend')).json).toHaveProperty('duplicateOf');
    await vi.waitFor(async () => {
      const [newest, ...others] = await itemsOf(order.requestRef);
      expect(newest).toMatchObject({
        state: 'OPEN',
        summary: expect.stringContaining('is a duplicate') as string,
      });
      expect(others).toMatchObject([{ id: failure!.id, state: 'CLOSED' }]);
    }, 20_000);
  }, 60_000);

  test('replaces the item of an earlier failure that a slow instance opens after the resend', async () => {
    const { playerRef } = playerOfOneBatch();
    await tool.granted({ playerRef });
    const order = tool.order({ playerRef });
    await allowNextSearch('infinity');
    world.provider.next({ do: 'answer', status: 503 }, { requestRef: order.requestRef });
    expect((await tool.post(order)).status).toBe(502);
    const failures = await world.app.get(CauseStore).window('grants', undefined, 10);
    const cause = failures
      .map(({ newCause }) => newCause)
      .find((found) => found?.subject === order.requestRef)!;
    expect((await tool.act(order.requestRef, 'resend')).json).toHaveProperty('duplicateOf');
    await world.app.get(AttentionStore).open([cause]);
    await allowNextSearch('-infinity');
    await vi.waitFor(async () => {
      const [newest, ...others] = await itemsOf(order.requestRef);
      expect(newest).toMatchObject({
        state: 'OPEN',
        summary: expect.stringContaining('is a duplicate') as string,
      });
      expect(others).toMatchObject([{ state: 'CLOSED', closedBy: 'croupier' }]);
    }, 20_000);
  }, 60_000);
});

/** Lets no search for causes begin before this time, except the search for parked transactions. */
async function allowNextSearch(at: 'infinity' | '-infinity'): Promise<void> {
  await world.sql.run(
    `INSERT INTO attention_scans (name, ran_at) VALUES ('causes', $1)
     ON CONFLICT (name) DO UPDATE SET ran_at = excluded.ran_at`,
    [at],
  );
}
