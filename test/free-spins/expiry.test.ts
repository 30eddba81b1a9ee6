import { beforeAll, describe, expect, test } from 'vitest';
import { APPROVALS, BATCHES, batchOrder, GRANTS, limit } from '../approvals/desk.js';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { CANCEL, GRANT } from '../world/provider.js';
import { TestClock } from '../world/test-clock.js';
import { PATIENCE } from '../world/patience.js';
import { CSV, OPERATOR, useWorld, type World } from '../world/world.js';
import { Tool, until } from './tool.js';

const world = useWorld();
const tool = new Tool(world);
let other: World;
beforeAll(async () => {
  other = await world.another(new TestClock());
  return () => other.app.close();
});

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();

/** Lets the expiry of grants be reached, and has both instances look for it. */
async function reach(...requestRefs: string[]): Promise<void> {
  await world.sql.run(
    'UPDATE free_spin_grants SET expires_at = clock_timestamp() WHERE request_ref = ANY ($1)',
    [requestRefs],
  );
  look();
}

function look(): void {
  for (const { app } of [world, other]) app.get(QueueRunner).wake();
}

const expiring = (fields: Record<string, unknown> = {}) =>
  tool.granted({ expiresAt: ahead(DAY_MS), ...fields });

describe('expiresAt', () => {
  test.each([
    ['a minute ahead', () => ahead(MINUTE_MS + 10_000), 201],
    ['366 days ahead', () => ahead(366 * DAY_MS), 201],
    ['null', () => null, 201],
    ['less than a minute ahead', () => ahead(MINUTE_MS - 1_500), 400],
    ['more than 366 days ahead', () => ahead(367 * DAY_MS), 400],
    ['past', () => ahead(-DAY_MS), 400],
    ['without an offset', () => ahead(DAY_MS).slice(0, -1), 400],
    ['a number', () => Date.now() + DAY_MS, 400],
  ])('%s: %#', async (_, expiresAt, status) => {
    const order = tool.order({ expiresAt: expiresAt() });
    const reply = await tool.post(order);
    expect([reply.status, reply.json['error'] ?? 'expiresAt']).toEqual([
      status,
      expect.stringContaining('expiresAt'),
    ]);
    expect(tool.calls(GRANT, order.requestRef)).toHaveLength(status === 201 ? 1 : 0);
    if (status === 400) expect((await tool.read(order.requestRef)).status).toBe(404);
    const { operatorId: _operator, requestRef, ...own } = order;
    const signed = { ...own, requestRef: `own-${requestRef}`, expiresAt: expiresAt() };
    expect((await world.signed(OPERATOR, '/v1/operator/free-spins', signed)).status).toBe(status);
    const preview = { ...order, expiresAt: expiresAt() };
    expect((await world.admin('POST', `${GRANTS}/preview`, preview)).status).toBe(status === 201 ? 200 : 400);
    const batch = batchOrder(1, { expiresAt: expiresAt() });
    expect((await world.admin('POST', BATCHES, batch)).status).toBe(status === 201 ? 202 : 400);
    expect((await world.admin('POST', `${BATCHES}/preview`, batch)).status).toBe(status === 201 ? 200 : 400);
  });

  test('is in UTC in the grant, the batch, their previews, lists and CSV, and not in the callback', async () => {
    const expiresAt = ahead(DAY_MS);
    const offset = expiresAt.replace('Z', '+00:00');
    const { requestRef } = await expiring({ expiresAt: offset });
    const shown = { expiresAt };
    expect((await tool.read(requestRef)).json).toMatchObject(shown);
    expect(tool.calls(GRANT, requestRef)[0]!.json).not.toHaveProperty('expiresAt');
    expect((await world.admin('GET', `${GRANTS}?limit=1`)).json['items']).toMatchObject([shown]);
    expect(
      (await world.admin('POST', `${GRANTS}/preview`, tool.order({ expiresAt: offset }))).json,
    ).toMatchObject(shown);
    const order = batchOrder(2, { expiresAt: offset });
    expect((await world.admin('POST', `${BATCHES}/preview`, order)).json).toMatchObject(shown);
    const { batchId } = (await world.admin('POST', BATCHES, order)).json;
    expect((await world.admin('GET', `${BATCHES}/${String(batchId)}`)).json).toMatchObject({
      ...shown,
      items: [shown, shown],
    });
    expect(
      (await world.signedGet(OPERATOR, '/v1/operator/free-spins/batches?limit=1')).json['items'],
    ).toMatchObject([shown]);
    for (const path of [GRANTS, BATCHES]) {
      const csv = await world.admin('GET', path, undefined, CSV);
      expect(csv.text.split('\r\n')[0]).toContain(',expiresAt,');
      expect(csv.text).toContain(`,${expiresAt},`);
    }
  });

  test('belongs to the body that a repetition must repeat, even when it has passed', async () => {
    const order = tool.order({ expiresAt: ahead(DAY_MS) });
    await tool.post(order);
    expect((await tool.post({ ...order, expiresAt: ahead(2 * DAY_MS) })).status).toBe(409);
    expect((await tool.post({ ...order, expiresAt: null })).status).toBe(409);
    const batch = batchOrder(1, { expiresAt: ahead(DAY_MS) });
    await world.admin('POST', BATCHES, batch);
    expect((await world.admin('POST', BATCHES, { ...batch, expiresAt: ahead(2 * DAY_MS) })).status).toBe(409);
    const past = '2026-01-31T00:00:00.000Z';
    await world.sql.run('UPDATE free_spin_grants SET expires_at = $2 WHERE request_ref = $1', [
      order.requestRef,
      past,
    ]);
    expect((await tool.post({ ...order, expiresAt: past })).status).toBe(200);
  });

  test('is part of what is approved, and not approved once it has passed', async () => {
    await limit(world, { maxGrantMinor: 0 }, 'SEK');
    const expiresAt = ahead(DAY_MS);
    const order = tool.order({ currency: 'SEK', expiresAt });
    const asker = await world.administrator('promotions');
    const ask = (body: object) => asker.call('POST', GRANTS, body);
    const { status, json } = await ask(order);
    expect([status, json['summary']]).toEqual([202, expect.stringContaining(` until ${expiresAt}`)]);
    expect((await ask(order)).json['approvalId']).toBe(json['approvalId']);
    expect((await ask({ ...order, expiresAt: ahead(2 * DAY_MS) })).status).toBe(409);
    expect((await ask(tool.order({ currency: 'SEK', expiresAt: ahead(0) }))).status).toBe(400);
    const approver = await world.administrator('promotions');
    const approve = (id: unknown) => approver.call('POST', `${APPROVALS}/${String(id)}/approve`);
    expect((await approve(json['approvalId'])).json['result']).toMatchObject({ expiresAt });
    // Another loop of the service may send it first.
    await until('it is granted', async () => (await tool.state(order.requestRef)) === 'GRANTED');
    const late = await ask(tool.order({ currency: 'SEK', expiresAt }));
    await world.sql.run(
      `UPDATE approvals SET deed = jsonb_set(deed::jsonb, '{expiresAt}', '"2026-01-31T00:00:00.000Z"')::json
        WHERE approval_id = $1`,
      [late.json['approvalId']],
    );
    expect((await approve(late.json['approvalId'])).json['result']).toEqual({
      error: 'its expiresAt has passed',
    });
  });
});

describe('an expired grant', () => {
  test('is cancelled by one callback, whichever instance sends it', async () => {
    const { requestRef, externalRef, playerRef, gameId } = await expiring();
    await reach(requestRef);
    await until('it is cancelled', async () => (await tool.state(requestRef)) === 'CANCELLED');
    expect((await tool.read(requestRef)).json).toMatchObject({ expired: true });
    const later = await expiring();
    await reach(later.requestRef);
    await until('a later one is cancelled', async () => (await tool.state(later.requestRef)) === 'CANCELLED');
    expect(tool.calls(CANCEL, requestRef).map(({ json }) => json)).toEqual([
      { externalRef, playerRef, gameId },
    ]);
  });

  test('that the provider does not cancel stays GRANTED with the reason, without a second try', async () => {
    const { requestRef, externalRef } = await expiring();
    world.provider.next({ do: 'answer', status: 503 }, { path: CANCEL, externalRef: String(externalRef) });
    await reach(requestRef);
    await until('it has failed', async () => 'lastCancelError' in (await tool.read(requestRef)).json);
    expect((await tool.read(requestRef)).json).toMatchObject({
      state: 'GRANTED',
      lastCancelError: 'the provider answered 503',
    });
    const later = await expiring();
    await reach(later.requestRef);
    await until('a later one is cancelled', async () => (await tool.state(later.requestRef)) === 'CANCELLED');
    expect(tool.calls(CANCEL, requestRef)).toHaveLength(1);
    const cancelled = await tool.act(requestRef, 'cancel');
    expect(cancelled.json).toMatchObject({ state: 'CANCELLED' });
    expect(cancelled.json).not.toHaveProperty('expired');
  });

  test('is not cancelled if it is completed, or a duplicate, because its externalRef may name other spins', async () => {
    const completed = await expiring();
    world.provider.batches.get(String(completed['externalRef']))!.remainingSpins = 0;
    await tool.act(completed.requestRef, 'status');
    const first = await expiring({ expiresAt: null });
    const duplicate = tool.order({ playerRef: first['playerRef'], expiresAt: ahead(DAY_MS) });
    const { externalRef } = first;
    world.provider.next(
      { do: 'answer', status: 200, body: { externalRef } },
      { requestRef: duplicate.requestRef },
    );
    expect((await tool.post(duplicate)).json).toMatchObject({ duplicateOf: first.requestRef });
    const live = await expiring();
    await reach(completed.requestRef, duplicate.requestRef, live.requestRef);
    await until('the live one is cancelled', async () => (await tool.state(live.requestRef)) === 'CANCELLED');
    expect(await tool.state(completed.requestRef)).toBe('GRANTED');
    expect(tool.calls(CANCEL, completed.requestRef)).toEqual([]);
    expect(tool.calls(CANCEL, first.requestRef)).toEqual([]);
    // No cancel has become due, not even one that must not be sent.
    const begun = 'SELECT FROM free_spin_grants WHERE request_ref = ANY ($1) AND cancel_attempt > 0';
    expect(await world.sql.run(begun, [[completed.requestRef, duplicate.requestRef]])).toEqual([]);
  });

  test('is not cancelled if it was once completed, although a status of it now reports the spins of a later grant', async () => {
    const completed = await expiring();
    const { externalRef, playerRef } = completed;
    const batch = world.provider.batches.get(String(externalRef))!;
    batch.remainingSpins = 0;
    await tool.act(completed.requestRef, 'status');
    const later = tool.order({ playerRef });
    const body = { externalRef };
    world.provider.next({ do: 'answer', status: 200, body }, { requestRef: later.requestRef });
    expect((await tool.post(later)).json).not.toHaveProperty('duplicateOf');
    batch.remainingSpins = 10;
    expect((await tool.act(completed.requestRef, 'status')).json).toMatchObject({
      remainingSpins: 10,
      completed: false,
    });
    const live = await expiring();
    await reach(completed.requestRef, live.requestRef);
    await until('the live one is cancelled', async () => (await tool.state(live.requestRef)) === 'CANCELLED');
    expect(tool.calls(CANCEL, completed.requestRef)).toEqual([]);
    expect(batch.remainingSpins).toBe(10);
    expect(await tool.state(later.requestRef)).toBe('GRANTED');
    expect((await tool.read(completed.requestRef)).json).toMatchObject({
      state: 'GRANTED',
      remainingSpins: 0,
      completed: true,
    });
  });

  test('is not cancelled any more if a status reports it as completed before the cancel is sent', async () => {
    const { requestRef, externalRef } = await expiring();
    world.provider.batches.get(String(externalRef))!.remainingSpins = 0;
    // The cancel becomes due while the answer to the status call waits for the row, so that no instance claims it before.
    const due = world.sql.run(`
      DO $$ BEGIN
        UPDATE free_spin_grants SET expiry = 'BEGUN', cancel_due = true, expires_at = clock_timestamp()
         WHERE request_ref = '${requestRef}';
        WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))) LOOP
          PERFORM pg_sleep(0.01);
        END LOOP;
      END $$`);
    expect((await tool.act(requestRef, 'status')).json).toMatchObject({ completed: true });
    await due;
    const live = await expiring();
    await reach(live.requestRef);
    await until('a later one is cancelled', async () => (await tool.state(live.requestRef)) === 'CANCELLED');
    const { json } = await tool.read(requestRef);
    expect(json).toMatchObject({ state: 'GRANTED', completed: true });
    expect(tool.calls(CANCEL, requestRef)).toEqual([]);
    expect(
      await world.sql.run(
        'SELECT expiry, cancel_due, cancel_lease_until FROM free_spin_grants WHERE request_ref = $1',
        [requestRef],
      ),
    ).toEqual([{ expiry: null, cancel_due: false, cancel_lease_until: null }]);
  });

  test('is not cancelled once more after a crash if a status reported it as completed meanwhile', async () => {
    const { requestRef, externalRef } = await expiring();
    world.provider.batches.get(String(externalRef))!.remainingSpins = 0;
    const change = (set: string) =>
      world.sql.run(`UPDATE free_spin_grants SET ${set} WHERE request_ref = $1`, [requestRef]);
    await change(
      `expiry = 'BEGUN', cancel_due = true, cancel_lease_until = clock_timestamp() + interval '1 hour'`,
    );
    expect((await tool.act(requestRef, 'status')).json).toMatchObject({ completed: true });
    await change(`cancel_lease_until = clock_timestamp()`);
    const due = 'SELECT expiry, cancel_due AS due FROM free_spin_grants WHERE request_ref = $1';
    await expect
      .poll(() => world.sql.run(due, [requestRef]), PATIENCE)
      .toEqual([{ expiry: null, due: false }]);
    expect(await tool.state(requestRef)).toBe('GRANTED');
    expect(tool.calls(CANCEL, requestRef)).toEqual([]);
  });

  test('that is FAILED is not sent again, alone or with its batch', async () => {
    const order = tool.order({ expiresAt: ahead(DAY_MS) });
    world.provider.next({ do: 'answer', status: 422 }, { requestRef: order.requestRef });
    expect((await tool.post(order)).status).toBe(502);
    const batch = batchOrder(1, { expiresAt: ahead(DAY_MS) });
    world.provider.next({ do: 'answer', status: 422 }, { path: GRANT, playerRef: batch.playerRefs[0]! });
    const { batchId } = (await world.admin('POST', BATCHES, batch)).json;
    const counts = async () => (await world.admin('GET', `${BATCHES}/${String(batchId)}?items=false`)).json;
    await until('it has failed', async () => (await counts())['failed'] === 1);
    await world.sql.run(
      `UPDATE free_spin_grants SET expires_at = clock_timestamp() WHERE request_ref = $1 OR batch_id = $2`,
      [order.requestRef, batchId],
    );
    const resent = await tool.act(order.requestRef, 'resend');
    expect([resent.status, resent.json['error']]).toEqual([409, 'its expiresAt has passed']);
    expect((await world.admin('POST', `${BATCHES}/${String(batchId)}/resend`, {})).json).toMatchObject({
      failed: 1,
      pending: 0,
    });
  });
});
