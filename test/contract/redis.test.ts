import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { NonceMemory } from '../../src/signature/nonce-memory.js';
import { RedisProxy } from '../world/redis-proxy.js';
import { OPERATOR, PROVIDER, startWorld, useWorld, type World } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

const VERIFY = '/v1/wallet/session/verify';
const TOKEN = { sessionToken: 'unknown' };

describe('when Redis does not answer', () => {
  let cutOff: World;
  const lines: string[] = [];
  const logs = { write: (line: string) => void lines.push(line) };
  const logged = { LOG_LEVEL: 'info' };
  const world = useWorld(logged, logs);
  beforeAll(async () => {
    // Nothing listens on the discard port of this machine.
    cutOff = await world.another(world.clock, { ...logged, REDIS_URL: 'redis://127.0.0.1:9' }, logs);
  });
  afterAll(() => cutOff.app.close());

  test.each([
    [PROVIDER, VERIFY],
    [OPERATOR, '/v1/operator/sessions'],
  ])('%s is refused with a retryable 500: it fails closed', async (tenant, path) => {
    const reply = await cutOff.signed(tenant, path, TOKEN);
    expect(reply.status).toBe(500);
    expect(reply.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
    expect(reply.headers.get('x-next-action')).toBe('retry-same-request');
    expect(Object.keys(reply.json)).toEqual(['error']);
    const requestId = reply.headers.get('x-request-id')!;
    const logged = () => lines.filter((line) => line.includes(`"${requestId}"`));
    const line = await vi.waitUntil(() => logged().find((one) => one.includes('"parts"')), PATIENCE);
    expect(JSON.parse(line)).toMatchObject({ parts: { signature: expect.any(Number) as number } });
    expect(logged().join('')).toContain('nonce not claimed, request refused: check Redis');
  });

  test('the instance is not ready', async () => {
    const reply = await cutOff.request('/health/ready');
    expect(reply.status).toBe(503);
    expect(reply.json).toEqual({
      status: 'unavailable',
      checks: { database: 'up', migrations: 'up', redis: 'down', tenants: 'up' },
    });
  });

  test('the log has one line, however often the connection is tried', async () => {
    const said = () => lines.filter((line) => line.includes('Redis unavailable'));
    expect(said()).toHaveLength(1);
  });
});

describe('without Redis, when nonces cannot be stored', () => {
  const lines: string[] = [];
  const world = useWorld(
    { LOG_LEVEL: 'warn', REDIS_URL: '' },
    { write: (line: string) => void lines.push(line) },
  );

  test('in PostgreSQL, an operator is refused with a retryable 500, and the log says why', async () => {
    await world.sql.run('ALTER TABLE nonces RENAME TO hidden');
    const refused = await world.signed(OPERATOR, '/v1/operator/sessions', {});
    await world.sql.run('ALTER TABLE hidden RENAME TO nonces');
    expect(refused.status).toBe(500);
    expect(refused.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
    expect(refused.headers.get('x-next-action')).toBe('retry-same-request');
    const warning = lines.find((line) => line.includes('nonce not claimed'))!;
    expect(JSON.parse(warning)).toMatchObject({
      msg: 'nonce not claimed, request refused: check PostgreSQL',
      error: 'relation "nonces" does not exist',
    });
  });

  test('in the memory of the process, a provider is refused alike, and the log names it', async () => {
    const provider = await world.createProvider({ requestsPerSecond: 1 });
    const memory = world.app.get(NonceMemory);
    while (memory.claim(provider, randomUUID(), 601, 1) === 'claimed');
    const refused = await world.signed(provider, VERIFY, TOKEN);
    expect(refused.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
    const warning = lines.find((line) => line.includes('the memory for the nonces'))!;
    expect(JSON.parse(warning)).toMatchObject({ tenantId: provider });
  });
});

const redisUrl = inject('redisUrl');
describe.runIf(redisUrl !== null)('when Redis is lost and comes back', () => {
  test('the instance is not ready meanwhile, recovers automatically, and logs one line for each change', async () => {
    const lines: string[] = [];
    const proxy = await RedisProxy.start(redisUrl!);
    const world = await startWorld(
      { LOG_LEVEL: 'info', REDIS_URL: proxy.url },
      { write: (line: string) => void lines.push(line) },
    );
    const said = (words: string) => lines.filter((line) => line.includes(words)).length;
    const readiness = async () => (await world.request('/health/ready')).status;
    try {
      expect(await readiness()).toBe(200);
      await proxy.stop();
      await expect.poll(readiness).toBe(503);
      const refused = await world.signed(PROVIDER, VERIFY, TOKEN);
      expect(refused.headers.get('x-error-code')).toBe('REPLAY_PROTECTION_UNAVAILABLE');
      await proxy.listen();
      await expect.poll(readiness).toBe(200);
      const answered = await world.signed(PROVIDER, VERIFY, TOKEN);
      expect(answered.headers.get('x-error-code')).toBe('SESSION_INVALID');
      expect([said('Redis unavailable'), said('Redis is available again')]).toEqual([1, 1]);
    } finally {
      await world.stop();
      await proxy.stop();
    }
  });
});

// Without a Redis there is nothing shared to test; the services suite has one.
describe.runIf(redisUrl !== null)('two instances that share a Redis', () => {
  let second: World;
  const environment = { DEMO_START_BALANCE_MINOR: '1000' };
  const world = useWorld(environment);
  beforeAll(async () => (second = await world.another(world.clock, environment)));
  afterAll(() => second.app.close());

  test('accept a nonce once between them', async () => {
    const same = { nonce: randomUUID() };
    const accepted = await world.signed(PROVIDER, VERIFY, TOKEN, same);
    expect(accepted.headers.get('x-error-code')).toBe('SESSION_INVALID');
    expect((await second.signed(PROVIDER, VERIFY, TOKEN, same)).text).toBe('invalid signature');
  });

  test('share a limit', async () => {
    await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { requestsPerSecond: 5 });
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 ? world : second).signed(PROVIDER, VERIFY, TOKEN)),
    );
    await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { requestsPerSecond: null });
    await second.app.get(TenancyService).reload();
    // Either instance may learn of the limit late, and a new second may begin during the flood.
    expect(replies.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(10);
  });

  test('share the balance of a DEMO session, without losing a BET', async () => {
    const session = await world.launch({ mode: 'DEMO' });
    const bets = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? world : second).submit(world.transaction(session, 'BET', { amountMinor: 50 })),
    );
    const answers = await Promise.all(bets);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect((await world.balance(session)).json).toEqual({ balance: 0 });
  });
});
