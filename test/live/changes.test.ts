import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ApprovalsService } from '../../src/approvals/approvals.service.js';
import type { Cause } from '../../src/attention/attention.js';
import { AttentionService } from '../../src/attention/attention.service.js';
import { AttentionStore } from '../../src/attention/attention.store.js';
import { BatchesService } from '../../src/free-spins/batches/batches.service.js';
import { Changes } from '../../src/live/changes.js';
import { BATCHES, batchOrder, GRANTS } from '../approvals/desk.js';
import { until } from '../free-spins/tool.js';
import { GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';

/** How many batches an instance follows at once. */
const AT_ONCE = 50;

const world = useWorld();

/** Changes that have been read once. */
async function begin(): Promise<Changes> {
  const { app } = world;
  const changes = new Changes(app.get(AttentionService), app.get(ApprovalsService), app.get(BatchesService));
  await changes.read();
  return changes;
}

test('a reading that fails loses nothing: the next one has its events', async () => {
  const events = [{ eventNo: 8, item: { id: 'item' } }];
  const changedItems = vi.fn((after: number, seen: readonly number[]) =>
    Promise.resolve(events.filter(({ eventNo }) => eventNo > after && !seen.includes(eventNo))),
  );
  const attention = { latestEvent: vi.fn().mockResolvedValue(7), changedItems };
  const states = vi.fn().mockResolvedValue([]);
  const items = vi.fn().mockResolvedValue([{ approvalId: 'approval' }]);
  const running = vi.fn().mockResolvedValue([]);
  const changes = new Changes(attention as never, { states, items } as never, { running } as never);

  running.mockRejectedValueOnce(new Error('away'));
  await expect(changes.read()).rejects.toThrow('away');
  expect(changes.begun).toBe(false);
  changedItems.mockResolvedValueOnce([]);
  expect(await changes.read()).toEqual([]);

  states.mockResolvedValue([{ approvalId: 'approval', state: 'WAITING' }]);
  running.mockResolvedValue([{ batch: { batchId: 'batch' }, running: false }]);
  items.mockRejectedValueOnce(new Error('away'));
  await expect(changes.read()).rejects.toThrow('away');
  running.mockRejectedValueOnce(new Error('away'));
  await expect(changes.read()).rejects.toThrow('away');
  running.mockResolvedValueOnce([{ batch: { batchId: 'batch' }, running: true }]);
  expect(await changes.read()).toEqual([
    { event: 'attention', data: { id: 'item' } },
    { event: 'approval', data: { approvalId: 'approval' } },
    { event: 'batch', data: { batchId: 'batch' } },
  ]);
});

describe('a batch', () => {
  /** Adds a batch whose grants are being sent. */
  async function addBatch(grants: number, ageSeconds = 0): Promise<string> {
    const batchId = randomUUID();
    await world.sql.run(
      `WITH batch AS (
         INSERT INTO free_spin_batches (batch_id, operator_id, fingerprint, game_id, created_at)
         VALUES ($1, $2, sha256('x'), $4, clock_timestamp() - make_interval(secs => $6)) RETURNING batch_id)
       INSERT INTO free_spin_grants (request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
                                     bet_amount_minor, currency, attempt, lease_until, batch_id, updated_at)
       SELECT gen_random_uuid(), 'PENDING', $2, $3, 'player', $4, 1, 1, 'EUR', 1, now() + interval '1 hour', batch_id,
              clock_timestamp() - make_interval(secs => $6)
         FROM batch, generate_series(1, $5)`,
      [batchId, OPERATOR, PROVIDER, GAME, grants, ageSeconds],
    );
    return batchId;
  }

  /** Lets the last change of the batches be older than ten seconds. */
  const age = (batchIds: readonly string[]) =>
    world.sql.run(
      `WITH batches AS (
         UPDATE free_spin_batches SET created_at = clock_timestamp() - interval '11 seconds' WHERE batch_id = ANY ($1))
       UPDATE free_spin_grants SET updated_at = clock_timestamp() - interval '11 seconds' WHERE batch_id = ANY ($1)`,
      [batchIds],
    );

  const settle = (batchIds: readonly string[], cancelDue = false) =>
    world.sql.run(
      `UPDATE free_spin_grants
          SET state = 'GRANTED', external_ref = request_ref, granted_at = now(), lease_until = NULL, cancel_due = $2,
              cancel_lease_until = CASE WHEN $2 THEN now() + interval '1 hour' END
        WHERE batch_id = ANY ($1)`,
      [batchIds, cancelDue],
    );

  const cancel = (batchId: string) =>
    world.sql.run(
      `UPDATE free_spin_grants
          SET state = 'CANCELLED', cancelled_at = now(), cancel_due = false, cancel_lease_until = NULL
        WHERE batch_id = $1`,
      [batchId],
    );

  /** Sends a batch, and waits until all of its grants are granted and its last change is older than ten seconds. */
  async function oldBatch(players: number): Promise<{ batchId: string; requestRefs: string[] }> {
    const { json } = await world.admin('POST', BATCHES, batchOrder(players));
    const batchId = String(json['batchId']);
    await until('the batch is granted', async () => (await countsOf(batchId))['granted'] === players);
    await age([batchId]);
    const grants = await world.sql.run<{ ref: string }>(
      'SELECT request_ref AS ref FROM free_spin_grants WHERE batch_id = $1',
      [batchId],
    );
    return { batchId, requestRefs: grants.map(({ ref }) => ref) };
  }

  const countsOf = async (batchId: string) =>
    (await world.admin('GET', `${BATCHES}/${batchId}?items=false`)).json;

  const count = async (changes: Changes, batchId: string) =>
    (await changes.read())
      .filter(({ event, data }) => event === 'batch' && 'batchId' in data && data.batchId === batchId)
      .map(({ data }) => data);

  beforeAll(async () => {
    await addBatch(5_001, 60);
    await settle([await addBatch(5_001, 60)], true);
  });

  test('has events until it ends, however many grants of others come first', async () => {
    const changes = await begin();
    const batchId = await addBatch(2);
    expect(await count(changes, batchId)).toMatchObject([{ pending: 2 }]);
    await age([batchId]);
    await changes.read();
    await settle([batchId], true);
    expect(await count(changes, batchId)).toMatchObject([{ pending: 0, granted: 2 }]);
    expect(await count(changes, batchId)).toEqual([]);
    await cancel(batchId);
    expect(await count(changes, batchId)).toMatchObject([{ granted: 0, cancelled: 2 }]);
    expect(await count(changes, batchId)).toEqual([]);
  });

  test('is followed to its end while newer ones begin, which follow when there is room', async () => {
    const changes = await begin();
    const first = await addBatch(1);
    expect(await count(changes, first)).toHaveLength(1);
    const others: string[] = [];
    for (let n = 0; n < AT_ONCE; n += 1) others.push(await addBatch(1));
    const oldest = others[0]!;
    expect(await count(changes, oldest)).toEqual([]);
    await age([first]);
    await settle([first]);
    expect(await count(changes, first)).toMatchObject([{ pending: 0, granted: 1 }]);
    await age(others.slice(1));
    await settle(others.slice(1));
    expect(await count(changes, oldest)).toMatchObject([{ pending: 1 }]);
    await age([oldest]);
    await settle([oldest]);
  });

  test('has an event of a cancel that ends between two readings, however old it is', async () => {
    const { batchId } = await oldBatch(2);
    const changes = await begin();
    expect((await world.admin('POST', `${BATCHES}/${batchId}/cancel`)).status).toBe(202);
    await until('the batch is cancelled', async () => (await countsOf(batchId))['cancelled'] === 2);
    expect(await count(changes, batchId)).toMatchObject([{ granted: 0, cancelled: 2 }]);
    expect(await count(changes, batchId)).toEqual([]);
  });

  test('has an event of the cancel of one of its grants', async () => {
    const { batchId, requestRefs } = await oldBatch(2);
    const changes = await begin();
    expect((await world.admin('POST', `${GRANTS}/${requestRefs[0]!}/cancel`)).status).toBe(200);
    expect(await count(changes, batchId)).toMatchObject([{ granted: 1, cancelled: 1 }]);
    expect(await count(changes, batchId)).toEqual([]);
  });
});

describe('an item of attention has one event when', () => {
  const items = () => world.app.get(AttentionStore);

  async function openItem(kind: Cause['kind']): Promise<Cause> {
    const cause = { kind, subject: randomUUID(), summary: 'one', count: 1 };
    await items().open([cause]);
    return cause;
  }

  const read = async (changes: Changes, { subject }: Cause) =>
    (await changes.read())
      .filter(({ event, data }) => event === 'attention' && 'subject' in data && data.subject === subject)
      .map(({ data }) => data);

  async function historyOf({ subject }: Cause): Promise<string[]> {
    const [item] = await world.sql.run<{ id: string }>(
      'SELECT item_id AS id FROM attention_items WHERE subject = $1',
      [subject],
    );
    const { history } = await world.app.get(AttentionService).find(item!.id);
    return history.map(({ event }) => event);
  }

  // No pass closes the items, whose causes do not exist.
  beforeAll(() => {
    const claims = vi.spyOn(items(), 'claimScan').mockResolvedValue(undefined);
    return () => claims.mockRestore();
  });

  test('its count changes, and its history does not grow', async () => {
    const [here, there] = [await begin(), await begin()];
    const cause = await openItem('reconciliation');
    for (const changes of [here, there]) expect(await read(changes, cause)).toMatchObject([{ count: 1 }]);
    for (const number of [2, 3, 4]) {
      await items().countAgain({ ...cause, count: number });
      await items().countAgain({ ...cause, count: number });
      for (const changes of [here, there])
        expect(await read(changes, cause)).toMatchObject([{ count: number }]);
      for (const changes of [here, there]) expect(await read(changes, cause)).toEqual([]);
    }
    expect(await historyOf(cause)).toEqual(['opened']);
    const [{ events }] = (await world.sql.run<{ events: string }>(
      `SELECT count(*) AS events FROM attention_events JOIN attention_items USING (item_id) WHERE subject = $1`,
      [cause.subject],
    )) as [{ events: string }];
    expect(Number(events)).toBe(2);
  });

  test('its transaction is committed after the first reading, although later events were read', async () => {
    const other = new Client({ connectionString: world.databaseUrl });
    await other.connect();
    try {
      const subject = randomUUID();
      await other.query('BEGIN');
      await other.query(
        `WITH item AS (
           INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
           VALUES (gen_random_uuid(), 'reconciliation', $1, 'OPEN', 'late', clock_timestamp()) RETURNING item_id)
         INSERT INTO attention_events (item_id, event, actor, created_at)
         SELECT item_id, 'opened', 'croupier', clock_timestamp() FROM item`,
        [subject],
      );
      const early = await openItem('reconciliation');
      const changes = await begin();
      expect(await read(changes, early)).toEqual([]);
      await other.query('COMMIT');
      const late = { kind: 'reconciliation', subject, summary: 'late' } as const;
      expect(await read(changes, late)).toMatchObject([{ summary: 'late' }]);
      expect(await read(changes, late)).toEqual([]);
    } finally {
      await other.end();
    }
  });

  test('its transaction is parked', async () => {
    const changes = await begin();
    const cause = await openItem('transaction');
    expect(await read(changes, cause)).toMatchObject([{ state: 'OPEN', summary: 'one' }]);
    const parked = { ...cause, summary: 'parked', parkedAt: '2026-01-01T00:00:00Z' };
    await items().markParked([parked]);
    await items().markParked([parked]);
    expect(await read(changes, cause)).toMatchObject([{ state: 'OPEN', summary: 'parked' }]);
    expect(await read(changes, cause)).toEqual([]);
    expect(await historyOf(cause)).toEqual(['opened']);
  });
});
