import { afterEach, expect, test } from 'vitest';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { StatusRunner } from '../../src/free-spins/batches/status.runner.js';
import { RevocationNotifier } from '../../src/session/revocation.notifier.js';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { CANCEL, GRANT, REVOKE, STATUS } from '../world/provider.js';
import { OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { suspendCallback, Tool, until } from './tool.js';

/*
 * A failure of the platform's own database is no silence of the provider: the work stays due, and nothing is given up.
 */

/** More than the unanswered calls in a row after which a provider counts as down. */
const FAILURES = 40;
const PLAYERS = 30;

const world = useWorld();
const tool = new Tool(world);

/** No callback can be recorded. Each attempt takes a number of the sequence, which no rollback takes back. */
async function refuseCallbacks(): Promise<void> {
  await world.sql.run(`
    CREATE SEQUENCE refused;
    CREATE FUNCTION refuse_callback() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM nextval('refused'); RAISE 'no callback can be recorded'; END $$;
    CREATE TRIGGER refuse_callback BEFORE INSERT ON callbacks FOR EACH ROW EXECUTE FUNCTION refuse_callback()`);
}

async function acceptCallbacks(): Promise<void> {
  await world.sql.run('DROP FUNCTION IF EXISTS refuse_callback CASCADE; DROP SEQUENCE IF EXISTS refused');
}
afterEach(acceptCallbacks);

/** The next callback on the route cannot be recorded, which is known only after `release`. All others can. */
const failLate = (route: string) => suspendCallback(world, route, `RAISE 'late';`);

/** Waits until no grant or cancel of the queue is under way. */
const untilIdle = () =>
  until('the queue is idle', () => world.app.get(QueueRunner)['loop']['options'].inFlight!().length === 0);

/** Waits until more calls have failed than a provider may leave unanswered, while `look` lets the service try again. */
async function untilManyFailed(look: () => Promise<void> | void): Promise<void> {
  await until('many calls have failed', async () => {
    await look();
    const [row] = await world.sql.run<{ failures: number }>(
      'SELECT last_value::int AS failures FROM refused',
    );
    return row!.failures >= FAILURES;
  });
}

/** Expires the lease of the session's notification. */
const endLeaseOf = (sessionId: string) =>
  world.sql.run('UPDATE session_revocations SET lease_until = clock_timestamp() WHERE session_id = $1', [
    sessionId,
  ]);

const look = () => world.app.get(QueueRunner).wake();

const batchOf = async (batchId: unknown) =>
  (await world.admin('GET', `${BATCHES}/${String(batchId)}`)).json as {
    granted: number;
    cancelled: number;
    pending: number;
    items: { requestRef: string; playerRef: string; lastCancelError?: string }[];
  };

async function granted(): Promise<string> {
  const { batchId } = (await world.admin('POST', BATCHES, batchOrder(PLAYERS))).json;
  await until('the batch is granted', async () => (await batchOf(batchId)).granted === PLAYERS);
  return String(batchId);
}

test('the grants of a batch wait, and are then sent once', async () => {
  await refuseCallbacks();
  const { batchId } = (await world.admin('POST', BATCHES, batchOrder(PLAYERS))).json;
  await untilManyFailed(look);
  expect(await batchOf(batchId)).toMatchObject({ pending: PLAYERS });
  await acceptCallbacks();
  look();
  await until('the batch is granted', async () => (await batchOf(batchId)).granted === PLAYERS);
  for (const { requestRef } of (await batchOf(batchId)).items)
    expect(tool.calls(GRANT, requestRef)).toHaveLength(1);
});

test('a grant that could not be sent is not sent after its batch has been cancelled', async () => {
  const late = await failLate(GRANT);
  const { batchId } = (await world.admin('POST', BATCHES, batchOrder(1))).json;
  await late.arrived();
  await world.admin('POST', `${BATCHES}/${String(batchId)}/cancel`);
  await late.release();
  await until('it is not pending', async () => (await batchOf(batchId)).pending === 0);
  await world.app.get(QueueRunner)['loop'].run();
  await untilIdle();
  const { items } = await batchOf(batchId);
  expect(items).toMatchObject([
    { state: 'FAILED', failure: { error: 'the call could not be recorded', outcomeUnknown: false } },
  ]);
  expect(tool.calls(GRANT, items[0]!.requestRef)).toEqual([]);
});

test("a call is made although the provider's secret cannot be decrypted any more", async () => {
  const suspended = await suspendCallback(world, GRANT);
  const order = tool.order();
  const granted = tool.post(order);
  await suspended.arrived();
  const [provider] = await world.sql.run<{ secret: string }>(
    'SELECT sealed_secret AS secret FROM tenants WHERE id = $1',
    [PROVIDER],
  );
  const store = async (secret: string) => {
    await world.sql.run('UPDATE tenants SET sealed_secret = $2 WHERE id = $1', [PROVIDER, secret]);
    await world.app.get(TenancyService).reload();
  };
  await store('x');
  expect(world.app.get(TenancyService).isUnreadable(PROVIDER)).toBe(true);
  await suspended.release();
  const { status, json } = await granted;
  await store(provider!.secret);
  expect([status, json]).toMatchObject([201, { state: 'GRANTED' }]);
  expect(tool.calls(GRANT, order.requestRef)).toHaveLength(1);
});

test('a grant that could not be sent leaves a later attempt alone', async () => {
  const late = await failLate(GRANT);
  const { batchId } = (await world.admin('POST', BATCHES, batchOrder(1))).json;
  await late.arrived();
  const { requestRef } = (await batchOf(batchId)).items[0]!;
  await tool.endLease(requestRef);
  await until('its lease has ended', async () => (await tool.state(requestRef)) === 'FAILED');
  const held = world.provider.next({ do: 'hold' }, { requestRef });
  const resent = tool.act(requestRef, 'resend');
  await held.arrived;
  await late.release();
  await untilIdle();
  expect(
    await world.sql.run(
      'SELECT attempt, lease_until IS NOT NULL AS claimed FROM free_spin_grants WHERE request_ref = $1',
      [requestRef],
    ),
  ).toEqual([{ attempt: 2, claimed: true }]);
  held.release();
  expect((await resent).json).toMatchObject({ state: 'GRANTED' });
});

test('the cancel of a single grant that could not be sent has failed, and a person can repeat it', async () => {
  const { requestRef } = await tool.granted();
  await refuseCallbacks();
  expect((await tool.act(requestRef, 'cancel')).status).toBe(502);
  expect((await tool.read(requestRef)).json).toMatchObject({
    state: 'GRANTED',
    lastCancelError: 'the call could not be recorded',
  });
  await acceptCallbacks();
  expect((await tool.act(requestRef, 'cancel')).json).toMatchObject({ state: 'CANCELLED' });
});

test('due cancels stay due, and are then sent once', async () => {
  const batchId = await granted();
  await refuseCallbacks();
  await world.admin('POST', `${BATCHES}/${batchId}/cancel`);
  await untilManyFailed(look);
  const { items, ...counts } = await batchOf(batchId);
  expect(counts).toMatchObject({ granted: PLAYERS });
  expect(items.filter(({ lastCancelError }) => lastCancelError !== undefined)).toEqual([]);
  await acceptCallbacks();
  look();
  await until('the batch is cancelled', async () => (await batchOf(batchId)).cancelled === PLAYERS);
  for (const { requestRef } of items) expect(tool.calls(CANCEL, requestRef)).toHaveLength(1);
});

test('questions about the status of a batch are asked later', async () => {
  const batchId = await granted();
  await refuseCallbacks();
  await world.admin('POST', `${BATCHES}/${batchId}/status`);
  /** Ends the lease of the run, which a failure interrupts. */
  const goOn = async () => {
    await world.sql.run('UPDATE free_spin_batches SET status_lease_until = NULL WHERE batch_id = $1', [
      batchId,
    ]);
    await world.app.get(StatusRunner)['loop'].run();
  };
  await untilManyFailed(goOn);
  await acceptCallbacks();
  await until('all are asked', async () => {
    await goOn();
    const { items } = await batchOf(batchId);
    return items.every(({ requestRef }) => tool.calls(STATUS, requestRef).length > 0);
  });
});

test('a queued grant waits while it cannot be read whether its game is open', async () => {
  const gameId = 'opened-unseen';
  await world.admin('PUT', `/v1/admin/games/${gameId}`, {
    providerId: PROVIDER,
    name: gameId,
    status: 'DISABLED',
  });
  const { requestRef } = tool.order();
  const claims = async () =>
    (
      await world.sql.run<{ claims: number }>(
        `SELECT count(*)::int AS claims FROM free_spin_grants WHERE request_ref = $1 AND state = 'PENDING'
            AND updated_at > created_at AND lease_until IS NULL`,
        [requestRef],
      )
    )[0]!.claims;
  // Without its trigger, the change does not fail, although the directory's version cannot be read.
  await world.sql.run(`
    ALTER TABLE tenancy_version RENAME TO hidden_version;
    BEGIN;
    SET LOCAL session_replication_role = replica;
    UPDATE games SET status = 'ACTIVE' WHERE game_id = '${gameId}';
    INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins, bet_amount_minor,
                                  currency, state, attempt, created_at, updated_at)
    VALUES ('${requestRef}', '${OPERATOR}', '${PROVIDER}', 'player', '${gameId}', 1, 0, 'EUR', 'PENDING', 0, now(), now());
    COMMIT`);
  look();
  await until('it waits again', async () => (await claims()) === 1);
  await world.sql.run(`
    ALTER TABLE hidden_version RENAME TO tenancy_version;
    UPDATE tenancy_version SET version = version + 1`);
  look();
  await until('it is sent', async () => (await tool.state(requestRef)) === 'GRANTED');
});

test('the notification of a revocation is sent later', async () => {
  const { sessionId } = await world.launch();
  await refuseCallbacks();
  expect((await world.revoke(sessionId)).json['notification']).toEqual({
    delivered: false,
    error: 'pending',
  });
  await acceptCallbacks();
  void world.app.get(RevocationNotifier)['loop'].run();
  const delivered = async () =>
    ((await world.revoke(sessionId)).json['notification'] as { delivered: boolean }).delivered;
  await until('it is delivered', delivered);
  const calls = world.provider.calls(REVOKE).filter(({ json }) => json['sessionId'] === sessionId);
  expect(calls).toHaveLength(1);
});

test('a notification that could not be sent leaves a later one alone', async () => {
  const { sessionId } = await world.launch();
  const late = await failLate(REVOKE);
  const first = world.revoke(sessionId);
  await late.arrived();
  await endLeaseOf(sessionId);
  const held = world.provider.next({ do: 'hold' }, { sessionId });
  const second = world.admin('POST', `/v1/admin/sessions/${sessionId}/notify`);
  await held.arrived;
  await late.release();
  expect((await first).json['notification']).toEqual({ delivered: false, error: 'pending' });
  const claims = 'SELECT sent FROM session_revocations WHERE session_id = $1';
  expect(await world.sql.run(claims, [sessionId])).toEqual([{ sent: true }]);
  held.release();
  expect((await second).json['notification']).toMatchObject({ delivered: true });
});
