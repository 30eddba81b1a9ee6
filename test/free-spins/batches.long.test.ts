import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { GRANT } from '../world/provider.js';
import {
  GAME,
  OPERATOR,
  OTHER_OPERATOR,
  PROVIDER,
  type Reply,
  startApplication,
  startWorld,
  useWorld,
} from '../world/world.js';
import { CALLS_AT_ONCE, HELD_CALLBACK_TIMEOUT_MS, Tool, until } from './tool.js';

const BATCHES = '/v1/admin/free-spins/batches';

const environment = { CALLBACK_TIMEOUT_MS: String(HELD_CALLBACK_TIMEOUT_MS) };
const world = useWorld(environment);
const tool = new Tool(world);

const players = (count: number) =>
  Array.from({ length: count }, (_, index) => `player-${index}-${randomUUID()}`);

function order(playerRefs: readonly string[], fields: Record<string, unknown> = {}) {
  const spins = { gameId: GAME, spins: 5, betAmountMinor: 0, currency: 'EUR' };
  return { operatorId: OPERATOR, ...spins, playerRefs, batchRef: `batch-${randomUUID()}`, ...fields };
}

interface Progress {
  total: number;
  granted: number;
  failed: number;
  pending: number;
  items: (Record<string, unknown> & { playerRef: string; state: string })[];
}

const progress = async (batchId: unknown, of = world) =>
  (await of.admin('GET', `${BATCHES}/${String(batchId)}`)).json as unknown as Progress;

const finished = (batchId: unknown, of = world) =>
  until('the batch is finished', async () => {
    const pending = `SELECT FROM free_spin_grants WHERE batch_id = $1 AND state = 'PENDING' LIMIT 1`;
    return (await of.sql.run(pending, [batchId])).length === 0;
  });

/** How often the provider received a grant for each of the players. */
const callsTo = (playerRefs: readonly string[], of = world) => {
  const counts = new Map(playerRefs.map((playerRef) => [playerRef, 0]));
  for (const { json } of of.provider.calls(GRANT)) {
    const playerRef = String(json['playerRef']);
    if (counts.has(playerRef)) counts.set(playerRef, (counts.get(playerRef) ?? 0) + 1);
  }
  return [...counts.values()];
};

const once = (playerRefs: readonly string[]) => playerRefs.map(() => 1);

describe('a batch', () => {
  test('is 202, sent a few players at a time, visible while it runs, and sent to each player once', async () => {
    const playerRefs = players(60);
    const held = world.provider.always({ do: 'hold' }, { path: GRANT });
    const reply = await world.admin('POST', BATCHES, order(playerRefs));
    expect([reply.status, Object.keys(reply.json)]).toEqual([202, ['batchId', 'stakeMinor']]);
    const { batchId } = reply.json;
    await until('the first are called', () => callsTo(playerRefs).filter(Boolean).length === CALLS_AT_ONCE);
    expect(await progress(batchId)).toMatchObject({ total: 60, granted: 0, failed: 0, pending: 60 });
    expect(callsTo(playerRefs).filter(Boolean)).toHaveLength(CALLS_AT_ONCE);
    held.withdraw();
    held.release();
    await finished(batchId);
    const { items, ...counts } = await progress(batchId);
    expect(counts).toMatchObject({ total: 60, granted: 60, failed: 0, pending: 0, cancelled: 0 });
    expect(items.map(({ playerRef }) => playerRef)).toEqual(playerRefs);
    expect(items.every((item) => item.state === 'GRANTED' && item['batchId'] === batchId)).toBe(true);
    expect(callsTo(playerRefs)).toEqual(once(playerRefs));
  });

  test('that is repeated is the same one; another body or operator is a 409; many at once are one', async () => {
    const body = order(players(3));
    const replies = await Promise.all(Array.from({ length: 10 }, () => world.admin('POST', BATCHES, body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array<number>(9).fill(200), 202]);
    expect(new Set(replies.map(({ json }) => json['batchId'])).size).toBe(1);
    for (const change of [{ spins: 6 }, { playerRefs: players(3) }, { operatorId: OTHER_OPERATOR }]) {
      expect((await world.admin('POST', BATCHES, { ...body, ...change })).status).toBe(409);
    }
    await finished(replies[0]?.json['batchId']);
    expect(callsTo(body.playerRefs)).toEqual([1, 1, 1]);
  });

  test('of a thousand players with long names is accepted, a larger body is a 413', async () => {
    const long = Array.from({ length: 1000 }, (_, index) => `${index}-${randomUUID()}`.padEnd(128, 'x'));
    const down = world.provider.always({ do: 'drop' }, { path: GRANT });
    const reply = await world.admin('POST', BATCHES, order(long));
    expect(reply.status).toBe(202);
    await finished(reply.json['batchId']);
    down.withdraw();
    const { total, items } = await progress(reply.json['batchId']);
    expect([total, items.map(({ playerRef }) => playerRef)]).toEqual([1000, long]);
    expect((await world.admin('POST', BATCHES, order(['x'.repeat(257 * 1024)]))).status).toBe(413);
  });

  test.each([
    [{ playerRefs: [] }],
    [{ playerRefs: ['twice', 'twice'] }],
    [{ playerRefs: ['two words'] }],
    [{ playerRefs: 'one' }],
    [{ playerRefs: [7] }],
    [{ playerRefs: Array.from({ length: 1001 }, (_, index) => `player-${index}`) }],
    [{ gameId: 'no-such-game' }],
    [{ batchRef: '' }],
    [{ spins: 0 }],
  ])('with %o is a 400', async (change) => {
    expect((await world.admin('POST', BATCHES, order(['a-player'], change))).status).toBe(400);
  });

  test('continues after players that the provider refuses', async () => {
    const playerRefs = players(20);
    const refused = playerRefs.filter((_, index) => index % 2 === 0);
    const scripted = world.provider.always(
      { do: 'answer', status: 422 },
      { path: GRANT, where: ({ json }) => refused.includes(String(json['playerRef'])) },
    );
    const { batchId } = (await world.admin('POST', BATCHES, order(playerRefs))).json;
    await finished(batchId);
    scripted.withdraw();
    expect(await progress(batchId)).toMatchObject({ total: 20, granted: 10, failed: 10, pending: 0 });
    expect(callsTo(playerRefs)).toEqual(once(playerRefs));
  });

  test.each(['drop', 'hang'] as const)(
    'fails fast and with the right cause if the provider is down (%s)',
    async (how) => {
      const playerRefs = players(500);
      const down = world.provider.always({ do: how }, { path: GRANT });
      const { batchId } = (await world.admin('POST', BATCHES, order(playerRefs))).json;
      await finished(batchId);
      down.withdraw();
      const { items, ...counts } = await progress(batchId);
      expect(counts).toMatchObject({ total: 500, granted: 0, failed: 500, pending: 0, cancelled: 0 });
      const sent = callsTo(playerRefs).filter(Boolean).length;
      expect(sent).toBeLessThan(4 * CALLS_AT_ONCE);
      const unknown = items.filter((item) => (item['failure'] as { outcomeUnknown: boolean }).outcomeUnknown);
      expect(unknown).toHaveLength(sent);
      const [unsent] = items.slice(-1);
      expect(unsent?.['failure']).toEqual({
        error: 'not sent: the provider gave no answer to 16 calls in a row',
        outcomeUnknown: false,
      });
      const resent = await tool.act(String(unsent?.['requestRef']), 'resend');
      expect(resent.json['state']).toBe('GRANTED');
    },
  );

  test('of an operator is found only by that operator, and needs a batchRef', async () => {
    const path = '/v1/operator/free-spins/batches';
    const { operatorId: _, ...body } = order(players(2));
    const reply = await world.signed(OPERATOR, path, body);
    expect(reply.status).toBe(202);
    const { batchId } = reply.json;
    await finished(batchId);
    const seen = await world.signedGet(OPERATOR, `${path}/${String(batchId)}`);
    expect(seen.json).toMatchObject({ total: 2, granted: 2 });
    expect((await world.signedGet(OTHER_OPERATOR, `${path}/${String(batchId)}`)).status).toBe(404);
    expect((await world.signedGet(OPERATOR, `${path}/no-uuid`)).status).toBe(404);
    expect((await world.signed(OTHER_OPERATOR, path, body)).status).toBe(409);
    const { batchRef: __, ...without } = body;
    expect((await world.signed(OPERATOR, path, without)).status).toBe(400);
    expect((await world.admin('GET', `${BATCHES}/${randomUUID()}`)).status).toBe(404);
  });

  test('does not hide a grant named "batches" from lists and actions, although its path is the list of batches', async () => {
    const { playerRef } = await tool.granted({ requestRef: 'batches' });
    expect((await tool.read('batches')).json['items']).not.toHaveLength(0);
    const listed = await world.admin('GET', `/v1/admin/free-spins?playerRef=${String(playerRef)}`);
    expect(listed.json['items']).toMatchObject([{ requestRef: 'batches' }]);
    expect((await tool.act('batches', 'status')).status).toBe(200);
  });
});

describe('with several instances', () => {
  const open: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  test('two share a batch, and each player gets one callback', async () => {
    const { app } = await startApplication({ ...environment, DATABASE_URL: world.databaseUrl }, world.clock);
    open.push(() => app.close());
    const playerRefs = players(200);
    const batches = await Promise.all(
      [playerRefs.slice(0, 100), playerRefs.slice(100)].map((half) =>
        world.admin('POST', BATCHES, order(half)),
      ),
    );
    const another = await startApplication({ ...environment, DATABASE_URL: world.databaseUrl }, world.clock);
    open.push(() => another.app.close());
    for (const { json } of batches) await finished(json['batchId']);
    expect(callsTo(playerRefs)).toEqual(once(playerRefs));
  });

  test('a new one continues the batch of a killed one, without resending its callbacks', async () => {
    // Its calls in flight never end, so it does nothing more, as if it were dead.
    const doomed = await startWorld({ CALLBACK_TIMEOUT_MS: '600000' });
    open.push(() => doomed.stop());
    const playerRefs = players(30);
    const held = doomed.provider.always({ do: 'hold', booking: 'on-arrival' }, { path: GRANT });
    const { batchId } = (await doomed.admin('POST', BATCHES, order(playerRefs))).json;
    await until(
      'it has calls in flight',
      () => callsTo(playerRefs, doomed).filter(Boolean).length === CALLS_AT_ONCE,
    );
    held.withdraw();
    const { app, url } = await startApplication(
      { ...environment, DATABASE_URL: doomed.databaseUrl },
      doomed.clock,
    );
    open.push(() => app.close());
    await until('the rest is sent', async () => (await progress(batchId, doomed)).pending === CALLS_AT_ONCE);
    await doomed.sql.run(
      `UPDATE free_spin_grants SET lease_until = clock_timestamp() WHERE state = 'PENDING'`,
    );
    await until(
      'the sweep has failed the abandoned grants',
      async () => (await progress(batchId, doomed)).pending === 0,
    );
    const { items, ...counts } = await progress(batchId, doomed);
    expect(counts).toMatchObject({
      total: 30,
      granted: 30 - CALLS_AT_ONCE,
      failed: CALLS_AT_ONCE,
      pending: 0,
      cancelled: 0,
    });
    const failures = items.filter(({ state }) => state === 'FAILED').map((item) => item['failure']);
    expect(failures).toMatchObject(failures.map(() => ({ outcomeUnknown: true })));
    expect(callsTo(playerRefs, doomed)).toEqual(once(playerRefs));
    const reply: Response = await fetch(`${url}/health/live`);
    expect(reply.status).toBe(200);
    held.release();
  });

  test('one that stops claims no more grants and records those in flight', async () => {
    const stopping = await startWorld(environment);
    const playerRefs = players(30);
    const held = stopping.provider.always({ do: 'hold' }, { path: GRANT });
    const batch: Reply = await stopping.admin('POST', BATCHES, order(playerRefs));
    expect(batch.status).toBe(202);
    await until(
      'it has calls in flight',
      () => callsTo(playerRefs, stopping).filter(Boolean).length === CALLS_AT_ONCE,
    );
    const closed = stopping.app.close();
    held.release();
    await closed;
    const states = await stopping.sql.run<{ state: string; count: number; sent: boolean }>(
      `SELECT state, lease_until IS NOT NULL AS sent, count(*)::int AS count FROM free_spin_grants GROUP BY 1, 2`,
    );
    const count = (state: string) => states.find((row) => row.state === state)?.count ?? 0;
    expect(states.some(({ sent }) => sent)).toBe(false);
    expect(count('GRANTED')).toBe(callsTo(playerRefs, stopping).filter(Boolean).length);
    expect(count('GRANTED') + count('PENDING')).toBe(30);
    expect(count('PENDING')).toBeGreaterThan(0);
    await stopping.stop();
  });
});

test('a game that is disabled meanwhile fails the rest of its batch, unsent', async () => {
  const gameId = 'closing-soon';
  const game = (status: string) =>
    world.admin('PUT', `/v1/admin/games/${gameId}`, { providerId: PROVIDER, name: gameId, status });
  await game('ACTIVE');
  const playerRefs = players(30);
  const held = world.provider.always({ do: 'hold' }, { path: GRANT });
  const { batchId } = (await world.admin('POST', BATCHES, order(playerRefs, { gameId }))).json;
  await until('the first are called', () => callsTo(playerRefs).filter(Boolean).length === CALLS_AT_ONCE);
  await game('DISABLED');
  held.withdraw();
  held.release();
  await finished(batchId);
  const { granted, failed } = await progress(batchId);
  expect([granted, failed]).toEqual([CALLS_AT_ONCE, 30 - CALLS_AT_ONCE]);
});

test('grants are sent in a game that was opened since the instance last read the directory', async () => {
  const gameId = 'opened-elsewhere';
  const game = { providerId: PROVIDER, name: gameId, status: 'DISABLED' };
  await world.admin('PUT', `/v1/admin/games/${gameId}`, game);
  const { requestRef } = tool.order();
  const directory = new pg.Client({ connectionString: world.databaseUrl });
  await directory.connect();
  await directory.query('BEGIN; LOCK TABLE tenancy_version IN ACCESS EXCLUSIVE MODE');
  // Without its trigger, the change does not wait for the lock.
  await world.sql.run(`
    BEGIN;
    SET LOCAL session_replication_role = replica;
    UPDATE games SET status = 'ACTIVE' WHERE game_id = '${gameId}';
    INSERT INTO free_spin_grants (request_ref, operator_id, provider_id, player_ref, game_id, spins, bet_amount_minor,
                                  currency, state, attempt)
    VALUES ('${requestRef}', '${OPERATOR}', '${PROVIDER}', 'player', '${gameId}', 1, 0, 'EUR', 'PENDING', 0);
    COMMIT`);
  world.app.get(QueueRunner).wake();
  const claimed = `SELECT FROM free_spin_grants WHERE request_ref = $1 AND attempt = 1`;
  await until('it is claimed', async () => (await world.sql.run(claimed, [requestRef])).length === 1);
  await directory.query('UPDATE tenancy_version SET version = version + 1; COMMIT');
  await directory.end();
  await until('it is sent', async () => (await tool.state(requestRef)) === 'GRANTED');
});
