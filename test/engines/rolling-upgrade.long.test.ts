import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { BuiltService, until } from '../process/built-service.js';
import { createTestDatabase } from '../world/database.js';
import { Load } from './load.js';
import { previousRelease } from './previous-release.js';

const main = await previousRelease();
if (main === undefined) console.log('SKIPPED: this clone has no history of the previous release');

describe.skipIf(main === undefined)('a rolling upgrade from the previous release', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let environment: Record<string, string>;
  let previous: BuiltService;
  let current: BuiltService | undefined;
  beforeAll(async () => {
    database = await createTestDatabase();
    const redisUrl = inject('redisUrl');
    environment = {
      DATABASE_URL: database.url,
      SHUTDOWN_DELAY_MS: '1000',
      ...(redisUrl !== null && { REDIS_URL: redisUrl }),
    };
    previous = await BuiltService.create(environment, main);
  }, 120_000);
  afterAll(async () => {
    await current?.remove();
    await (previous as BuiltService | undefined)?.remove();
    await database.drop();
  });

  test('migrates under load, serves with both releases, and loses nothing when the previous one stops', async () => {
    const services = [previous];
    const load = new Load(services);
    await load.more(40);
    current = await previous.another(environment);
    expect(current.logged('"migrationsRun":[]')).toEqual([]);
    await load.more(40);
    services.push(current);
    await load.more(120);
    const stopped = previous.end('SIGTERM');
    await until(async () => load.retryable.has('ECONNREFUSED'));
    await stopped;
    await load.more(40);
    await load.stop();
    expect([previous.exitCode, current.exitCode]).toEqual([0, null]);
    console.log(`${load.approved} transactions, ${JSON.stringify(Object.fromEntries(load.retryable))}`);
    await load.check(current);
  }, 120_000);
});
