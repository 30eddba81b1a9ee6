import { Logger } from '@nestjs/common';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { auditOver } from '../../src/audit/audit.service.js';
import { Sealer } from '../../src/audit/sealer.js';
import { type Configuration, readConfiguration } from '../../src/config/configuration.js';
import { openDataSource } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { DatabaseClock } from '../../src/database/database-clock.js';
import { named } from '../../src/database/statement.js';
import { Readiness } from '../../src/health/readiness.js';
import { Metrics } from '../../src/observability/metrics.js';
import { Background } from '../../src/runtime/background.js';
import { Clock } from '../../src/runtime/clock.js';
import { Lifecycle } from '../../src/runtime/lifecycle.js';
import { Randomness } from '../../src/runtime/randomness.js';
import { RedisConnection } from '../../src/runtime/redis.js';
import { Game } from '../../src/tenancy/game.entity.js';
import { GameStore } from '../../src/tenancy/game.store.js';
import { GameAdministration } from '../../src/tenancy/administration/game-administration.js';
import { Pause } from '../../src/tenancy/pauses/pause.entity.js';
import { PauseStore } from '../../src/tenancy/pauses/pause.store.js';
import { PausesService } from '../../src/tenancy/pauses/pauses.service.js';
import { SecretBox } from '../../src/tenancy/secrets/secret-box.js';
import { TenancyService } from '../../src/tenancy/tenancy.service.js';
import { TenancyStore } from '../../src/tenancy/tenancy.store.js';
import { OperatorEntity, ProviderEntity, TenantEntity } from '../../src/tenancy/tenant.entity.js';
import { TenantStore } from '../../src/tenancy/tenant.store.js';
import { TenantAdministration } from '../../src/tenancy/administration/tenant-administration.js';
import { createMigratedDatabase } from '../world/database.js';
import { PATIENCE } from '../world/patience.js';

class SetClock extends Clock {
  private elapsedMs = 0;
  private startedAtMs = Date.parse('2026-01-01T00:00:00Z');

  override now(): Date {
    return new Date(this.startedAtMs + this.elapsedMs);
  }

  override monotonicMs(): number {
    return this.elapsedMs;
  }

  advance(seconds: number): void {
    this.elapsedMs += seconds * 1000;
  }

  /** Sets the time of day forwards or back, as an administrator or NTP does. */
  step(seconds: number): void {
    this.startedAtMs += seconds * 1000;
  }
}

/** The part of an instance that concerns tenancy. */
async function startInstance(url: string, clock: Clock, environment: Record<string, string> = {}) {
  const configuration: Configuration = readConfiguration({ SANDBOX: 'true', ...environment });
  const randomness = new Randomness();
  const dataSource = await openDataSource(url, [TenantEntity, ProviderEntity, OperatorEntity, Game, Pause]);
  const database = new Database(dataSource);
  const providers = dataSource.getRepository(ProviderEntity);
  const operators = dataSource.getRepository(OperatorEntity);
  const gameRepository = dataSource.getRepository(Game);
  const pauseRepository = dataSource.getRepository(Pause);
  const store = new TenancyStore(database, providers, operators, gameRepository, pauseRepository);
  const tenantStore = new TenantStore(providers, operators);
  const box = new SecretBox(configuration, randomness);
  const metrics = new Metrics();
  const databaseClock = new DatabaseClock(clock, metrics);
  const background = new Background();
  const readiness = new Readiness(database, new RedisConnection(configuration), new Lifecycle(), metrics);
  const tenancy = new TenancyService(configuration, store, box, clock, databaseClock, background, readiness);
  const stop = async () => {
    await background.stop();
    await dataSource.destroy();
  };
  try {
    await tenancy.onModuleInit();
    background.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const audit = auditOver(database, new Sealer(configuration));
  const pauses = new PausesService(tenancy, new PauseStore(database, pauseRepository), audit, databaseClock);
  const tenants = new TenantAdministration(configuration, tenancy, tenantStore, box, pauses, audit);
  const games = new GameAdministration(tenancy, new GameStore(gameRepository), pauses, audit);
  return { tenancy, tenants, games, store, dataSource, databaseClock, stop };
}

const ACTOR = { actor: 'root', role: 'admin', address: '127.0.0.1' };
const ACME = { id: 'acme', name: 'Acme', webhookBaseUrl: 'http://127.0.0.1:1/hooks/' };
const LUCKY = { id: 'lucky', name: 'Lucky', walletBaseUrl: 'http://127.0.0.1:2' };
const OVERLAP = 3600;

let database: Awaited<ReturnType<typeof createMigratedDatabase>>;
let clock: SetClock;
let here: Awaited<ReturnType<typeof startInstance>>;

beforeAll(() => {
  Logger.overrideLogger(false);
});

beforeEach(async () => {
  database = await createMigratedDatabase();
  clock = new SetClock();
  here = await startInstance(database.url, clock);
});

afterEach(async () => {
  await here.stop();
  await database.drop();
});

describe('the directory', () => {
  test('knows a tenant and a game as soon as they are stored', async () => {
    const { secret } = await here.tenants.createProvider(ACTOR, ACME);
    await here.tenants.createOperator(ACTOR, { ...LUCKY, walletTimeoutMs: 1500, requestsPerSecond: 7 });
    await here.games.put(ACTOR, 'book', { providerId: 'acme', name: 'Book' });
    expect(here.tenancy.provider('acme')).toMatchObject({
      kind: 'PROVIDER',
      status: 'ACTIVE',
      webhookBaseUrl: 'http://127.0.0.1:1/hooks',
      lateSettlementSeconds: 0,
    });
    expect(here.tenancy.verificationSecrets('acme')).toEqual([secret]);
    const operator = here.tenancy.operator('lucky');
    expect(operator).toMatchObject({
      walletAdapter: 'signed-json',
      walletTimeoutMs: 1500,
      requestsPerSecond: 7,
    });
    expect(here.tenancy.game('book')).toMatchObject({ providerId: 'acme', status: 'ACTIVE' });
  });

  test('does not confuse the kinds of tenants, and knows no others', async () => {
    await here.tenants.createProvider(ACTOR, ACME);
    await here.tenants.createOperator(ACTOR, LUCKY);
    expect(here.tenancy.operator('acme')).toBeUndefined();
    expect(here.tenancy.provider('lucky')).toBeUndefined();
    expect(here.tenancy.verificationSecrets('__proto__')).toBeUndefined();
    expect(() => here.tenancy.signingSecret('nobody')).toThrow('could not be resolved');
  });

  test('knows a hundred tenants created at once', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `p${index}`);
    await Promise.all(ids.map((id) => here.tenants.createProvider(ACTOR, { ...ACME, id })));
    for (const id of ids) expect(here.tenancy.provider(id)).toBeDefined();
  });

  test('gives an id to one of a hundred concurrent requests for it', async () => {
    const wanted = Array.from({ length: 100 }, (_, index) =>
      index % 2
        ? here.tenants.createProvider(ACTOR, { ...ACME, id: 'x' })
        : here.tenants.createOperator(ACTOR, { ...LUCKY, id: 'x' }),
    );
    const outcomes = await Promise.allSettled(wanted);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('a load that takes long does not put the estimate of the database’s clock ahead', async () => {
  here.tenancy.loadWithDirectory(async (query) => {
    await query(named('', 'SELECT pg_sleep(3)'), {});
  });
  await here.tenants.createProvider(ACTOR, ACME);
  const estimateMs = () => here.databaseClock.now().getTime();
  const beforeMs = estimateMs();
  const [row] = await here.dataSource.query<{ now: Date }[]>('SELECT clock_timestamp() AS now');
  expect(row!.now.getTime()).toBeGreaterThan(beforeMs - 1_000);
  expect(row!.now.getTime()).toBeLessThan(estimateMs() + 1_000);
});

test('a load never sees a partial change', async () => {
  await here.tenants.createProvider(ACTOR, ACME);
  await here.games.put(ACTOR, 'book', { providerId: 'acme', name: ACME.name });
  let over = false;
  const changes = (async () => {
    for (let count = 0; !over; count += 1) {
      await here.dataSource.transaction(async (manager) => {
        await manager.query(`UPDATE tenants SET name = $1`, [`name ${count}`]);
        await manager.query(`UPDATE games SET name = $1`, [`name ${count}`]);
      });
    }
  })();
  const seen = new Map<number, string>();
  for (let load = 0; load < 200; load += 1) {
    const { version, tenants, games } = await here.store.snapshot([]);
    const name = String(tenants[0]?.name);
    expect(games[0]?.name).toBe(name);
    expect(seen.get(version) ?? name).toBe(name);
    seen.set(version, name);
  }
  over = true;
  await changes;
  expect(seen.size).toBeGreaterThan(1);
});

describe('another instance', () => {
  let there: Awaited<ReturnType<typeof startInstance>>;

  beforeEach(async () => {
    await here.tenants.createProvider(ACTOR, ACME);
    await here.games.put(ACTOR, 'book', { providerId: 'acme', name: 'Book' });
    there = await startInstance(database.url, clock);
  });

  afterEach(() => there.stop());

  test.each([
    [
      'a disabled provider',
      () => here.tenants.changeProvider(ACTOR, 'acme', { status: 'DISABLED' }),
      () => there.tenancy.provider('acme')?.status === 'DISABLED',
    ],
    [
      'a new operator',
      () => here.tenants.createOperator(ACTOR, LUCKY),
      () => there.tenancy.verificationSecrets('lucky') !== undefined,
    ],
    [
      'a disabled game',
      () => here.games.put(ACTOR, 'book', { providerId: 'acme', name: 'Book', status: 'DISABLED' }),
      () => there.tenancy.game('book')?.status === 'DISABLED',
    ],
    [
      'a rotated secret',
      () => here.tenants.rotateSecret(ACTOR, 'PROVIDER', 'acme', OVERLAP),
      () => there.tenancy.verificationSecrets('acme')?.length === 2,
    ],
  ])('sees %s at its next poll', async (_, change, seen) => {
    await change();
    await vi.waitFor(() => expect(seen()).toBe(true), PATIENCE);
  });

  test('sees a change that a person made in the database by hand', async () => {
    await here.dataSource.query(`UPDATE tenants SET name = 'By Hand' WHERE id = 'acme'`);
    await vi.waitFor(() => expect(there.tenancy.provider('acme')?.name).toBe('By Hand'), PATIENCE);
  });

  test('sees a restored backup, although its version is older', async () => {
    await here.dataSource.transaction(async (manager) => {
      await manager.query(`UPDATE tenants SET name = 'As It Was' WHERE id = 'acme'`);
      await manager.query('UPDATE tenancy_version SET version = 1');
    });
    await vi.waitFor(() => expect(there.tenancy.provider('acme')?.name).toBe('As It Was'), PATIENCE);
  });

  test('leaves out one tenant whose secret cannot be decrypted, and keeps all others', async () => {
    await here.tenants.createOperator(ACTOR, LUCKY);
    await vi.waitFor(() => expect(there.tenancy.operator('lucky')).toBeDefined(), PATIENCE);
    await here.dataSource.query(`UPDATE tenants SET sealed_secret = 'x' WHERE id = 'lucky'`);
    await vi.waitFor(() => expect(there.tenancy.operator('lucky')).toBeUndefined(), PATIENCE);
    expect(there.tenancy.provider('acme')).toBeDefined();
  });
});

describe('two changes at once', () => {
  test('of different fields both take effect', async () => {
    await here.tenants.createProvider(ACTOR, ACME);
    await Promise.all([
      here.tenants.changeProvider(ACTOR, 'acme', { name: 'Renamed' }),
      here.tenants.changeProvider(ACTOR, 'acme', { status: 'DISABLED' }),
      here.tenants.changeProvider(ACTOR, 'acme', { requestsPerSecond: 5 }),
    ]);
    const expected = { name: 'Renamed', status: 'DISABLED', requestsPerSecond: 5 };
    expect(await here.tenants.find('PROVIDER', 'acme')).toMatchObject(expected);
    expect(here.tenancy.provider('acme')).toMatchObject(expected);
  });
});

describe('a rotated secret', () => {
  let first: string;

  beforeEach(async () => {
    first = (await here.tenants.createProvider(ACTOR, ACME)).secret;
  });

  const incoming = () => here.tenancy.verificationSecrets('acme');
  const outgoing = () => here.tenancy.signingSecret('acme');
  async function stored() {
    const [row] = await here.dataSource.query<object[]>(
      `SELECT extract(epoch FROM previous_valid_until - updated_at)::integer AS overlap,
              previous_valid_until AS "previousValidUntil" FROM tenants`,
    );
    return row;
  }
  /** Lets time pass for the previous secret, by the database's clock. */
  async function age(seconds: number): Promise<void> {
    await here.dataSource.query(
      'UPDATE tenants SET previous_valid_until = previous_valid_until - make_interval(secs => $1)',
      [seconds],
    );
    await here.tenancy.reload();
  }

  test('is accepted beside the previous one until the overlap ends; outgoing calls switch then', async () => {
    const { secret, previousValidUntil } = await here.tenants.rotateSecret(
      ACTOR,
      'PROVIDER',
      'acme',
      OVERLAP,
    );
    expect(await stored()).toEqual({ overlap: OVERLAP, previousValidUntil });
    expect(incoming()).toEqual([secret, first]);
    expect(outgoing()).toBe(first);
    await age(OVERLAP - 30);
    expect(incoming()).toEqual([secret, first]);
    expect(outgoing()).toBe(first);
    // The instance's own clock has no influence.
    clock.advance(OVERLAP);
    expect(outgoing()).toBe(first);
    await age(30);
    expect(incoming()).toEqual([secret]);
    expect(outgoing()).toBe(secret);
  });

  test('takes effect at once without an overlap', async () => {
    const { secret, previousValidUntil } = await here.tenants.rotateSecret(ACTOR, 'PROVIDER', 'acme', 0);
    expect(await stored()).toEqual({ overlap: null, previousValidUntil: null });
    const [row] = await here.dataSource.query<{ updated_at: Date }[]>('SELECT updated_at FROM tenants');
    expect(previousValidUntil).toEqual(row?.updated_at);
    expect(incoming()).toEqual([secret]);
    expect(outgoing()).toBe(secret);
  });

  test('drops the oldest when rotated again', async () => {
    const second = await here.tenants.rotateSecret(ACTOR, 'PROVIDER', 'acme', OVERLAP);
    const third = await here.tenants.rotateSecret(ACTOR, 'PROVIDER', 'acme', OVERLAP);
    expect(incoming()).toEqual([third.secret, second.secret]);
    expect(outgoing()).toBe(second.secret);
  });

  test('is encrypted in the database', async () => {
    const { secret } = await here.tenants.rotateSecret(ACTOR, 'PROVIDER', 'acme', OVERLAP);
    const stored = JSON.stringify(await here.dataSource.query('SELECT * FROM tenants'));
    expect(stored).not.toContain(first);
    expect(stored).not.toContain(secret);
  });
});

describe('the directory without its database', () => {
  test('answers for 30 seconds, is then refused as too old, and recovers automatically', async () => {
    await here.tenants.createProvider(ACTOR, ACME);
    const version = vi.spyOn(here.store, 'version').mockRejectedValue(new Error('connection lost'));
    await vi.waitFor(() => expect(version).toHaveBeenCalledTimes(2), PATIENCE);
    clock.advance(30);
    expect(here.tenancy.isFresh()).toBe(true);
    here.tenancy.assertFresh();
    clock.advance(1);
    expect(here.tenancy.isFresh()).toBe(false);
    expect(() => here.tenancy.assertFresh()).toThrow(
      expect.objectContaining({ code: 'CONFIGURATION_UNAVAILABLE' }),
    );
    expect(here.tenancy.provider('acme')).toBeDefined();
    version.mockRestore();
    await vi.waitFor(() => expect(here.tenancy.isFresh()).toBe(true), PATIENCE);
  });

  test.each([3_600, -3_600])(
    'is used for the same time if the time of day jumps by %i s',
    async (seconds) => {
      await here.tenants.createProvider(ACTOR, ACME);
      const version = vi.spyOn(here.store, 'version').mockRejectedValue(new Error('connection lost'));
      await vi.waitFor(() => expect(version).toHaveBeenCalledTimes(2), PATIENCE);
      clock.step(seconds);
      expect(here.tenancy.isFresh()).toBe(true);
      clock.advance(31);
      expect(here.tenancy.isFresh()).toBe(false);
    },
  );

  test('applies a stored change later, and answers as if it were applied', async () => {
    await here.tenants.createProvider(ACTOR, ACME);
    const snapshot = vi.spyOn(here.store, 'snapshot').mockRejectedValue(new Error('connection lost'));
    expect(await here.tenants.changeProvider(ACTOR, 'acme', { name: 'Renamed' })).toMatchObject({
      name: 'Renamed',
    });
    expect(here.tenancy.provider('acme')?.name).toBe('Acme');
    snapshot.mockRestore();
    await vi.waitFor(() => expect(here.tenancy.provider('acme')?.name).toBe('Renamed'), PATIENCE);
  });
});

describe("the time-out of an operator's wallet", () => {
  test('is its own, else the configured one', async () => {
    await here.tenants.createOperator(ACTOR, { ...LUCKY, walletTimeoutMs: 29_000 });
    await here.tenants.createOperator(ACTOR, { ...LUCKY, id: 'other' });
    expect(here.tenancy.walletTimeoutMs(here.tenancy.operator('lucky')!)).toBe(29_000);
    expect(here.tenancy.walletTimeoutMs(here.tenancy.operator('other')!)).toBe(5000);
  });

  test('is refused if the lease exceeds it by less than a second', async () => {
    const wanted = { ...LUCKY, walletTimeoutMs: 29_001 };
    await expect(here.tenants.createOperator(ACTOR, wanted)).rejects.toThrow(
      'walletTimeoutMs must be at most 29000',
    );
    await here.tenants.createOperator(ACTOR, LUCKY);
    const change = here.tenants.changeOperator(ACTOR, 'lucky', { walletTimeoutMs: 29_001 });
    await expect(change).rejects.toThrow('at most 29000');
  });

  test('stops the start of an instance whose lease is too short for it', async () => {
    await here.tenants.createOperator(ACTOR, { ...LUCKY, walletTimeoutMs: 29_000 });
    const start = startInstance(database.url, clock, { TRANSACTION_LEASE_SECONDS: '20' });
    await expect(start).rejects.toThrow('TRANSACTION_LEASE_SECONDS: 20 must be at least 1 s longer');
  });

  test('is limited to the lease if another instance accepted a longer one', async () => {
    const there = await startInstance(database.url, clock, { TRANSACTION_LEASE_SECONDS: '20' });
    await here.tenants.createOperator(ACTOR, { ...LUCKY, walletTimeoutMs: 29_000 });
    expect(there.tenancy.walletTimeoutMs(here.tenancy.operator('lucky')!)).toBe(19_000);
    await there.stop();
  });
});

test('an instance with another SECRETS_KEY does not start', async () => {
  await here.tenants.createProvider(ACTOR, ACME);
  const start = startInstance(database.url, clock, {
    SECRETS_KEY: Buffer.alloc(32, 'other').toString('base64'),
  });
  await expect(start).rejects.toThrow(
    /^SECRETS_KEY: the secret of acme cannot be decrypted: it was encrypted with key/,
  );
});
