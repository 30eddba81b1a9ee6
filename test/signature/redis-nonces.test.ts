import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { RATE_WINDOW_MS } from '../../src/signature/rate-record.js';
import { RedisProxy } from '../world/redis-proxy.js';
import { OPERATOR, PROVIDER, type Reply, useWorld, type World } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

const redisUrl = inject('redisUrl');

const VERIFY = '/v1/wallet/session/verify';
const LAUNCH = '/v1/operator/sessions';
const TOKEN = { sessionToken: 'unknown' };
/** Twice the tolerance and a second: how long a nonce is remembered. */
const REMEMBER_SECONDS = 601;

// Without a Redis there is nothing to test; the services suite has one.
describe.runIf(redisUrl !== null)('nonces in Redis', () => {
  let proxy: RedisProxy;
  /** Another instance, which reaches Redis through the proxy. */
  let proxied: World;
  let redis: Redis;
  const lines: string[] = [];
  const world = useWorld({ LOG_LEVEL: 'warn' }, { write: (line) => void lines.push(line) });
  beforeAll(async () => {
    redis = new Redis(redisUrl!);
    proxy = await RedisProxy.start(redisUrl!);
    proxied = await world.another(world.clock, { REDIS_URL: proxy.url });
  });
  afterAll(async () => {
    await proxied.app.close();
    await proxy.stop();
    redis.disconnect();
  });

  const nonceKey = (tenant: string, nonce: string) => `croupier:{${tenant}}:nonce:${nonce}`;
  const windowKey = (tenant: string) => `croupier:{${tenant}}:rate`;
  const refusedSignature = (reply: Reply) => reply.text === 'invalid signature';

  test.each([
    ['provider', PROVIDER, VERIFY],
    ['operator', OPERATOR, LAUNCH],
  ])('are refused if an instance of the previous release accepted them (%s)', async (_, tenant, path) => {
    const nonce = randomUUID();
    await redis.set(nonceKey(tenant, nonce), '1', 'EX', REMEMBER_SECONDS, 'NX');
    expect(refusedSignature(await world.signed(tenant, path, TOKEN, { nonce }))).toBe(true);
  });

  test('are refused by an instance of the previous release for as long', async () => {
    const nonce = randomUUID();
    expect((await world.signed(PROVIDER, VERIFY, TOKEN, { nonce })).status).toBe(401);
    const key = nonceKey(PROVIDER, nonce);
    expect(await redis.set(key, '1', 'EX', REMEMBER_SECONDS, 'NX')).toBeNull();
    const seconds = await redis.ttl(key);
    expect(seconds).toBeGreaterThan(REMEMBER_SECONDS - 30);
    expect(seconds).toBeLessThanOrEqual(REMEMBER_SECONDS);
  });

  test('are accepted by exactly one of two concurrent instances', async () => {
    for (let round = 0; round < 20; round += 1) {
      const nonce = randomUUID();
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 ? world : proxied).signed(PROVIDER, VERIFY, TOKEN, { nonce }),
        ),
      );
      expect(replies.filter((reply) => !refusedSignature(reply))).toHaveLength(1);
    }
  });

  test('take one round trip together with the rate limit', async () => {
    // The first claim of a connection sends the script itself, all others its digest.
    await proxied.signed(PROVIDER, VERIFY, TOKEN);
    const nonce = randomUUID();
    proxy.sent = '';
    proxy.withhold();
    const answer = proxied.signed(PROVIDER, VERIFY, TOKEN, { nonce });
    const keys = [nonceKey(PROVIDER, nonce), windowKey(PROVIDER)];
    await vi.waitUntil(() => keys.every((key) => proxy.sent.includes(key)), PATIENCE);
    const sentBeforeAnyAnswer = proxy.sent;
    proxy.release();
    expect((await answer).headers.get('x-error-code')).toBe('SESSION_INVALID');
    expect(proxy.sent).toBe(sentBeforeAnyAnswer);
    expect(sentBeforeAnyAnswer).toContain('evalsha');
  });

  test('are refused with a retryable 500 if Redis does not answer in time, and accepted when it does again', async () => {
    await proxied.signed(PROVIDER, VERIFY, TOKEN);
    proxy.withhold();
    const refused = await proxied.signed(PROVIDER, VERIFY, TOKEN);
    proxy.release();
    expect(refused.status).toBe(500);
    expect(refused.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
    const accepted = await proxied.signed(PROVIDER, VERIFY, TOKEN);
    expect(accepted.headers.get('x-error-code')).toBe('SESSION_INVALID');
  });

  describe('of a tenant of its own', () => {
    let tenant: string;
    beforeEach(async () => {
      tenant = await world.createProvider();
    });

    test('are counted when they are claimed, and not when they are replayed', async () => {
      const nonce = randomUUID();
      await world.signed(tenant, VERIFY, TOKEN, { nonce });
      // Keeps the window open, however slow this machine is.
      await redis.set(windowKey(tenant), '1');
      for (let replay = 0; replay < 5; replay += 1) {
        expect(refusedSignature(await world.signed(tenant, VERIFY, TOKEN, { nonce }))).toBe(true);
      }
      expect(await redis.get(windowKey(tenant))).toBe('1');
      await world.signed(tenant, VERIFY, TOKEN);
      expect(await redis.get(windowKey(tenant))).toBe('2');
    });

    /** A request that arrives while the window is full. Tries again if the window has ended by then. */
    const beyondLimit = () =>
      vi.waitFor(async () => {
        const nonce = randomUUID();
        await redis.set(windowKey(tenant), '100000', 'PX', RATE_WINDOW_MS);
        const reply = await world.signed(tenant, VERIFY, TOKEN, { nonce });
        expect(reply.status).toBe(429);
        return { nonce, reply };
      }, PATIENCE);

    test('wait for the end of the window in Redis if the limit is reached', async () => {
      const { reply } = await beyondLimit();
      expect(reply.headers.get('retry-after')).toBe('1');
    });

    test('begin a new window if the clock of Redis was set back during the last one', async () => {
      await redis.set(windowKey(tenant), '100000', 'PX', 300_000);
      const accepted = await world.signed(tenant, VERIFY, TOKEN);
      expect(accepted.headers.get('x-error-code')).toBe('SESSION_INVALID');
      expect(await redis.pttl(windowKey(tenant))).toBeLessThanOrEqual(RATE_WINDOW_MS);
    });

    test('are not stored beyond the limit, and accepted when the window has ended', async () => {
      const { nonce } = await beyondLimit();
      expect(await redis.keys(`*:nonce:*${nonce}`)).toEqual([]);
      await redis.del(windowKey(tenant));
      const accepted = await world.signed(tenant, VERIFY, TOKEN, { nonce });
      expect(accepted.headers.get('x-error-code')).toBe('SESSION_INVALID');
      expect(refusedSignature(await world.signed(tenant, VERIFY, TOKEN, { nonce }))).toBe(true);
    });

    test('are refused with a retryable 500 if Redis cannot count, and the log says why', async () => {
      await redis.rpush(windowKey(tenant), 'not a number');
      const refused = await world.signed(tenant, VERIFY, TOKEN);
      expect(refused.status).toBe(500);
      expect(refused.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
      expect(refused.headers.get('x-next-action')).toBe('retry-same-request');
      await vi.waitUntil(() => lines.some((line) => line.includes('WRONGTYPE')), PATIENCE);
      await redis.del(windowKey(tenant));
    });
  });
});
