import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { GrantStore } from '../../src/free-spins/grants/grant.store.js';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { QueueStore } from '../../src/free-spins/queue/queue.store.js';
import { BATCHES, batchOrder, limit } from '../approvals/desk.js';
import type { ReceivedCall } from '../world/counterpart.js';
import { CANCEL, GRANT } from '../world/provider.js';
import {
  CSV,
  FOREIGN_GAME,
  GAME,
  OPERATOR,
  OTHER_GAME,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  useWorld,
} from '../world/world.js';
import { CALLS_AT_ONCE, Tool, until } from './tool.js';

const world = useWorld();
const tool = new Tool(world);

type Counts = Record<'total' | 'granted' | 'failed' | 'pending' | 'cancelled', number>;

const counts = async (batchId: string): Promise<Counts> =>
  (await world.admin('GET', `${BATCHES}/${batchId}?items=false`)).json as Counts;
const settled = (batchId: string) =>
  until('nothing of the batch is pending', async () => (await counts(batchId)).pending === 0);
const cancel = (batchId: string, headers: Record<string, string> = {}) =>
  world.admin('POST', `${BATCHES}/${batchId}/cancel`, undefined, headers);
const resend = (batchId: string, body: object = {}) =>
  world.admin('POST', `${BATCHES}/${batchId}/resend`, body);

async function started(order: object): Promise<string> {
  const { status, json } = await world.admin('POST', BATCHES, order);
  expect(status).toBe(202);
  return String(json['batchId']);
}

/** How often the provider received a call of the route for each player. */
const callsTo = (path: string, players: readonly string[]) =>
  players.map(
    (player) => world.provider.calls(path).filter(({ json }) => json['playerRef'] === player).length,
  );

describe('a batch', () => {
  test('is listed with its counts, filtered by operator and game, newest first, as CSV too', async () => {
    const first = await started(batchOrder(2));
    const second = await started(batchOrder(1, { gameId: OTHER_GAME }));
    await settled(first);
    await settled(second);
    const list = async (query: string) =>
      ((await world.admin('GET', `${BATCHES}?${query}`)).json['items'] as { batchId: string }[]).map(
        ({ batchId }) => batchId,
      );
    expect((await list(`operatorId=${OPERATOR}`)).slice(0, 2)).toEqual([second, first]);
    expect(await list(`gameId=${OTHER_GAME}`)).toEqual([second]);
    expect(await list('limit=1')).toEqual([second]);
    expect(await list(`operatorId=${OTHER_OPERATOR}`)).toEqual([]);
    const { items } = (await world.admin('GET', `${BATCHES}?gameId=${GAME}`)).json;
    expect(items).toMatchObject([
      {
        batchId: first,
        spins: 5,
        stakeMinor: 200,
        total: 2,
        granted: 2,
        failed: 0,
        pending: 0,
        cancelled: 0,
      },
    ]);
    const { text } = await world.admin('GET', BATCHES, undefined, CSV);
    expect(text).toContain(',stakeMinor,stake,currency,total,granted,failed,pending,cancelled,createdAt');
    const grants = await world.admin('GET', `/v1/admin/free-spins?batchId=${first}`);
    expect(grants.json['items']).toHaveLength(2);
  });

  test('is shown without its items if they are not requested', async () => {
    const batchId = await started(batchOrder(2));
    await settled(batchId);
    const brief = (await world.admin('GET', `${BATCHES}/${batchId}?items=false`)).json;
    const { items, ...whole } = (await world.admin('GET', `${BATCHES}/${batchId}`)).json;
    expect([items, brief]).toEqual([[expect.anything(), expect.anything()], whole]);
  });

  test('shows its progress while it runs', async () => {
    const order = batchOrder(10);
    // Fewer than the calls at once, so that all others are sent.
    const waiting = order.playerRefs.slice(0, CALLS_AT_ONCE - 1);
    const where = ({ json }: ReceivedCall) => waiting.includes(String(json['playerRef']));
    const held = world.provider.always({ do: 'hold' }, { path: GRANT, where });
    const batchId = await started(order);
    const granted = 10 - waiting.length;
    await until('the others are granted', async () => (await counts(batchId)).granted === granted);
    expect(await counts(batchId)).toMatchObject({ total: 10, pending: waiting.length, granted });
    held.release();
    held.withdraw();
    await settled(batchId);
  });
});

describe('the cancel of a batch', () => {
  test('cancels GRANTED ones at the provider, each once, with the id of the request', async () => {
    const order = batchOrder(6);
    const reply = await world.admin('POST', BATCHES, order, { 'X-Request-Id': 'begin-1' });
    const batchId = String(reply.json['batchId']);
    await settled(batchId);
    const replies = await Promise.all([cancel(batchId, { 'X-Request-Id': 'undo-1' }), cancel(batchId)]);
    expect(replies.map(({ status }) => status)).toEqual([202, 202]);
    await until('all are cancelled', async () => (await counts(batchId)).cancelled === 6);
    expect(callsTo(CANCEL, order.playerRefs)).toEqual(order.playerRefs.map(() => 1));
    const ids = (path: string) =>
      new Set(
        world.provider
          .calls(path)
          .filter(({ json }) => order.playerRefs.includes(String(json['playerRef'])))
          .map(({ headers }) => headers['x-request-id']),
      );
    expect(ids(GRANT)).toEqual(new Set(['begin-1']));
    expect(ids(CANCEL).size).toBeLessThanOrEqual(2);
    const { items } = (await world.admin('GET', `${BATCHES}/${batchId}`)).json;
    expect(items).toMatchObject(order.playerRefs.map(() => ({ state: 'CANCELLED', remainingSpins: 0 })));
    expect((await cancel(batchId)).json).toMatchObject({ cancelled: 6 });
    expect(callsTo(CANCEL, order.playerRefs)).toEqual(order.playerRefs.map(() => 1));
  });

  test('while it is being sent stops sending, and cancels grants under way once they are granted', async () => {
    const order = batchOrder(12);
    const held = world.provider.always({ do: 'hold' }, { path: GRANT });
    const batchId = await started(order);
    await until(
      'calls are under way',
      () => callsTo(GRANT, order.playerRefs).filter((n) => n > 0).length === CALLS_AT_ONCE,
    );
    expect((await cancel(batchId)).json).toMatchObject({
      total: 12,
      pending: CALLS_AT_ONCE,
      cancelled: 12 - CALLS_AT_ONCE,
    });
    held.release();
    held.withdraw();
    await until('all are cancelled', async () => (await counts(batchId)).cancelled === 12);
    const once = Array<number>(CALLS_AT_ONCE).fill(1);
    expect(callsTo(GRANT, order.playerRefs).filter((n) => n > 0)).toEqual(once);
    expect(callsTo(CANCEL, order.playerRefs).filter((n) => n > 0)).toEqual(once);
  });

  test('counts each grant as CANCELLED, also those that were never sent', async () => {
    const counted = async () => {
      const line = new RegExp(`grants_total{.*provider="${OTHER_PROVIDER}",state="CANCELLED"} (\\d+)`);
      return Number(line.exec(await world.metrics())?.[1] ?? 0);
    };
    const order = batchOrder(12, { gameId: FOREIGN_GAME });
    const held = world.provider.always({ do: 'hold' }, { path: GRANT });
    const batchId = await started(order);
    await until(
      'calls are under way',
      () => callsTo(GRANT, order.playerRefs).filter((n) => n > 0).length === CALLS_AT_ONCE,
    );
    await cancel(batchId);
    expect(await counted()).toBe(12 - CALLS_AT_ONCE);
    held.release();
    held.withdraw();
    await until('all are counted', async () => (await counted()) === 12);
  });

  test('that the provider refuses leaves them GRANTED with the reason, and a second one tries again', async () => {
    const order = batchOrder(2);
    const batchId = await started(order);
    await settled(batchId);
    const refusing = world.provider.always({ do: 'answer', status: 500, body: {} }, { path: CANCEL });
    await cancel(batchId);
    await until('both were tried', () => callsTo(CANCEL, order.playerRefs).every((n) => n === 1));
    await until('both failed', async () => {
      const { items } = (await world.admin('GET', `${BATCHES}/${batchId}`)).json;
      return (items as Record<string, unknown>[]).every((item) => item['lastCancelError'] !== undefined);
    });
    expect(await counts(batchId)).toMatchObject({ granted: 2, cancelled: 0 });
    refusing.withdraw();
    await cancel(batchId);
    await until('both are cancelled', async () => (await counts(batchId)).cancelled === 2);
  });

  test('is sent even if a cancel of one grant, which was under way before, fails', async () => {
    const order = batchOrder(1);
    const batchId = await started(order);
    await settled(batchId);
    const { items } = (await world.admin('GET', `${BATCHES}/${batchId}`)).json;
    const { requestRef } = (items as { requestRef: string }[])[0]!;
    const held = world.provider.next(
      { do: 'hold', then: { do: 'answer', status: 503, body: {} } },
      { path: CANCEL, playerRef: order.playerRefs[0]! },
    );
    const single = tool.act(requestRef, 'cancel');
    await held.arrived;
    expect((await cancel(batchId)).status).toBe(202);
    held.release();
    expect((await single).status).toBe(502);
    await world.sql.run(
      'UPDATE free_spin_grants SET cancel_lease_until = clock_timestamp() WHERE request_ref = $1',
      [requestRef],
    );
    await until('it is cancelled', async () => (await counts(batchId)).cancelled === 1);
    expect(callsTo(CANCEL, order.playerRefs)).toEqual([2]);
  });

  test('also cancels a grant of unknown outcome, if a late answer shows that it was granted', async () => {
    const order = batchOrder(1);
    const held = world.provider.next({ do: 'hold' }, { path: GRANT, playerRef: order.playerRefs[0]! });
    const batchId = await started(order);
    await held.arrived;
    await world.sql.run('UPDATE free_spin_grants SET lease_until = clock_timestamp() WHERE batch_id = $1', [
      batchId,
    ]);
    await until('its outcome is unknown', async () => (await counts(batchId)).failed === 1);
    await cancel(batchId);
    held.release();
    await until('it is cancelled', async () => (await counts(batchId)).cancelled === 1);
  });

  test.each(['the grant', 'the batch'])(
    'leaves a grant of unknown outcome live if a person sends %s again afterwards',
    async (what) => {
      const order = batchOrder(1);
      world.provider.next({ do: 'drop' }, { path: GRANT, playerRef: order.playerRefs[0]! });
      const batchId = await started(order);
      await until('its outcome is unknown', async () => (await counts(batchId)).failed === 1);
      await cancel(batchId);
      const { items } = (await world.admin('GET', `${BATCHES}/${batchId}`)).json;
      const { requestRef } = (items as { requestRef: string }[])[0]!;
      if (what === 'the grant') await tool.act(requestRef, 'resend');
      else await resend(batchId, { includeUnknown: true });
      await settled(batchId);
      expect(await counts(batchId)).toMatchObject({ granted: 1, cancelled: 0 });
      const later = await started(batchOrder(1));
      await settled(later);
      await cancel(later);
      await until('a later cancel is sent', async () => (await counts(later)).cancelled === 1);
      expect(tool.calls(CANCEL, requestRef)).toEqual([]);
    },
  );

  test('counts a queued grant of unknown outcome once', async () => {
    const unanswered = batchOrder(1);
    world.provider.next({ do: 'drop' }, { path: GRANT, playerRef: unanswered.playerRefs[0]! });
    const batchId = await started(unanswered);
    await until('its outcome is unknown', async () => (await counts(batchId)).failed === 1);
    const busy = batchOrder(CALLS_AT_ONCE);
    const held = world.provider.always({ do: 'hold' }, { path: GRANT });
    const busyId = await started(busy);
    await until('all calls are under way', () => callsTo(GRANT, busy.playerRefs).every((n) => n === 1));

    await resend(batchId, { includeUnknown: true });
    await cancel(batchId);
    const { items } = (await world.admin('GET', `/v1/admin/audit?action=free-spins.batch-cancel&limit=1`))
      .json;
    expect(items).toMatchObject([{ target: `batch:${batchId}`, after: { grants: 1 } }]);
    held.release();
    held.withdraw();
    await settled(busyId);
    expect(callsTo(GRANT, unanswered.playerRefs)).toEqual([1]);
  });

  test('is in the audit log', async () => {
    const batchId = await started(batchOrder(1));
    await settled(batchId);
    await cancel(batchId);
    const { items } = (await world.admin('GET', `/v1/admin/audit?action=free-spins.batch-cancel&limit=1`))
      .json;
    expect(items).toMatchObject([{ target: `batch:${batchId}`, after: { grants: 1 } }]);
  });
});

describe('the resend of a batch', () => {
  const mixed = async () => {
    const order = batchOrder(3);
    const [refused, unanswered] = order.playerRefs;
    world.provider.next({ do: 'answer', status: 422, body: {} }, { path: GRANT, playerRef: refused! });
    world.provider.next({ do: 'drop' }, { path: GRANT, playerRef: unanswered! });
    const batchId = await started(order);
    await settled(batchId);
    expect(await counts(batchId)).toMatchObject({ granted: 1, failed: 2 });
    return { order, batchId };
  };

  test('resends grants that are known to have failed, and the others only if they are included', async () => {
    const { order, batchId } = await mixed();
    expect((await resend(batchId)).status).toBe(202);
    await until('one is left', async () => (await counts(batchId)).failed === 1);
    await settled(batchId);
    expect(callsTo(GRANT, order.playerRefs)).toEqual([2, 1, 1]);
    expect((await resend(batchId, { includeUnknown: true })).status).toBe(202);
    await until('all are granted', async () => (await counts(batchId)).granted === 3);
    expect(callsTo(GRANT, order.playerRefs)).toEqual([2, 2, 1]);
  });

  test('is a 503 once its game has moved to another provider: no grant is queued, and no provider called', async () => {
    const place = (providerId: string) =>
      world.admin('PUT', '/v1/admin/games/moving', { providerId, name: 'moving' });
    expect((await place(PROVIDER)).status).toBe(200);
    const order = batchOrder(1, { gameId: 'moving' });
    world.provider.next({ do: 'answer', status: 422 }, { path: GRANT, playerRef: order.playerRefs[0]! });
    const batchId = await started(order);
    await settled(batchId);
    expect((await place(OTHER_PROVIDER)).status).toBe(200);
    const refused = await resend(batchId);
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([503, 'GAME_NOT_CONFIGURED']);
    const { items } = (await world.admin('GET', `${BATCHES}/${batchId}`)).json;
    expect(items).toMatchObject([{ state: 'FAILED', failure: { error: 'the provider answered 422' } }]);
    expect(callsTo(GRANT, order.playerRefs)).toEqual([1]);
  });

  test('does not exceed the daily limit', async () => {
    const order = batchOrder(2, { currency: 'CHF' });
    const refusing = world.provider.always({ do: 'answer', status: 422, body: {} }, { path: GRANT });
    const batchId = await started(order);
    await until('both failed', async () => (await counts(batchId)).failed === 2);
    refusing.withdraw();
    await limit(world, { dailyMinor: 150 }, 'CHF');
    const { status, json } = await resend(batchId);
    expect([status, json['error']]).toEqual([
      409,
      'sending it again would exceed the daily limit of 1.50 CHF, of which 0.00 CHF is used',
    ]);
    const { items } = (await world.admin('GET', `${BATCHES}/${batchId}`)).json;
    const [{ requestRef }] = items as [{ requestRef: string }];
    expect((await tool.act(requestRef, 'resend')).status).toBe(200);
    const [, second] = items as { requestRef: string }[];
    expect((await tool.act(second!.requestRef, 'resend')).status).toBe(409);
  });
});

describe('an operator', () => {
  const signed = (operator: string, path: string, body?: object) =>
    body ? world.signed(operator, path, body) : world.signedGet(operator, path);

  test('has the same routes for its own batches, and none for those of another', async () => {
    const { operatorId: _, ...order } = batchOrder(2);
    const base = '/v1/operator/free-spins/batches';
    const batchId = String((await signed(OPERATOR, base, order)).json['batchId']);
    await settled(batchId);
    expect((await signed(OPERATOR, `${base}?gameId=${GAME}&limit=1`)).json).toMatchObject({
      items: [{ batchId, granted: 2 }],
    });
    expect((await signed(OTHER_OPERATOR, base)).json).toEqual({ items: [] });
    expect((await signed(OPERATOR, `${base}/${batchId}?items=false`)).json).not.toHaveProperty('items');
    for (const path of [`${base}/${batchId}/cancel`, `${base}/${batchId}/resend`]) {
      expect((await signed(OTHER_OPERATOR, path, {})).status).toBe(404);
      expect((await signed(OPERATOR, path, {})).status).toBe(202);
    }
    await until('both are cancelled', async () => (await counts(batchId)).cancelled === 2);
  });
});

describe('to void a grant', () => {
  const voidGrant = (requestRef: string) => world.admin('POST', `/v1/admin/free-spins/${requestRef}/void`);

  /** A grant whose callback was lost, so that its outcome is unknown. */
  const lost = async (): Promise<string> => {
    const order = tool.order();
    world.provider.next({ do: 'drop' }, { path: GRANT, requestRef: order.requestRef });
    expect((await tool.post(order)).status).toBe(502);
    return order.requestRef;
  };

  test('sends it once more to learn its batch, and cancels the batch', async () => {
    const requestRef = await lost();
    const voided = await voidGrant(requestRef);
    expect([voided.status, voided.json]).toMatchObject([200, { state: 'CANCELLED', remainingSpins: 0 }]);
    expect(tool.calls(GRANT, requestRef)).toHaveLength(2);
    expect(tool.calls(CANCEL, requestRef)).toHaveLength(1);
    expect((await voidGrant(requestRef)).json).toEqual(voided.json);
    expect(tool.calls(GRANT, requestRef)).toHaveLength(2);
    const { items } = (await world.admin('GET', `/v1/admin/audit?target=grant:${requestRef}&limit=1`)).json;
    expect(items).toMatchObject([{ action: 'free-spins.void' }]);
  });

  test('is 502 with the location of the record if the provider fails', async () => {
    const ungranted = await lost();
    world.provider.next({ do: 'drop' }, { path: GRANT, requestRef: ungranted });
    const first = await voidGrant(ungranted);
    expect([first.status, first.headers.get('location')]).toEqual([502, `/v1/admin/free-spins/${ungranted}`]);
    expect((await tool.read(ungranted)).json).toMatchObject({
      state: 'FAILED',
      failure: { outcomeUnknown: true },
    });
    const uncancelled = await lost();
    world.provider.next({ do: 'answer', status: 503, body: {} }, { path: CANCEL });
    const second = await voidGrant(uncancelled);
    expect([second.status, second.json['error']]).toEqual([502, 'the provider answered 503']);
    expect(await tool.state(uncancelled)).toBe('GRANTED');
  });

  test.each(['before', 'after'] as const)(
    'is finished by any instance if one dies %s the cancel arrives at the provider',
    async (when) => {
      const requestRef = await lost();
      const externalRef = `batch-of-${requestRef}`;
      // The instance that never gets an answer does nothing more, as if it were dead.
      const held = world.provider.next(
        { do: 'hold', booking: when === 'after' ? 'on-arrival' : 'on-release', then: { do: 'drop' } },
        { path: CANCEL, externalRef },
      );
      const answer = voidGrant(requestRef);
      await held.arrived;
      expect(await tool.state(requestRef)).toBe('GRANTED');
      await tool.endLease(requestRef);
      await until('it is cancelled', async () => (await tool.state(requestRef)) === 'CANCELLED');
      expect(tool.calls(GRANT, requestRef)).toHaveLength(2);
      expect(tool.calls(CANCEL, requestRef)).toHaveLength(2);
      held.release();
      expect((await answer).json).toMatchObject({ state: 'CANCELLED' });
    },
  );

  test('cancels nothing once a person has sent the grant again', async () => {
    const requestRef = await lost();
    const voiding = world.provider.next({ do: 'hold' }, { path: GRANT, requestRef });
    const answer = voidGrant(requestRef);
    await voiding.arrived;
    await tool.endLease(requestRef);
    await until('its lease has ended', async () => (await tool.state(requestRef)) === 'FAILED');
    const resending = world.provider.next({ do: 'hold' }, { path: GRANT, requestRef });
    const resent = tool.act(requestRef, 'resend');
    await resending.arrived;
    voiding.release();
    expect((await answer).status).toBe(409);
    resending.release();
    expect((await resent).json).toMatchObject({ state: 'GRANTED' });
    expect(tool.calls(CANCEL, requestRef)).toHaveLength(0);
  });

  test('is a 409 in any other state', async () => {
    const { requestRef } = await tool.granted();
    expect((await voidGrant(requestRef)).status).toBe(409);
    const refused = tool.order();
    world.provider.next({ do: 'answer', status: 422, body: {} }, { path: GRANT });
    await tool.post(refused);
    expect((await voidGrant(refused.requestRef)).status).toBe(409);
    expect((await voidGrant(randomUUID())).status).toBe(404);
  });
});

/** The backends that wait for a lock that one of the others holds. */
async function waitingFor(pids: number[]): Promise<number[]> {
  const waiting =
    'SELECT DISTINCT pid FROM pg_locks WHERE NOT granted AND pg_blocking_pids(pid) && $1::integer[]';
  return (await world.sql.run<{ pid: number }>(waiting, [pids])).map(({ pid }) => pid);
}

test('a cancel of a batch waits for a resend that began before, and then cancels what it has queued', async () => {
  const order = batchOrder(2);
  const dropping = world.provider.always({ do: 'drop' }, { path: GRANT, playerRef: order.playerRefs[0]! });
  world.provider.next({ do: 'answer', status: 422 }, { path: GRANT, playerRef: order.playerRefs[1]! });
  const batchId = await started(order);
  await until('both have failed', async () => (await counts(batchId)).failed === 2);
  dropping.withdraw();
  await world.app.get(QueueRunner)['loop'].stop(0);
  const others = new Client({ connectionString: world.databaseUrl });
  await others.connect();
  const pid = (await others.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;
  // The resend has changed its grants, and waits for the audit log.
  await others.query('BEGIN');
  await others.query('SELECT pg_advisory_xact_lock(7300003)');
  const resent = resend(batchId, { includeUnknown: true });
  await until('the resend waits', async () => (await waitingFor([pid])).length > 0);
  const cancelled = cancel(batchId);
  await until(
    'the cancel waits for the resend',
    async () => (await waitingFor(await waitingFor([pid]))).length > 0,
  );
  await others.query('COMMIT');
  await others.end();
  expect([(await resent).status, (await cancelled).status]).toEqual([202, 202]);
  const states =
    'SELECT state, cancel_due AS due FROM free_spin_grants WHERE batch_id = $1 ORDER BY grant_no';
  expect(await world.sql.run(states, [batchId])).toEqual([
    { state: 'FAILED', due: true },
    { state: 'CANCELLED', due: false },
  ]);
  expect(callsTo(GRANT, order.playerRefs)).toEqual([1, 1]);
});

test('a grant whose call cannot be made while its batch is being cancelled is not sent', async () => {
  await world.app.get(QueueRunner)['loop'].stop(0);
  const batchId = await started(batchOrder(2));
  const others = new Client({ connectionString: world.databaseUrl });
  await others.connect();
  const pid = (await others.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;
  await others.query('BEGIN');
  await others.query(
    'SELECT FROM free_spin_grants WHERE batch_id = $1 ORDER BY grant_no LIMIT 1 FOR NO KEY UPDATE',
    [batchId],
  );
  const claimed = await world.app.get(QueueStore).claimUnsent(PROVIDER, '');
  expect(claimed).toMatchObject({ batchId, attempt: 1 });
  const cancelled = cancel(batchId);
  await until('the cancel waits for the first grant', async () => (await waitingFor([pid])).length > 0);
  await world.app.get(GrantStore).unclaim(claimed!, 'the call could not be made');
  await others.query('COMMIT');
  await others.end();
  expect((await cancelled).json).toMatchObject({ cancelled: 2, pending: 0 });
  expect(
    await world.sql.run('SELECT cancel_due AS due FROM free_spin_grants WHERE batch_id = $1', [batchId]),
  ).toEqual([{ due: false }, { due: false }]);
  const { items } = (await world.admin('GET', `/v1/admin/audit?action=free-spins.batch-cancel&limit=1`)).json;
  expect(items).toMatchObject([{ target: `batch:${batchId}`, after: { grants: 2 } }]);
});
