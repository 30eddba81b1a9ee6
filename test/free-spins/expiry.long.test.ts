import { beforeAll, describe, expect, test } from 'vitest';
import { APPROVALS, BATCHES, batchOrder, GRANTS, limit } from '../approvals/desk.js';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { useKillable } from '../process/killable.js';
import { CANCEL, GRANT } from '../world/provider.js';
import { TestClock } from '../world/test-clock.js';
import { useWorld, type World } from '../world/world.js';
import { Tool, until } from './tool.js';

const DAY_MS = 24 * 3_600_000;

const world = useWorld();
const tool = new Tool(world);

const expiring = () => tool.granted({ expiresAt: tomorrow() });
const tomorrow = () => new Date(Date.now() + DAY_MS).toISOString();

/** Lets the expiry of grants be reached. */
async function reach(...requestRefs: string[]): Promise<void> {
  await world.sql.run(
    'UPDATE free_spin_grants SET expires_at = clock_timestamp() WHERE request_ref = ANY ($1)',
    [requestRefs],
  );
}

describe('on two instances', () => {
  let other: World;
  beforeAll(async () => {
    other = await world.another(new TestClock());
    return () => other.app.close();
  });

  /** Lets the expiry of grants be reached, and has both instances look for it. */
  async function expire(...requestRefs: string[]): Promise<void> {
    await reach(...requestRefs);
    look();
  }

  function look(): void {
    for (const { app } of [world, other]) app.get(QueueRunner).wake();
  }

  test('an expired grant that was not sent yet is FAILED without a call', async () => {
    // More than both instances send at once.
    const order = batchOrder(20, { expiresAt: tomorrow() });
    const held = world.provider.always({ do: 'hold' }, { path: GRANT });
    const { batchId } = (await world.admin('POST', BATCHES, order)).json;
    const counts = async () => (await world.admin('GET', `${BATCHES}/${String(batchId)}?items=false`)).json;
    const players = new Set(order.playerRefs);
    const sent = () =>
      world.provider.calls(GRANT).filter(({ json }) => players.has(String(json['playerRef'])));
    await until('calls are under way', () => sent().length >= 8);
    await world.sql.run('UPDATE free_spin_grants SET expires_at = clock_timestamp() WHERE batch_id = $1', [
      batchId,
    ]);
    held.withdraw();
    held.release();
    await until('nothing is left', async () => {
      const { pending, granted } = await counts();
      return pending === 0 && granted === 0;
    });
    const { failed, cancelled } = await counts();
    expect(cancelled).toBe(sent().length);
    expect(Number(failed) + Number(cancelled)).toBe(20);
    expect((await world.admin('GET', `${BATCHES}/${String(batchId)}/failures`)).json).toEqual({
      items: [{ error: 'not sent: its expiresAt has passed', count: failed, outcomeUnknown: false }],
    });
  });

  describe('an expiry beside another cancel sends one callback:', () => {
    /** Holds the cancel of a new grant. */
    const heldCancel = async (status: number) => {
      const grant = await expiring();
      const held = world.provider.next(
        { do: 'hold', ...(status !== 200 && { then: { do: 'answer', status } as const }) },
        { path: CANCEL, externalRef: String(grant['externalRef']) },
      );
      return { requestRef: grant.requestRef, held };
    };

    test('a cancel during the expiry is a 409', async () => {
      const { requestRef, held } = await heldCancel(200);
      await expire(requestRef);
      await held.arrived;
      const path = `${GRANTS}/${requestRef}/cancel`;
      const cancels = await Promise.all([world, other].map((at) => at.admin('POST', path)));
      expect(cancels.map(({ status }) => status)).toEqual([409, 409]);
      await tool.act(requestRef, 'status');
      held.release();
      await until('it is cancelled', async () => (await tool.state(requestRef)) === 'CANCELLED');
      expect((await tool.read(requestRef)).json).toMatchObject({ expired: true, remainingSpins: 0 });
      expect(tool.calls(CANCEL, requestRef)).toHaveLength(1);
    });

    test('an expiry during a cancel that succeeds is not sent', async () => {
      const { requestRef, held } = await heldCancel(200);
      const cancel = tool.act(requestRef, 'cancel');
      await held.arrived;
      await expire(requestRef);
      const later = await expiring();
      await expire(later.requestRef);
      await until(
        'a later one is cancelled',
        async () => (await tool.state(later.requestRef)) === 'CANCELLED',
      );
      held.release();
      expect((await cancel).json).toMatchObject({ state: 'CANCELLED' });
      expect((await cancel).json).not.toHaveProperty('expired');
      expect(tool.calls(CANCEL, requestRef)).toHaveLength(1);
    });

    test('an expiry during a cancel that fails is sent afterwards', async () => {
      const { requestRef, held } = await heldCancel(503);
      const cancel = tool.act(requestRef, 'cancel');
      await held.arrived;
      await expire(requestRef);
      held.release();
      expect((await cancel).status).toBe(502);
      look();
      await until('it is cancelled', async () => (await tool.state(requestRef)) === 'CANCELLED');
      expect((await tool.read(requestRef)).json).toMatchObject({ expired: true });
      expect(tool.calls(CANCEL, requestRef)).toHaveLength(2);
    });

    test('all at once: a status, cancels, the cancel of the batch and the expiry, on two instances', async () => {
      const order = batchOrder(12, { expiresAt: tomorrow() });
      const { batchId } = (await world.admin('POST', BATCHES, order)).json;
      const path = `${BATCHES}/${String(batchId)}`;
      const batch = async () => (await world.admin('GET', path)).json;
      await until('all are granted', async () => (await batch())['granted'] === 12);
      const refs = ((await batch())['items'] as { requestRef: string }[]).map(({ requestRef }) => requestRef);
      const acts = [...refs.map((requestRef) => `${GRANTS}/${requestRef}`), path].flatMap((acted) =>
        [world, other].flatMap((at) =>
          ['cancel', 'status'].map((act) => at.admin('POST', `${acted}/${act}`)),
        ),
      );
      await Promise.all([expire(...refs), ...acts]);
      look();
      await until('all are cancelled', async () => (await batch())['cancelled'] === 12);
      expect(refs.map((requestRef) => tool.calls(CANCEL, requestRef).length)).toEqual(refs.map(() => 1));
    }, 60_000);
  });
});

describe('an instance that is killed during an expiry', () => {
  const killable = useKillable(world);

  test('is followed by another, which sends the callback once more', async () => {
    const { requestRef, externalRef } = await expiring();
    // Only the launched instances look for expired grants.
    await world.app.get(QueueRunner)['loop'].stop(0);
    const held = world.provider.next(
      { do: 'hold', then: { do: 'drop' } },
      { path: CANCEL, externalRef: String(externalRef) },
    );
    await killable.start();
    await reach(requestRef);
    await held.arrived;
    await killable.kill();
    await world.sql.run(
      'UPDATE free_spin_grants SET cancel_lease_until = clock_timestamp() WHERE cancel_lease_until IS NOT NULL',
    );
    await killable.start();
    const state = async () =>
      (
        await world.sql.run<{ state: string }>(
          'SELECT state, expiry FROM free_spin_grants WHERE request_ref = $1',
          [requestRef],
        )
      )[0];
    await until('it is cancelled', async () => (await state())?.state === 'CANCELLED');
    expect(await state()).toEqual({ state: 'CANCELLED', expiry: 'BEGUN' });
    expect(tool.calls(CANCEL, requestRef)).toHaveLength(2);
    held.release();
  }, 120_000);
});

test('a grant whose expiresAt passes while it is being approved is FAILED without a call', async () => {
  await limit(world, { maxGrantMinor: 0 }, 'SEK');
  const order = tool.order({ currency: 'SEK', expiresAt: tomorrow() });
  const [asker, approver] = [
    await world.administrator('promotions'),
    await world.administrator('promotions'),
  ];
  const { approvalId } = (await asker.call('POST', GRANTS, order)).json;
  // Only the approval sends the grant.
  await world.app.get(QueueRunner)['loop'].stop(0);
  // The expiry passes after the approval has checked it, as if its transaction waited for a lock.
  await world.sql.run(`
    CREATE FUNCTION expire_grant() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.expires_at := clock_timestamp() - interval '1 minute'; RETURN NEW; END $$`);
  await world.sql.run(`
    CREATE TRIGGER expire_grant BEFORE INSERT ON free_spin_grants FOR EACH ROW EXECUTE FUNCTION expire_grant()`);
  const reply = await approver.call('POST', `${APPROVALS}/${String(approvalId)}/approve`);
  await world.sql.run('DROP TRIGGER expire_grant ON free_spin_grants');
  expect([reply.status, reply.json['state'], reply.json['result']]).toEqual([
    200,
    'APPROVED',
    { error: 'not sent: its expiresAt has passed' },
  ]);
  expect((await tool.read(order.requestRef)).json).toMatchObject({
    state: 'FAILED',
    failure: { outcomeUnknown: false },
  });
  expect(tool.calls(GRANT, order.requestRef)).toEqual([]);
});
