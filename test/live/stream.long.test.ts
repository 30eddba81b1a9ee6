import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { bearer, GAME, OPERATOR, startWorld, useWorld, type World } from '../world/world.js';
import { StreamClient } from './stream-client.js';
import { PATIENCE } from '../world/patience.js';

const here = useWorld();
let there: World;
const clients: StreamClient[] = [];

beforeAll(async () => {
  there = await here.another(here.clock);
  return () => there.app.close();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

async function open(...parameters: Parameters<typeof StreamClient.open>): Promise<StreamClient> {
  const client = await StreamClient.open(...parameters);
  clients.push(client);
  return client;
}

/** Opens an item of a finding, whose cause is not searched for. */
async function openItem(summary = 'a finding', count = 1): Promise<string[]> {
  const rows = await here.sql.run<{ id: string }>(
    `WITH item AS (
       INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
       SELECT gen_random_uuid(), 'reconciliation', gen_random_uuid(), 'OPEN', $1, clock_timestamp()
         FROM generate_series(1, $2) RETURNING item_id
     ), event AS (
       INSERT INTO attention_events (item_id, event, actor, created_at)
       SELECT item_id, 'opened', 'croupier', clock_timestamp() FROM item)
     SELECT item_id AS id FROM item`,
    [summary, count],
  );
  return rows.map(({ id }) => id);
}

test('begins with the overview, which follows at most every five seconds', async () => {
  const startedMs = performance.now();
  const client = await open(here);
  expect(client.response.statusCode).toBe(200);
  expect(client.response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  await client.receives('overview');
  const first = await here.admin('GET', '/v1/admin/overview');
  expect(Object.keys(client.of('overview')[0]!)).toEqual(Object.keys(first.json));
  expect(client.events[0]!.event).toBe('overview');
  await vi.waitUntil(() => client.of('overview').length === 3, { timeout: 30_000, interval: 50 });
  expect(performance.now() - startedMs).toBeGreaterThan(9_000);
});

describe('sends what changes at any instance', () => {
  test('an item of attention that is opened, changed or closed', async () => {
    const readers = [await open(here), await open(there)];
    const [id] = await openItem();
    for (const reader of readers)
      await reader.receives('attention', { id, state: 'OPEN', summary: 'a finding' });
    await there.admin('POST', `/v1/admin/attention/${id}/assign`, { assignee: 'Ada' });
    for (const reader of readers) await reader.receives('attention', { id, assignee: 'Ada' });
    await here.admin('POST', `/v1/admin/attention/${id}/close`, { reason: 'done' });
    for (const reader of readers) await reader.receives('attention', { id, state: 'CLOSED', reason: 'done' });
    for (const reader of readers) {
      expect(reader.of('attention').filter((item) => item['id'] === id)).toHaveLength(3);
    }
  });

  test('an event of attention whose number becomes visible late', async () => {
    const reader = await open(here);
    await reader.receives('overview');
    const other = new Client({ connectionString: here.databaseUrl });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query(
        `WITH item AS (
           INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
           VALUES (gen_random_uuid(), 'reconciliation', gen_random_uuid(), 'OPEN', 'late', clock_timestamp())
           RETURNING item_id)
         INSERT INTO attention_events (item_id, event, actor, created_at)
         SELECT item_id, 'opened', 'croupier', clock_timestamp() FROM item`,
      );
      await openItem('early');
      await reader.receives('attention', { summary: 'early' });
      expect(reader.of('attention')).not.toContainEqual(expect.objectContaining({ summary: 'late' }));
      await other.query('COMMIT');
      await reader.receives('attention', { summary: 'late' });
    } finally {
      await other.end();
    }
  });

  test('an approval that is requested or decided', async () => {
    const operations = await here.administrator('operations');
    await here.admin('PUT', `/v1/admin/limits/${OPERATOR}/EUR`, { maxAdjustmentMinor: 10 });
    const readers = [await open(here), await open(there)];
    const asked = await here.admin('POST', '/v1/admin/adjustments', {
      adjustmentId: `adjustment-${randomUUID()}`,
      operatorId: OPERATOR,
      playerRef: 'a-player',
      currency: 'EUR',
      amountMinor: 11,
      reason: 'goodwill',
    });
    expect([asked.status, asked.text]).toEqual([202, expect.any(String)]);
    const { approvalId } = asked.json;
    for (const reader of readers) await reader.receives('approval', { approvalId, state: 'WAITING' });
    const path = `/v1/admin/approvals/${String(approvalId)}/reject`;
    const rejected = await there.admin('POST', path, { reason: 'no' }, bearer(operations.key));
    expect(rejected.status).toBe(200);
    for (const reader of readers) {
      await reader.receives('approval', { approvalId, state: 'REJECTED', reason: 'no' });
      expect(reader.of('approval')).toHaveLength(2);
    }
  });

  test('the counts of a batch while it runs', async () => {
    const readers = [await open(here), await open(there)];
    const playerRefs = Array.from({ length: 20 }, () => `player-${randomUUID()}`);
    const batch = await here.admin('POST', '/v1/admin/free-spins/batches', {
      operatorId: OPERATOR,
      playerRefs,
      gameId: GAME,
      spins: 1,
      betAmountMinor: 1,
      currency: 'EUR',
    });
    expect([batch.status, batch.text]).toEqual([202, expect.any(String)]);
    const { batchId } = batch.json;
    for (const reader of readers) {
      await reader.receives('batch', { batchId, total: 20, granted: 20, pending: 0 });
      const counts = reader.of('batch').map((each) => JSON.stringify(each));
      expect(new Set(counts).size).toBe(counts.length);
    }
  });
});

describe('ends', () => {
  test('within seconds when the key is revoked, at every instance, and no other stream', async () => {
    const revoked = await here.administrator('support');
    const other = await here.administrator('support');
    const ending = [await open(here, revoked), await open(there, revoked), await open(there, revoked)];
    const staying = await open(here, other);
    const startedMs = performance.now();
    await here.admin('DELETE', `/v1/admin/keys/${revoked.id}`);
    await Promise.all(ending.map((client) => client.end()));
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    expect(ending.map(({ response }) => response.complete)).toEqual([true, true, true]);
    expect(staying.ended).toBe(false);
  });

  test('when the instance stops, which waits for no stream', async () => {
    const third = await here.another(here.clock);
    const readers = [await open(third), await open(third)];
    const startedMs = performance.now();
    await third.app.close();
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    await Promise.all(readers.map((client) => client.end()));
    expect(readers.map(({ response }) => response.complete)).toEqual([true, true]);
  });

  test('when its client does not read', async () => {
    const world = await startWorld();
    try {
      const stuck = await StreamClient.open(world, { reads: false });
      const reading = await StreamClient.open(world);
      const many = async () => {
        await world.sql.run(
          `WITH item AS (
             INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
             SELECT gen_random_uuid(), 'reconciliation', gen_random_uuid(), 'OPEN', repeat('x', 100000), clock_timestamp()
               FROM generate_series(1, 5) RETURNING item_id)
           INSERT INTO attention_events (item_id, event, actor, created_at)
           SELECT item_id, 'opened', 'croupier', clock_timestamp() FROM item`,
        );
        return (await world.metrics()).includes('croupier_streams 1\n');
      };
      expect(await world.metrics()).toContain('croupier_streams 2\n');
      await vi.waitUntil(many, { timeout: 30_000, interval: 200 });
      expect(reading.ended).toBe(false);
      stuck.response.resume();
      await stuck.end();
      expect(stuck.response.complete).toBe(false);
      reading.close();
    } finally {
      await world.stop();
    }
  });
});

test('needs a key, answers HEAD, and is limited by key', async () => {
  expect((await here.request('/v1/admin/stream')).status).toBe(401);
  const { key } = await here.administrator('support');
  const head = await fetch(`${here.url}/v1/admin/stream`, {
    method: 'HEAD',
    headers: bearer(key),
  });
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const opened = await Promise.all(Array.from({ length: 250 }, () => open(here, { key })));
  expect(opened.map(({ response }) => response.statusCode)).toEqual(Array(250).fill(200));
  const refused = await here.request('/v1/admin/stream', { headers: bearer(key) });
  expect([refused.status, refused.headers.get('X-Error-Code')]).toEqual([500, 'OVERLOADED']);
  expect(refused.headers.get('Retry-After')).toBe('5');
  opened[0]!.close();
  await vi.waitUntil(async () => (await here.metrics()).includes('croupier_streams 249\n'), PATIENCE);
  expect((await open(here, { key })).response.statusCode).toBe(200);
});

test('sends a comment every 15 seconds', async () => {
  const startedMs = performance.now();
  const client = await open(here);
  await vi.waitUntil(() => client.comments === 1, { timeout: 30_000, interval: 50 });
  expect(performance.now() - startedMs).toBeGreaterThan(14_000);
});
