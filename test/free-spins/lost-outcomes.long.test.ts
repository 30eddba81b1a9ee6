import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/database/database.js';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { BatchStore } from '../../src/free-spins/batches/batch.store.js';
import { GrantStore } from '../../src/free-spins/grants/grant.store.js';
import { RevocationNotifier } from '../../src/session/revocation.notifier.js';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { DatabaseProxy, type Moment } from '../world/database-proxy.js';
import { CANCEL, GRANT, REVOKE } from '../world/provider.js';
import { GAME, OPERATOR, PROVIDER, useWorld, type World } from '../world/world.js';
import { Tool, until } from './tool.js';

/*
 * A connection to the database that is lost after a callback loses neither its outcome, nor the work whose call could not
 * be made.
 */

const MOMENTS: readonly Moment[] = ['before', 'after'];
const NOT_BOOKED = { do: 'answer', status: 503 } as const;
/** The statement that records a callback before it is sent. */
const BEGIN = 'INSERT INTO "callbacks"';

const world = useWorld();
const tool = new Tool(world);
let proxy: DatabaseProxy;
/** An instance that reaches the database through the proxy, and is the only one that sends queued work. */
let instance: World;
let sender: Tool;
beforeAll(async () => {
  proxy = await DatabaseProxy.start(world.databaseUrl);
  instance = await world.another(world.clock, { DATABASE_URL: proxy.url });
  sender = new Tool(instance);
  await world.app.get(QueueRunner)['loop'].stop(1_000);
  await world.app.get(RevocationNotifier)['loop'].stop(1_000);
});
afterAll(async () => {
  await instance.app.close();
  await proxy.stop();
});

/** Runs the work while the statements each lose one connection. */
async function losing<T>(
  cuts: readonly [words: string, moment: Moment][],
  work: () => Promise<T>,
): Promise<T> {
  const made = cuts.map(([words, moment]) => proxy.cut(words, moment, 1));
  const result = await work();
  await until('each has lost its connection', () => made.every(({ count }) => count === 1));
  return result;
}

const itemOf = async (batchId: unknown) =>
  (
    (await world.admin('GET', `${BATCHES}/${String(batchId)}`)).json['items'] as {
      requestRef: string;
      state: string;
    }[]
  )[0]!;

const notify = (sessionId: string) =>
  instance.admin('POST', `/v1/admin/sessions/${sessionId}/revoke`, { reason: 'OTHER' });

async function notificationOf(sessionId: string): Promise<object & { delivered?: boolean | null }> {
  const columns = 'SELECT sent, delivered, status FROM session_revocations WHERE session_id = $1';
  return (await world.sql.run<{ delivered: boolean | null }>(columns, [sessionId]))[0]!;
}

describe.each(MOMENTS)('a connection lost %s the statement does not lose', (moment) => {
  test.each(['grant_lock_external_ref', 'grant_granted'])('a granted grant (%s)', async (words) => {
    const order = sender.order();
    const reply = await losing([[words, moment]], () => sender.post(order));
    expect([reply.status, reply.json['state']]).toEqual([201, 'GRANTED']);
    expect(tool.calls(GRANT, order.requestRef)).toHaveLength(1);
  });

  test('a grant that failed', async () => {
    const order = sender.order();
    world.provider.next(NOT_BOOKED, { requestRef: order.requestRef });
    await losing([['grant_failed', moment]], () => sender.post(order));
    expect((await tool.read(order.requestRef)).json).toMatchObject({
      state: 'FAILED',
      failure: { status: 503, outcomeUnknown: false },
    });
  });

  test('a cancel', async () => {
    const { requestRef } = await tool.granted();
    const reply = await losing([['grant_cancelled', moment]], () => sender.act(requestRef, 'cancel'));
    expect([reply.status, reply.json['state']]).toEqual([200, 'CANCELLED']);
    expect(tool.calls(CANCEL, requestRef)).toHaveLength(1);
  });

  test('a cancel that failed', async () => {
    const { requestRef } = await tool.granted();
    world.provider.next(NOT_BOOKED, { path: CANCEL, externalRef: `batch-of-${requestRef}` });
    await losing([['grant_cancel_failed', moment]], () => sender.act(requestRef, 'cancel'));
    expect((await tool.read(requestRef)).json).toMatchObject({
      state: 'GRANTED',
      lastCancelError: 'the provider answered 503',
    });
  });

  test('the completion of the record of a callback', async () => {
    const order = sender.order();
    await losing([['callback_complete', moment]], () => sender.post(order));
    const { items } = (await world.admin('GET', `/v1/admin/callbacks?reference=${order.requestRef}`)).json;
    expect(items).toMatchObject([{ status: 200, completedAt: expect.any(String) as string }]);
  });

  test('the notification of a revocation', async () => {
    const { sessionId } = await world.launch();
    await losing([['revocation_complete', moment]], () => notify(sessionId));
    expect(await notificationOf(sessionId)).toEqual({ sent: true, delivered: true, status: 200 });
  });

  test('a queued grant whose call could not be made', async () => {
    const { batchId } = await losing(
      [
        [BEGIN, 'before'],
        ['grant_unclaim', moment],
      ],
      async () => (await instance.admin('POST', BATCHES, batchOrder(1))).json,
    );
    instance.app.get(QueueRunner).wake();
    await until('it is granted', async () => (await itemOf(batchId)).state === 'GRANTED');
    expect(tool.calls(GRANT, (await itemOf(batchId)).requestRef)).toHaveLength(1);
  });

  test('a due cancel whose call could not be made', async () => {
    const { batchId } = (await instance.admin('POST', BATCHES, batchOrder(1))).json;
    await until('it is granted', async () => (await itemOf(batchId)).state === 'GRANTED');
    await losing(
      [
        [BEGIN, 'before'],
        ['grant_unclaim_cancel', moment],
      ],
      () => instance.admin('POST', `${BATCHES}/${String(batchId)}/cancel`),
    );
    instance.app.get(QueueRunner).wake();
    await until('it is cancelled', async () => (await itemOf(batchId)).state === 'CANCELLED');
    expect(tool.calls(CANCEL, (await itemOf(batchId)).requestRef)).toHaveLength(1);
  });

  test('the notification of a revocation whose call could not be made', async () => {
    const { sessionId } = await world.launch();
    await losing(
      [
        [BEGIN, 'before'],
        ['revocation_unclaim', moment],
      ],
      () => notify(sessionId),
    );
    expect(await notificationOf(sessionId)).toMatchObject({ sent: false, delivered: null });
    void instance.app.get(RevocationNotifier)['loop'].run();
    await until('it is delivered', async () => (await notificationOf(sessionId)).delivered === true);
    const calls = world.provider.calls(REVOKE).filter(({ json }) => json['sessionId'] === sessionId);
    expect(calls).toHaveLength(1);
  });
});

describe('a write that is repeated after its answer was lost', () => {
  test('does not end a cancel that became due after the failure', async () => {
    const grants = world.app.get(GrantStore);
    const { batchId } = (await instance.admin('POST', BATCHES, batchOrder(1))).json;
    await until('it is granted', async () => (await itemOf(batchId)).state === 'GRANTED');
    const { requestRef } = await itemOf(batchId);
    const { query } = world.app.get(Database);
    const cancel = (await grants.claimCancel(query, requestRef))!;
    await grants.recordCancelFailed(cancel, 'it failed');
    await world.app.get(BatchStore).cancelBatch(query, String(batchId), 'not sent');
    await grants.recordCancelFailed(cancel, 'it failed');
    instance.app.get(QueueRunner).wake();
    await until('it is cancelled', async () => (await itemOf(batchId)).state === 'CANCELLED');
  });

  test('does not end a later claim of the grant', async () => {
    await instance.app.get(QueueRunner)['loop'].stop(1_000);
    const grants = world.app.get(GrantStore);
    const { requestRef } = tool.order();
    const terms = {
      operatorId: OPERATOR,
      providerId: PROVIDER,
      playerRef: 'ann',
      gameId: GAME,
      currency: 'EUR',
    };
    const spins = { spins: 1, betAmountMinor: 10, expiresAt: null };
    await grants.recordUnsent(world.app.get(Database).query, { requestRef, ...terms, ...spins });
    const first = (await grants.claim(requestRef))!;
    await grants.unclaim(first, 'not sent');
    const second = (await grants.claim(requestRef))!;
    await grants.unclaim(first, 'not sent');
    expect((await grants.stored(requestRef)).state).toBe('PENDING');
    expect(await grants.claim(requestRef)).toBeUndefined();
    await grants.unclaim(second, 'not sent');
    expect(await grants.claim(requestRef)).toBeDefined();
  });
});
