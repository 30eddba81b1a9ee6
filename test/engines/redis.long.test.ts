import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RedisConnection } from '../../src/runtime/redis.js';
import { until } from '../world/patience.js';
import { PROVIDER, startWorld, type World } from '../world/world.js';
import { HAS_REDIS, MASTER, RedisServer } from './redis-server.js';

/** A client's pause before it sends a request again, in milliseconds. */
const BACK_OFF_MS = 20;
/** A Sentinel that was not scheduled for two seconds distrusts its clock, and does nothing for 30 s. */
const PATIENT = { timeout: 180_000 };
const VERIFY = '/v1/wallet/session/verify';

describe.skipIf(!HAS_REDIS)('Redis', () => {
  const servers: RedisServer[] = [];
  const lines: string[] = [];
  let world: World;
  beforeEach(async () => void servers.push(await RedisServer.create()));
  afterEach(async () => {
    await world.stop();
    for (const server of servers.splice(0)) await server.remove();
    lines.length = 0;
  });

  const start = async (environment: Record<string, string>) => {
    world = await startWorld(
      { LOG_LEVEL: 'info', ...environment },
      { write: (line: string) => void lines.push(line) },
    );
  };
  const said = (words: string) => lines.filter((line) => line.includes(words)).length;
  const readiness = async () => (await world.request('/health/ready')).status;

  /**
   * Sends a BET until it is answered 200.
   * @returns the refusals before, and how long that took in milliseconds
   */
  async function untilApproved(body: object): Promise<{ refusals: Set<string>; afterMs: number }> {
    const refusals = new Set<string>();
    const began = performance.now();
    for (;;) {
      const reply = await world.submit(body);
      if (reply.status === 200) return { refusals, afterMs: Math.round(performance.now() - began) };
      await pause(BACK_OFF_MS);
      refusals.add(
        `${reply.status} ${reply.headers.get('x-error-code')} ${reply.headers.get('x-next-action')}`,
      );
    }
  }
  const CLOSED = new Set(['500 REPLAY_PROTECTION_UNAVAILABLE retry-same-request']);

  test(
    'that is killed and started again: signed routes fail closed meanwhile and recover automatically',
    PATIENT,
    async () => {
      const [redis] = servers as [RedisServer];
      await start({ REDIS_URL: `redis://127.0.0.1:${redis.port}` });
      const session = await world.launch();
      const before = world.transaction(session, 'BET');
      expect((await world.submit(before)).status).toBe(200);
      await redis.kill();
      const during = world.transaction(session, 'BET');
      const refused = await Promise.all([during, before, during].map((body) => world.submit(body)));
      for (const { status, headers } of refused)
        expect([status, headers.get('x-error-code')]).toEqual([500, 'REPLAY_PROTECTION_UNAVAILABLE']);
      expect(world.wallet.calls(during.transactionId)).toEqual([]);
      await expect.poll(readiness).toBe(503);
      await redis.start();
      const { refusals, afterMs } = await untilApproved(during);
      console.log(`Redis killed and back: recovered after ${afterMs} ms`);
      expect([...refusals].filter((refusal) => !CLOSED.has(refusal))).toEqual([]);
      await expect.poll(readiness).toBe(200);
      expect((await world.submit(before)).headers.get('idempotency-replayed')).toBe('true');
      expect(world.wallet.booked(during.transactionId)?.movements).toBe(1);
      expect([said('Redis unavailable'), said('Redis is available again')]).toEqual([1, 1]);
    },
  );

  test.each([
    ['is full', 'OOM', { parameter: 'maxmemory', broken: '1', repaired: '0' }],
    [
      'has lost its replicas',
      'NOREPLICAS',
      { parameter: 'min-replicas-to-write', broken: '1', repaired: '0' },
    ],
  ])(
    'that %s: no instance is ready while signed calls are refused, and the log says why',
    PATIENT,
    async (_, cause, { parameter, broken, repaired }) => {
      const [redis] = servers as [RedisServer];
      await start({ REDIS_URL: `redis://127.0.0.1:${redis.port}` });
      expect(await readiness()).toBe(200);
      await redis.configure(parameter, broken);
      const refused = await world.signed(PROVIDER, VERIFY, { sessionToken: 'unknown' });
      expect(refused.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
      await expect.poll(readiness).toBe(503);
      expect(lines.find((line) => line.includes('Redis unavailable'))).toContain(cause);
      expect(await world.metrics()).toContain('\ncroupier_redis_up 0\n');
      await redis.configure(parameter, repaired);
      await expect.poll(readiness).toBe(200);
      expect([said('Redis unavailable'), said('Redis is available again')]).toEqual([1, 1]);
    },
  );

  test('that is read-only: one line says so, however often the client reconnects', PATIENT, async () => {
    const [master] = servers as [RedisServer];
    const redis = await RedisServer.create(master);
    servers.push(redis);
    await redis.configure('replica-read-only', 'no');
    await start({ REDIS_URL: `redis://127.0.0.1:${redis.port}` });
    expect(await readiness()).toBe(200);
    let connections = 0;
    world.app.get(RedisConnection).client!.on('ready', () => void (connections += 1));
    await redis.configure('replica-read-only', 'yes');
    await until(async () => {
      const refused = await world.signed(PROVIDER, VERIFY, { sessionToken: 'unknown' });
      expect(refused.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
      return connections >= 3;
    });
    await expect.poll(readiness).toBe(503);
    expect(lines.find((line) => line.includes('Redis unavailable'))).toContain('READONLY');
    expect([said('Redis unavailable'), said('Redis is available again')]).toEqual([1, 0]);
    await redis.configure('replica-read-only', 'no');
    await expect.poll(readiness).toBe(200);
    expect([said('Redis unavailable'), said('Redis is available again')]).toEqual([1, 1]);
  });

  test(
    'whose Sentinel promotes a replica: routes recover automatically, and used nonces stay refused',
    PATIENT,
    async () => {
      const [master] = servers as [RedisServer];
      const replica = await RedisServer.create(master);
      const sentinel = await RedisServer.watch(master);
      servers.push(replica, sentinel);
      await start({ REDIS_URL: `redis://${MASTER}/1`, REDIS_SENTINELS: `127.0.0.1:${sentinel.port}` });
      expect(await readiness()).toBe(200);
      const nonce = randomUUID();
      const verify = () => world.signed(PROVIDER, VERIFY, { sessionToken: 'unknown' }, { nonce });
      expect((await verify()).headers.get('x-error-code')).toBe('SESSION_INVALID');
      // Replication is asynchronous: a nonce that the replica does not have yet would be lost.
      await until(() => replica.has(`croupier:{${PROVIDER}}:nonce:${nonce}`, 1));
      const bet = world.transaction(await world.launch(), 'BET');
      await master.kill();
      const { refusals, afterMs } = await untilApproved(bet);
      console.log(`Redis failed over by Sentinel: recovered after ${afterMs} ms`);
      expect(refusals).toEqual(CLOSED);
      // The client leaves the new master once more when the Sentinel announces it, if it was there before.
      let replayed = await verify();
      while (replayed.headers.get('x-error-code') === 'REPLAY_PROTECTION_UNAVAILABLE')
        replayed = await verify();
      expect(replayed.text).toBe('invalid signature');
      expect(world.wallet.booked(bet.transactionId)?.movements).toBe(1);
      await expect.poll(readiness).toBe(200);
      await expect.poll(() => said('Redis is available again') === said('Redis unavailable')).toBe(true);
      expect([1, 2]).toContain(said('Redis unavailable'));
    },
  );

  test('is reconnected after its client gave up', async () => {
    const [redis] = servers as [RedisServer];
    await start({ REDIS_URL: `redis://127.0.0.1:${redis.port}` });
    expect((await world.submit(world.transaction(await world.launch(), 'BET'))).status).toBe(200);
    const session = await world.launch();
    world.app.get(RedisConnection).client!.disconnect();
    const { refusals } = await untilApproved(world.transaction(session, 'BET'));
    expect(refusals).toEqual(CLOSED);
    await expect.poll(() => said('Redis is available again')).toBe(1);
  });

  test('as a cluster of three masters: keys of one claim are in one slot, and without one node signed routes fail closed', async () => {
    const nodes = await RedisServer.cluster();
    servers.push(...nodes);
    const [first, second] = nodes as [RedisServer, RedisServer];
    await start({
      REDIS_URL: `redis://127.0.0.1:${first.port}`,
      REDIS_CLUSTER_NODES: `127.0.0.1:${first.port},127.0.0.1:${second.port}`,
    });
    expect(await readiness()).toBe(200);
    const nonces = Array.from({ length: 30 }, () => randomUUID());
    const verify = (nonce: string) => world.signed(PROVIDER, VERIFY, { sessionToken: 'unknown' }, { nonce });
    for (const nonce of nonces)
      expect((await verify(nonce)).headers.get('x-error-code')).toBe('SESSION_INVALID');
    for (const nonce of nonces) expect((await verify(nonce)).text).toBe('invalid signature');
    const counts = await Promise.all(nodes.map((node) => node.keyCount()));
    expect(counts.filter((count) => count > 0)).toHaveLength(1);
    const used = (await nodeOf(nodes, nonces[0]!))!;

    const demo = await world.launch({ mode: 'DEMO' });
    const play = world.transaction(demo, 'BET');
    expect((await world.submit(play)).json).toMatchObject({ status: 'APPROVED' });

    const bet = world.transaction(await world.launch(), 'BET');
    await used.kill();
    await expect.poll(readiness).toBe(503);
    const refused = await world.submit(bet);
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([
      500,
      'REPLAY_PROTECTION_UNAVAILABLE',
    ]);
    expect(world.wallet.calls(bet.transactionId)).toEqual([]);
    await used.start();
    const { refusals, afterMs } = await untilApproved(bet);
    console.log(`a node of the Redis Cluster killed and back: recovered after ${afterMs} ms`);
    expect([...refusals].filter((refusal) => !CLOSED.has(refusal))).toEqual([]);
    await expect.poll(readiness).toBe(200);
    // Nodes learn of the loss and the return one after the other, and readiness asks one of them.
    expect(said('Redis unavailable')).toBeGreaterThan(0);
    const recovered = async () => {
      await readiness();
      return said('Redis is available again') === said('Redis unavailable');
    };
    await expect.poll(recovered).toBe(true);
  }, 120_000);

  test('as a cluster: a claim that is sent again, because its answer was lost, is no replay', async () => {
    const nodes = await RedisServer.cluster();
    servers.push(...nodes);
    await start({
      REDIS_URL: `redis://127.0.0.1:${nodes[0]!.port}`,
      REDIS_CLUSTER_NODES: nodes.map(({ port }) => `127.0.0.1:${port}`).join(','),
    });
    const verify = (nonce: string) => world.signed(PROVIDER, VERIFY, { sessionToken: 'unknown' }, { nonce });
    // Connects to the node that has the tenant's keys.
    await verify(randomUUID());

    const client = world.app.get(RedisConnection).client as Cluster;
    const connections = client.nodes('master').filter(({ status }) => status === 'ready');
    for (const { stream } of connections) stream.pause();
    const nonce = randomUUID();
    const reply = verify(nonce);
    let claimedAt: RedisServer | undefined;
    await until(async () => {
      claimedAt = await nodeOf(nodes, nonce);
      return claimedAt !== undefined;
    });
    for (const { stream, options } of connections) {
      if (options.port === claimedAt!.port) stream.destroy();
      else stream.resume();
    }
    expect((await reply).headers.get('x-error-code')).toBe('SESSION_INVALID');
    expect((await verify(nonce)).text).toBe('invalid signature');
  }, 120_000);

  test('as a cluster that promotes a replica: routes recover, and used nonces stay refused', async () => {
    const nodes = await RedisServer.cluster({ replicas: 1 });
    servers.push(...nodes);
    await start({
      REDIS_URL: `redis://127.0.0.1:${nodes[0]!.port}`,
      REDIS_CLUSTER_NODES: nodes.map(({ port }) => `127.0.0.1:${port}`).join(','),
    });
    expect(await readiness()).toBe(200);
    const nonces = Array.from({ length: 30 }, () => randomUUID());
    const verify = (nonce: string) => world.signed(PROVIDER, VERIFY, { sessionToken: 'unknown' }, { nonce });
    for (const nonce of nonces)
      expect((await verify(nonce)).headers.get('x-error-code')).toBe('SESSION_INVALID');
    // Replication is asynchronous: nonces that a replica does not have yet would be lost.
    await until(async () => {
      const counts = await Promise.all(nodes.map((node) => node.keyCount()));
      return sum(counts.slice(0, 3)) === sum(counts.slice(3));
    });

    const used = (await nodeOf(nodes.slice(0, 3), nonces[0]!))!;
    const bet = world.transaction(await world.launch(), 'BET');
    const killedAt = performance.now();
    await used.kill();
    for (const nonce of nonces) {
      const replayed = async () => (await verify(nonce)).text;
      await expect.poll(replayed, { timeout: 20_000 }).toBe('invalid signature');
    }
    const afterMs = Math.round(performance.now() - killedAt);
    console.log(
      `a master of the Redis Cluster failed over to its replica: its slots served after ${afterMs} ms`,
    );
    const { refusals } = await untilApproved(bet);
    expect([...refusals].filter((refusal) => !CLOSED.has(refusal))).toEqual([]);
    expect(world.wallet.booked(bet.transactionId)?.movements).toBe(1);
    await expect.poll(readiness).toBe(200);
  }, 120_000);
});

/** The node that has the nonce; undefined if none has it. A node refuses the keys of other nodes. */
async function nodeOf(nodes: readonly RedisServer[], nonce: string): Promise<RedisServer | undefined> {
  const key = `croupier:{${PROVIDER}}:nonce:${nonce}`;
  const has = await Promise.all(nodes.map((node) => node.has(key, 0).catch(() => false)));
  return nodes[has.indexOf(true)];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
