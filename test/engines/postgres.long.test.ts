import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BuiltService } from '../process/built-service.js';
import { DatabaseProxy } from '../world/database-proxy.js';
import { until } from '../world/patience.js';
import { Load } from './load.js';
import { BINARIES, PostgresServer } from './postgres-server.js';

const CREATE_DATABASE = `CREATE DATABASE croupier TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`;
/** Transactions before each fault, and after it. */
const SOME = 60;

describe.skipIf(BINARIES === undefined)('PostgreSQL under load', () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  /** The address that follows the primary, as a virtual address or HAProxy is in production. */
  let address: DatabaseProxy;
  let service: BuiltService;
  let load: Load | undefined;
  beforeAll(async () => {
    primary = await PostgresServer.create();
    await primary.run(CREATE_DATABASE);
    standby = await primary.addStandby();
    address = await DatabaseProxy.start(primary.url('croupier'));
    service = await BuiltService.create({ DATABASE_URL: address.url });
  }, 120_000);
  afterEach(() => load?.stop());
  afterAll(async () => {
    await (service as BuiltService | undefined)?.remove();
    await (address as DatabaseProxy | undefined)?.stop();
    await primary.remove();
    await standby.remove();
  });

  const said = (words: string) => service.logged(words).length;
  const readiness = async () => {
    const response = await fetch(`${service.url}/health/ready`);
    return { status: response.status, json: (await response.json()) as object };
  };

  /** Plays before, during and after the fault, and bounds the longest time without an approved transaction. */
  async function playThrough(
    name: string,
    fault: (noticed: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const [lost, back] = [said('PostgreSQL cannot be read'), said('PostgreSQL can be read again')];
    load = new Load([service]);
    await load.more(SOME);
    const began = performance.now();
    await fault(() => until(async () => said('PostgreSQL cannot be read') > lost));
    const healedMs = performance.now() - began;
    await load.more(SOME);
    await load.stop();
    expect(service.exitCode).toBeNull();
    await load.check();
    const gapMs = load.longestGapMs;
    console.log(
      `${name}: no answer for ${gapMs} ms, of which PostgreSQL was unavailable for ${Math.round(healedMs)} ms; ` +
        `${load.approved} transactions, ${JSON.stringify(Object.fromEntries(load.retryable))}`,
    );
    expect(gapMs).toBeLessThan(healedMs + 10_000);
    await until(async () => said('PostgreSQL can be read again') > back);
    expect(said('PostgreSQL cannot be read') - lost).toBe(1);
    expect(said('PostgreSQL can be read again') - back).toBe(1);
  }

  test.each([
    ['fast restart', 'SIGINT'],
    ['immediate restart', 'SIGQUIT'],
    ['crash', 'SIGKILL'],
  ] as const)(
    'continues after a %s (%s)',
    async (name, signal) => {
      await playThrough(name, async (noticed) => {
        await primary.end(signal);
        await noticed();
        // One check may see the server in its last moment, and the next one no longer.
        const checks = { database: 'down', migrations: 'unknown', tenants: 'up' };
        const lost = { status: 503, json: { status: 'unavailable', checks } };
        await until(async () => isDeepStrictEqual(await readiness(), lost));
        await primary.start();
      });
      await until(async () => (await readiness()).status === 200);
    },
    90_000,
  );

  test('continues after a fail-over to the synchronous standby', async () => {
    await playThrough('fail-over', async (noticed) => {
      await primary.end('SIGKILL');
      await noticed();
      await standby.promote();
      address.pointTo(standby.url('croupier'));
    });
  }, 120_000);

  test('refuses a server that is a standby', async () => {
    const replica = await standby.addStandby();
    try {
      await expect(BuiltService.create({ DATABASE_URL: replica.url('croupier') })).rejects.toThrow(
        'DATABASE_URL: the server is a standby, which can only be read',
      );
    } finally {
      await standby.run(`ALTER SYSTEM RESET synchronous_standby_names`);
      await standby.run('SELECT pg_reload_conf()');
      await replica.remove();
    }
  }, 120_000);
});
