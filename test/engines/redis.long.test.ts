import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROVIDER, startWorld, type World } from '../world/world.js';
import { HAS_REDIS, MASTER, RedisServer } from './redis-server.js';

/** A client's pause before it sends a request again, in milliseconds. */
const BACK_OFF_MS = 20;
/** On a busy machine a Sentinel mistrusts its clock, and does nothing for 30 s. */
const PATIENT = { timeout: 90_000, retry: 1 };
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

  /** Sends BETs until one is answered. @returns the answers before it, and how long they took in milliseconds */
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
    'that is killed and started again: signed routes fail closed meanwhile and recover by themselves',
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
      await expect.poll(readiness, { timeout: 5_000 }).toBe(503);
      await redis.start();
      const { refusals, afterMs } = await untilApproved(during);
      console.log(`Redis killed and back: recovered after ${afterMs} ms`);
      expect([...refusals].filter((refusal) => !CLOSED.has(refusal))).toEqual([]);
      await expect.poll(readiness, { timeout: 5_000 }).toBe(200);
      expect((await world.submit(before)).headers.get('idempotency-replayed')).toBe('true');
      expect(world.wallet.booked(during.transactionId)?.movements).toBe(1);
      expect([said('Redis unavailable'), said('Redis is available again')]).toEqual([1, 1]);
    },
  );

  test('whose Sentinel promotes a replica: the same, and nonces stay used', PATIENT, async () => {
    const [master] = servers as [RedisServer];
    const replica = await RedisServer.create(master);
    const sentinel = await RedisServer.watch(master);
    servers.push(replica, sentinel);
    await start({ REDIS_URL: `redis://${MASTER}/1`, REDIS_SENTINELS: `127.0.0.1:${sentinel.port}` });
    expect(await readiness()).toBe(200);
    const nonce = randomUUID();
    const verify = () => world.signed(PROVIDER, VERIFY, { sessionToken: 'unknown' }, { nonce });
    expect((await verify()).headers.get('x-error-code')).toBe('SESSION_INVALID');
    const bet = world.transaction(await world.launch(), 'BET');
    await master.kill();
    const { refusals, afterMs } = await untilApproved(bet);
    console.log(`Redis failed over by Sentinel: recovered after ${afterMs} ms`);
    expect(refusals).toEqual(CLOSED);
    expect((await verify()).text).toBe('invalid signature');
    expect(world.wallet.booked(bet.transactionId)?.movements).toBe(1);
    await expect.poll(readiness, { timeout: 5_000 }).toBe(200);
    expect([said('Redis unavailable'), said('Redis is available again')]).toEqual([1, 1]);
  });
});
