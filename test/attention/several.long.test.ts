import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Turns } from '../../src/database/turns.js';
import { PATIENCE } from '../world/patience.js';
import { type Administrator, type World, useWorld } from '../world/world.js';

const ATTENTION = '/v1/admin/attention';

let operations: Administrator;
let other: World;
const world = useWorld();
beforeAll(async () => {
  operations = await world.administrator('operations', 'Night shift');
  other = await world.another(world.clock);
  return () => other.app.close();
});

/** Opens items of findings, which only `reconcile` closes. */
async function items(count: number): Promise<string[]> {
  const opened = await world.sql.run<{ id: string }>(
    `INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
     SELECT gen_random_uuid(), 'reconciliation', gen_random_uuid()::text, 'OPEN', 'a finding', statement_timestamp()
       FROM generate_series(1, $1) RETURNING item_id AS id`,
    [count],
  );
  return opened.map(({ id }) => id);
}

const several = (verb: string, body: object, by = operations) =>
  by.call('POST', `${ATTENTION}/${verb}`, body);
const find = async (id: string) => (await operations.call('GET', `${ATTENTION}/${id}`)).json;
const recorded = async (id: string, action: string) =>
  (await world.admin('GET', `/v1/admin/audit?target=attention:${id}&action=${action}&outcome=done`)).json[
    'items'
  ];

describe('several items', () => {
  test.each([
    ['assign', { assignee: 'Ada' }, { assignee: 'Ada', state: 'OPEN' }],
    [
      'snooze',
      { until: '2099-01-31T06:00:00Z' },
      { state: 'SNOOZED', snoozedUntil: '2099-01-31T06:00:00.000Z' },
    ],
    [
      'snooze',
      { until: '9999-12-31T23:59-23:59' },
      { state: 'SNOOZED', snoozedUntil: '9999-12-31T23:59:59.999Z' },
    ],
    ['close', { reason: 'corrected' }, { state: 'CLOSED', reason: 'corrected', closedByName: 'Night shift' }],
  ])('are changed by one call, each with its entry: %s', async (verb, fields, changed) => {
    const [first, closed, last] = (await items(3)) as [string, string, string];
    const unknown = randomUUID();
    await operations.call('POST', `${ATTENTION}/${closed}/close`, { reason: 'before' });
    const reply = await several(verb, { ids: [first, closed, unknown, last], ...fields });
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        done: [first, last],
        skipped: [
          { id: closed, error: 'the item is closed' },
          { id: unknown, error: 'no such item' },
        ],
      },
    ]);
    for (const id of [first, last]) {
      expect(await find(id)).toMatchObject(changed);
      expect(await recorded(id, `attention.${verb}`)).toMatchObject([{ actor: operations.actor }]);
    }
    expect(await find(closed)).toMatchObject({ reason: 'before' });
  });

  test('lose their assignee only by null', async () => {
    const ids = await items(2);
    await several('assign', { ids, assignee: 'Ada' });
    expect((await several('assign', { ids })).status).toBe(400);
    expect(await find(ids[0]!)).toMatchObject({ assignee: 'Ada' });
    expect((await several('assign', { ids, assignee: null })).json['done']).toEqual(ids);
    for (const id of ids) expect(await find(id)).not.toHaveProperty('assignee');
  });

  test('are 1 to 200, valid and different; an invalid call changes none', async () => {
    const [id] = (await items(1)) as [string];
    const many = Array.from({ length: 201 }, () => randomUUID());
    for (const ids of [undefined, [], id, [id, id], [id, 'x'], [id.toUpperCase()], many]) {
      const reply = await several('close', { ids, reason: 'all' });
      expect([ids, reply.status]).toEqual([ids, 400]);
      expect(reply.json['error']).toContain('ids');
    }
    expect((await several('snooze', { ids: [id], until: '2020-01-01' })).status).toBe(400);
    expect((await several('close', { ids: [id] })).status).toBe(400);
    expect(await find(id)).toMatchObject({ state: 'OPEN' });
    expect((await several('close', { ids: many.slice(1), reason: 'all' })).json['skipped']).toHaveLength(200);
  });

  test('need the role operations', async () => {
    const [id] = (await items(1)) as [string];
    const reply = await several('close', { ids: [id], reason: 'all' }, await world.administrator('support'));
    expect([reply.status, reply.json['error']]).toEqual([403, 'this needs the role operations']);
  });

  test('are all changed by a call that has changed the first, although the next waits longer than a request', async () => {
    const [first, second, another] = (await items(3)) as [string, string, string];
    const { changes } = world.app.get(Turns);
    const bounds = changes['bounds'];
    Object.assign(changes, { bounds: { ...bounds, longestWaitMs: 50 } });
    const ends: (() => void)[] = [];
    const hold = () =>
      void changes.run(operations.actor, 'begun', () => new Promise<void>((end) => ends.push(end)));
    const appends = new pg.Client({ connectionString: world.databaseUrl });
    await appends.connect();
    try {
      await appends.query('SELECT pg_advisory_lock(7300003)');
      hold();
      const reply = several('close', { ids: [first, second], reason: 'corrected' });
      const underWay = () => changes['callers'].get(operations.actor)?.underWay;
      await vi.waitUntil(() => underWay() === 2, PATIENCE);
      hold();
      await appends.query('SELECT pg_advisory_unlock(7300003)');
      await vi.waitUntil(() => ends.length === 2, PATIENCE);
      // Now the second item waits. A request that waits later is refused.
      const refused = await operations.call('POST', `${ATTENTION}/${another}/close`, { reason: 'later' });
      expect(refused.headers.get('x-error-code')).toBe('OVERLOADED');
      for (const end of ends) end();
      expect((await reply).json).toEqual({ done: [first, second], skipped: [] });
      expect(await find(another)).toMatchObject({ state: 'OPEN' });
    } finally {
      for (const end of ends) end();
      Object.assign(changes, { bounds });
      await appends.end();
    }
  });

  test('are each closed once by calls at the same time, on two instances', async () => {
    const ids = await items(20);
    const body = { ids, reason: 'at once' };
    const calls = await Promise.all([
      world.admin('POST', `${ATTENTION}/close`, body),
      other.admin('POST', `${ATTENTION}/close`, { ...body, ids: [...ids].reverse() }),
    ]);
    const singles = await Promise.all(
      ids.map((id) => world.admin('POST', `${ATTENTION}/${id}/close`, { reason: 'single' })),
    );
    expect(new Set(singles.map(({ status }) => status))).toEqual(new Set([409]));
    expect(calls.flatMap(({ json }) => json['done'] as string[]).sort()).toEqual([...ids].sort());
    for (const id of ids) expect(await recorded(id, 'attention.close')).toHaveLength(1);
  });
});
