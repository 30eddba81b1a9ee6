import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { QueueStore } from '../../src/free-spins/queue/queue.store.js';
import { MARK_STORED_WINS } from '../../src/database/migrations/0025-duplicate-grants.js';
import { CANCEL, GRANT, STATUS } from '../world/provider.js';
import {
  CSV,
  FOREIGN_GAME,
  OPERATOR,
  OTHER_OPERATOR,
  PROVIDER,
  useWorld,
  type World,
} from '../world/world.js';
import { Tool } from './tool.js';
import { PATIENCE } from '../world/patience.js';

const AT_ONCE = 100;

// A test holds a hundred callbacks before the first is answered.
const patient = { CALLBACK_TIMEOUT_MS: '60000' };
const world = useWorld(patient);
const tool = new Tool(world);
let other: World;
beforeAll(async () => {
  other = await world.another(world.clock, patient);
});
afterAll(() => other.app.close());

/** The provider answers all further grants of the player with this externalRef. */
function named(externalRef: string, playerRef: string): void {
  world.provider.always({ do: 'answer', status: 200, body: { externalRef } }, { path: GRANT, playerRef });
}

/** A player, and an externalRef with which the provider answers all grants of the player. */
function playerOfOneBatch(): { playerRef: string; externalRef: string } {
  const id = randomUUID();
  const names = { playerRef: `player-${id}`, externalRef: `batch-${id}` };
  named(names.externalRef, names.playerRef);
  return names;
}

async function win(playerRef: string, freeSpinsRef: string, amountMinor: number, launch: object = {}) {
  const session = await world.launch({ playerRef, ...launch });
  const body = world.transaction(session, 'WIN', { freeSpinsRef, amountMinor });
  expect((await world.submit(body)).json['status']).toBe('APPROVED');
  return body.transactionId;
}

const read = async (requestRef: string) => (await tool.read(requestRef)).json;
const winnings = async (requestRef: string) => (await read(requestRef))['winnings'];
const NOTHING = { count: 0, totalMinor: 0 };

const flagOf = async (transactionId: string) => {
  const { json } = await world.admin('GET', '/v1/admin/free-spins-winnings/flagged?limit=500');
  const items = json['items'] as { transactionId: string; flag: string }[];
  return items.find((item) => item.transactionId === transactionId)?.flag;
};

/** The provider reports the batch as completed, or not. */
async function report(requestRef: string, externalRef: string, completed: boolean): Promise<void> {
  const body = { remainingSpins: completed ? 0 : 3, completed };
  world.provider.next({ do: 'answer', status: 200, body }, { path: STATUS, externalRef });
  expect((await tool.act(requestRef, 'status')).status).toBe(200);
}

describe('a grant that is answered with the externalRef of a live grant of the player', () => {
  test('is a duplicate of it, and has no winnings: each WIN counts in the first', async () => {
    const { playerRef, externalRef } = playerOfOneBatch();
    const first = await tool.granted({ playerRef });
    await win(playerRef, externalRef, 100);
    const second = await tool.granted({ playerRef });
    const third = await tool.granted({ playerRef });
    expect(first).not.toHaveProperty('duplicateOf');
    expect([second['duplicateOf'], third['duplicateOf']]).toEqual([first.requestRef, first.requestRef]);
    const late = await win(playerRef, externalRef, 50);
    expect(await winnings(first.requestRef)).toEqual({ count: 2, totalMinor: 150 });
    expect(await winnings(second.requestRef)).toEqual(NOTHING);
    expect(await winnings(third.requestRef)).toEqual(NOTHING);
    expect(await flagOf(late)).toBeUndefined();
  });

  test('is shown as a duplicate wherever grants are shown', async () => {
    const { playerRef } = playerOfOneBatch();
    const { requestRef: first } = await tool.granted({ playerRef });
    const { requestRef: _, playerRef: __, ...terms } = tool.order();
    const created = await world.admin('POST', '/v1/admin/free-spins/batches', {
      ...terms,
      playerRefs: [playerRef],
    });
    const path = `free-spins/batches/${String(created.json['batchId'])}`;
    const duplicate = await vi.waitFor(async () => {
      const { items } = (await world.admin('GET', `/v1/admin/${path}`)).json as {
        items: { requestRef: string; duplicateOf?: string }[];
      };
      expect(items).toMatchObject([{ state: 'GRANTED', duplicateOf: first }]);
      return items[0]!;
    }, PATIENCE);
    const { requestRef } = duplicate;
    const list = `free-spins?playerRef=${playerRef}`;
    expect((await world.signedGet(OPERATOR, `/v1/operator/${path}`)).json['items']).toEqual([duplicate]);
    for (const { json } of [
      await world.admin('GET', `/v1/admin/${list}`),
      await world.signedGet(OPERATOR, `/v1/operator/${list}`),
    ]) {
      const grants = json['items'] as { requestRef: string; duplicateOf?: string }[];
      expect(grants.map((grant) => [grant.requestRef, grant.duplicateOf])).toEqual([
        [requestRef, first],
        [first, undefined],
      ]);
    }
    const single = `free-spins/${requestRef}`;
    expect(await read(requestRef)).toMatchObject({ duplicateOf: first });
    expect((await world.signedGet(OPERATOR, `/v1/operator/${single}`)).json).toMatchObject({
      duplicateOf: first,
      winnings: NOTHING,
    });
    const csv = await world.admin('GET', `/v1/admin/${list}`, undefined, CSV);
    const [header = '', line = ''] = csv.text.split('\r\n');
    expect(line.split(',')[header.split(',').indexOf('duplicateOf')]).toBe(first);
  });

  test('is found even if the two differ in spins and currency; a WIN in the other currency is flagged', async () => {
    const { playerRef, externalRef } = playerOfOneBatch();
    const first = await tool.granted({ playerRef });
    const second = await tool.granted({ playerRef, currency: 'USD', spins: 1 });
    expect(second['duplicateOf']).toBe(first.requestRef);
    const foreign = await win(playerRef, externalRef, 30, { currency: 'USD' });
    expect(await flagOf(foreign)).toBe('OTHER_CURRENCY');
    expect(await winnings(first.requestRef)).toEqual({ ...NOTHING, flagged: 1 });
    expect(await winnings(second.requestRef)).toEqual(NOTHING);
  });

  test('remains a duplicate if the first is cancelled: a later WIN is flagged', async () => {
    const { playerRef, externalRef } = playerOfOneBatch();
    world.provider.batches.set(externalRef, { requestRef: externalRef, remainingSpins: 5 });
    const first = await tool.granted({ playerRef });
    const second = await tool.granted({ playerRef });
    await tool.act(first.requestRef, 'cancel');
    const late = await win(playerRef, externalRef, 30);
    expect(await flagOf(late)).toBe('CANCELLED');
    expect(await winnings(first.requestRef)).toEqual({ count: 1, totalMinor: 30, flagged: 1 });
    expect(await winnings(second.requestRef)).toEqual(NOTHING);
    expect(await read(second.requestRef)).toMatchObject({ state: 'GRANTED', duplicateOf: first.requestRef });
  });

  test('of a hundred answered at once, over two instances, exactly one is the first', async () => {
    const id = randomUUID();
    const [playerRef, externalRef] = [`player-${id}`, `batch-${id}`];
    const then = { do: 'answer', status: 200, body: { externalRef } } as const;
    const held = world.provider.always({ do: 'hold', then }, { path: GRANT, playerRef });
    const answers = Array.from({ length: AT_ONCE }, (_, n) =>
      (n % 2 === 0 ? world : other).admin('POST', '/v1/admin/free-spins', tool.order({ playerRef })),
    );
    const received = () => world.provider.calls(GRANT).filter(({ json }) => json['playerRef'] === playerRef);
    await vi.waitFor(() => expect(received()).toHaveLength(AT_ONCE), 30_000);
    held.release();
    const replies = await Promise.all(answers);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
    const firsts = replies.filter(({ json }) => !('duplicateOf' in json));
    expect(firsts).toHaveLength(1);
    const first = firsts[0]!.json['requestRef'];
    const duplicateOf = replies.map(({ json }) => json['duplicateOf']).filter((ref) => ref !== undefined);
    expect(new Set(duplicateOf)).toEqual(new Set([first]));
    await win(playerRef, externalRef, 70);
    const counts = await Promise.all(
      replies.map(async ({ json }) => (await winnings(String(json['requestRef']))) as { count: number }),
    );
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(1);
    expect(await winnings(String(first))).toEqual({ count: 1, totalMinor: 70 });
  }, 60_000);
});

describe('no duplicate is', () => {
  test('a grant that is sent again and answered with its own externalRef', async () => {
    const { playerRef, externalRef } = playerOfOneBatch();
    world.provider.next({ do: 'answer', status: 503 }, { path: GRANT, playerRef });
    const order = tool.order({ playerRef });
    expect((await tool.post(order)).status).toBe(502);
    const resent = await tool.act(order.requestRef, 'resend');
    expect(resent.json).toMatchObject({ state: 'GRANTED', externalRef });
    expect(resent.json).not.toHaveProperty('duplicateOf');
    expect((await tool.post(order)).json).not.toHaveProperty('duplicateOf');
    await win(playerRef, externalRef, 20);
    expect(await winnings(order.requestRef)).toEqual({ count: 1, totalMinor: 20 });
  });

  test('a grant of another player, of another operator’s player of that name, or of another provider', async () => {
    const { playerRef, externalRef } = playerOfOneBatch();
    const another = `another-${playerRef}`;
    named(externalRef, another);
    const orders: Record<string, unknown>[] = [
      { playerRef },
      { playerRef: another },
      { playerRef, operatorId: OTHER_OPERATOR },
      { playerRef, gameId: FOREIGN_GAME },
    ];
    const grants = [];
    for (const order of orders) grants.push(await tool.granted(order));
    for (const grant of grants) {
      expect(grant).toMatchObject({ externalRef });
      expect(grant).not.toHaveProperty('duplicateOf');
    }
    await win(another, externalRef, 60);
    const counted = [];
    for (const { requestRef } of grants) counted.push(await winnings(requestRef));
    expect(counted).toEqual([NOTHING, { count: 1, totalMinor: 60 }, NOTHING, NOTHING]);
  });
});

describe('a grant with the externalRef of one that is over is a grant of its own:', () => {
  test.each<[string, (requestRef: string, externalRef: string) => Promise<unknown>, string | undefined]>([
    ['known to be completed', (requestRef, externalRef) => report(requestRef, externalRef, true), undefined],
    ['cancelled', (requestRef) => tool.act(requestRef, 'cancel'), 'CANCELLED'],
  ])('if it is %s. A WIN counts in the newest grant at its time', async (_, end, flag) => {
    const { playerRef, externalRef } = playerOfOneBatch();
    world.provider.batches.set(externalRef, { requestRef: externalRef, remainingSpins: 5 });
    const first = await tool.granted({ playerRef });
    const duplicate = await tool.granted({ playerRef });
    expect(duplicate['duplicateOf']).toBe(first.requestRef);
    await win(playerRef, externalRef, 10);
    await end(first.requestRef, externalRef);
    const between = await win(playerRef, externalRef, 20);
    const second = await tool.granted({ playerRef });
    expect(second).not.toHaveProperty('duplicateOf');
    const after = await win(playerRef, externalRef, 40);
    const third = await tool.granted({ playerRef });
    expect(third['duplicateOf']).toBe(second.requestRef);
    expect(await winnings(first.requestRef)).toEqual({
      count: 2,
      totalMinor: 30,
      ...(flag !== undefined && { flagged: 1 }),
    });
    expect(await winnings(duplicate.requestRef)).toEqual(NOTHING);
    expect(await winnings(second.requestRef)).toEqual({ count: 1, totalMinor: 40 });
    expect(await winnings(third.requestRef)).toEqual(NOTHING);
    expect([await flagOf(between), await flagOf(after)]).toEqual([flag, undefined]);
  });

  test('and no cancel of those before it, or of their batch, voids its spins', async () => {
    const { playerRef, externalRef } = playerOfOneBatch();
    const first = await tool.granted({ playerRef });
    const { requestRef: _, playerRef: __, ...terms } = tool.order();
    const created = await world.admin('POST', '/v1/admin/free-spins/batches', {
      ...terms,
      playerRefs: [playerRef],
    });
    const path = `/v1/admin/free-spins/batches/${String(created.json['batchId'])}`;
    const batch = async () => (await world.admin('GET', path)).json;
    await expect.poll(async () => (await batch())['granted']).toBe(1);
    const [{ requestRef: duplicate }] = (await batch())['items'] as [{ requestRef: string }];
    await report(first.requestRef, externalRef, true);
    const newest = await tool.granted({ playerRef });
    for (const requestRef of [first.requestRef, duplicate]) {
      const { status, text } = await tool.act(requestRef, 'cancel');
      expect([status, text]).toEqual([409, expect.stringContaining(newest.requestRef)]);
    }
    expect((await world.admin('POST', `${path}/cancel`)).status).toBe(202);
    const target = `target=batch:${String(created.json['batchId'])}`;
    const { items: entries } = (await world.admin('GET', `/v1/admin/audit?${target}`)).json;
    // Without a grant to cancel, nothing was changed.
    expect(entries).not.toContainEqual(expect.objectContaining({ action: 'free-spins.batch-cancel' }));
    const due = 'SELECT state, cancel_due, last_cancel_error FROM free_spin_grants WHERE request_ref = $1';
    expect(await world.sql.run(due, [duplicate])).toEqual([
      { state: 'GRANTED', cancel_due: false, last_cancel_error: null },
    ]);
    const cancels = () =>
      world.provider.calls(CANCEL).filter(({ json }) => json['externalRef'] === externalRef);
    expect(cancels()).toEqual([]);
    world.provider.batches.set(externalRef, { requestRef: externalRef, remainingSpins: 5 });
    const ofNewest = await tool.granted({ playerRef });
    expect(ofNewest['duplicateOf']).toBe(newest.requestRef);
    for (const { requestRef } of [ofNewest, newest])
      expect((await tool.act(requestRef, 'cancel')).json).toMatchObject({ state: 'CANCELLED' });
    expect(cancels()).toHaveLength(2);
  });

  test('but not if the provider only reports that it is not completed', async () => {
    const { playerRef, externalRef } = playerOfOneBatch();
    const first = await tool.granted({ playerRef });
    await report(first.requestRef, externalRef, false);
    expect((await tool.granted({ playerRef }))['duplicateOf']).toBe(first.requestRef);
  });

  describe('and no cancel that was due before voids its spins', () => {
    /** A completed grant and its duplicate, each with a due cancel that an instance had claimed before it crashed. */
    async function withDueCancels() {
      const { playerRef, externalRef } = playerOfOneBatch();
      const first = await tool.granted({ playerRef });
      const duplicate = await tool.granted({ playerRef });
      await report(first.requestRef, externalRef, true);
      const newest = await tool.granted({ playerRef });
      const refs = [first.requestRef, duplicate.requestRef];
      await world.sql.run(
        `UPDATE free_spin_grants SET cancel_due = true, cancel_lease_until = clock_timestamp() - interval '1 minute',
                expires_at = clock_timestamp(), expiry = CASE request_ref WHEN $1 THEN 'BEGUN' END
          WHERE request_ref IN ($1, $2)`,
        refs,
      );
      return { newest, refs, externalRef };
    }

    test('because it ends', async () => {
      const { newest, refs, externalRef } = await withDueCancels();
      const due = `SELECT state, cancel_due AS due, expiry, last_cancel_error AS error FROM free_spin_grants
                    WHERE request_ref = ANY ($1)`;
      const ended = { state: 'GRANTED', due: false, expiry: null, error: null };
      await expect.poll(() => world.sql.run(due, [refs]), PATIENCE).toEqual([ended, ended]);
      const cancels = world.provider.calls(CANCEL);
      expect(cancels.filter(({ json }) => json['externalRef'] === externalRef)).toEqual([]);
      expect(await read(newest.requestRef)).toMatchObject({ state: 'GRANTED' });
    });

    test('because it cannot be claimed', async () => {
      await Promise.all([world, other].map(({ app }) => app.get(QueueRunner)['loop'].stop(0)));
      await withDueCancels();
      expect(await world.app.get(QueueStore).claimDueCancel(PROVIDER, '')).toBeUndefined();
    });
  });
});

test('the migration marks the stored WINs that a grant with the same externalRef no longer excuses', async () => {
  const { playerRef, externalRef } = playerOfOneBatch();
  world.provider.batches.set(externalRef, { requestRef: externalRef, remainingSpins: 5 });
  const first = await tool.granted({ playerRef });
  await tool.act(first.requestRef, 'cancel');
  const between = await win(playerRef, externalRef, 20);
  await tool.granted({ playerRef });
  await world.sql.run('DELETE FROM flaggable_wins WHERE transaction_id = $1', [between]);
  expect(await flagOf(between)).toBeUndefined();
  await world.sql.run(MARK_STORED_WINS);
  expect(await flagOf(between)).toBe('CANCELLED');
});

test('grants of an earlier version with one externalRef count each WIN once, and each can be cancelled', async () => {
  const { playerRef, externalRef } = playerOfOneBatch();
  const first = await tool.granted({ playerRef });
  await win(playerRef, externalRef, 10);
  const second = await tool.granted({ playerRef });
  await world.sql.run(
    'UPDATE free_spin_grants SET granted_at = NULL, duplicate_of = NULL WHERE player_ref = $1',
    [playerRef],
  );
  await win(playerRef, externalRef, 20);
  expect(await winnings(first.requestRef)).toEqual({ count: 1, totalMinor: 10 });
  expect(await winnings(second.requestRef)).toEqual({ count: 1, totalMinor: 20 });
  world.provider.batches.set(externalRef, { requestRef: externalRef, remainingSpins: 5 });
  expect((await tool.act(first.requestRef, 'cancel')).json).toMatchObject({ state: 'CANCELLED' });
});
