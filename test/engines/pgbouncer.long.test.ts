import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { migrateDatabase } from '../../src/commands/migrate.js';
import { BuiltService } from '../process/built-service.js';
import { runAt } from '../world/database.js';
import { alter, HOSTILE_SETTINGS, HOSTILE_TIMEOUTS, IRRELEVANT_SETTINGS } from '../world/hostile-settings.js';
import { ended, launch } from '../process/launch.js';
import { until } from '../world/patience.js';
import { Load } from './load.js';
import { BINARIES, PgBouncer, POOL_MODES, type PoolMode, PostgresServer } from './postgres-server.js';

const ADMIN_API_KEY = 'admin-key-of-the-process-tests-01234567';
const SECRETS_KEY = Buffer.alloc(32, 'process').toString('base64');
const SERVICE = 'croupier_service';
const GROUP_COMMIT = 'croupier_group_commit';
const WARNING = 'group commit runs without its connection settings';

// A PgBouncer before 1.21 does not keep named statements in transaction mode.
const MODES = ['session', 'transaction'] as const satisfies readonly PoolMode[];

describe.each(MODES)('behind PgBouncer', (mode) => {
  describe.skipIf(BINARIES === undefined || !POOL_MODES.includes(mode))(`in ${mode} mode`, () => {
    let server: PostgresServer;
    let bouncer: PgBouncer;
    let service: BuiltService;
    beforeAll(async () => {
      server = await PostgresServer.create();
      await server.run('CREATE DATABASE croupier');
      const script = (name: string) => readFileSync(`ops/sql/${name}.sql`, 'utf8');
      await runAt(server.url('croupier'), script('roles'));
      // A repetition changes nothing.
      for (let run = 0; run < 2; run += 1) await runAt(server.url('croupier'), script('pgbouncer'));
      // The roles' settings override those of the database.
      await alter(server.url(), 'DATABASE croupier', { ...IRRELEVANT_SETTINGS, ...HOSTILE_SETTINGS });
      const owner = server.url('croupier', 'croupier_owner');
      // Migrations bypass PgBouncer, with the owner's role.
      await migrateDatabase({ databaseUrl: owner, dataDir: 'unused' }, () => undefined);
      await runAt(owner, script('grants'));
      await alter(server.url(), 'DATABASE croupier', HOSTILE_TIMEOUTS);
      bouncer = await PgBouncer.start(server, mode, 'croupier', [SERVICE, GROUP_COMMIT]);
      service = await BuiltService.create({
        DATABASE_URL: bouncer.url('croupier', SERVICE),
        GROUP_COMMIT_DATABASE_URL: bouncer.url('croupier', GROUP_COMMIT),
      });
    }, 120_000);
    afterAll(async () => {
      await (service as BuiltService | undefined)?.remove();
      await (bouncer as PgBouncer | undefined)?.stop();
      await server.remove();
    });

    /** A setting of a connection through PgBouncer. */
    const setting = async (role: string, name: string) => {
      const rows = await runAt<Record<string, string>>(bouncer.url('croupier', role), `SHOW ${name}`);
      return rows[0]?.[name];
    };

    test('serves requests, and continues after a restart of PostgreSQL under load', async () => {
      const load = new Load([service]);
      await load.more(60);
      await server.end('SIGINT');
      await server.start();
      await load.more(60);
      await load.stop();
      await load.check();
      console.log(`behind PgBouncer in ${mode} mode, restart: no answer for ${load.longestGapMs} ms`);
      expect(service.exitCode).toBeNull();
      expect(service.logged(WARNING)).toEqual([]);
    }, 120_000);

    test('keeps the settings of group commit apart from all others', async () => {
      expect(await setting(GROUP_COMMIT, 'plan_cache_mode')).toBe('force_generic_plan');
      expect(await setting(GROUP_COMMIT, 'statement_timeout')).toBe('2s');
      expect(await setting(SERVICE, 'enable_seqscan')).toBe('on');
      expect(await setting(SERVICE, 'lock_timeout')).toBe('0');
      expect(await setting(SERVICE, 'statement_timeout')).toBe('10s');
      const rows = await server.run<{ usename: string }>(
        `SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name = 'croupier-group-commit'`,
      );
      expect(rows).toEqual([{ usename: GROUP_COMMIT }]);
    });

    describe('a setting of the role that differs', () => {
      const NAME = 'default_transaction_isolation';
      const WRONG = `ROLE ${SERVICE} IN DATABASE croupier`;
      const remedy = () => runAt(server.url(), `ALTER ${WRONG} RESET ${NAME}`);
      /** Ends the connections of PgBouncer, so that it opens new ones. */
      const reconnect = () =>
        runAt(
          server.url(),
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('${SERVICE}', '${GROUP_COMMIT}')`,
        );
      const readiness = async () => {
        const response = await fetch(`${service.url}/health/ready`);
        const { checks } = (await response.json()) as { checks: { settings?: string[] } };
        return { code: response.status, settings: checks.settings };
      };
      beforeEach(() => alter(server.url(), WRONG, { [NAME]: 'serializable' }));
      afterEach(async () => {
        await remedy();
        await reconnect();
      });

      test('makes the service not ready, and is named', async () => {
        await reconnect();
        await until(async () => (await readiness()).settings?.includes(NAME) ?? false);
        expect((await readiness()).code).toBe(503);
        await remedy();
        await reconnect();
        await until(async () => (await readiness()).code === 200);
        expect((await readiness()).settings).toBeUndefined();
        expect(service.logged('connections to PostgreSQL have other settings')).toHaveLength(1);
      }, 120_000);

      test.each([
        ['the service', 'dist/main.js', 1],
        ['a command', 'dist/commands/partitions.js', 2],
      ])(
        'ends the start of %s with one line that names it',
        async (_, main, status) => {
          await reconnect();
          const starting = launch(
            { DATABASE_URL: bouncer.url('croupier', SERVICE), ADMIN_API_KEY, SECRETS_KEY, PORT: '0' },
            'pipe',
            main,
          );
          expect(await ended(starting)).toBe(status);
          expect(starting.lines).toEqual([
            expect.stringContaining(`${NAME} is 'serializable' and must be 'read committed'`),
          ]);
        },
        60_000,
      );
    });

    test('serves requests without a role for group commit, and warns about it', async () => {
      await service.end('SIGTERM');
      await service.start({ DATABASE_URL: bouncer.url('croupier', SERVICE) });
      const load = new Load([service]);
      await load.more(30);
      await load.stop();
      await load.check();
      expect(service.logged(WARNING)).toHaveLength(1);
    }, 120_000);

    test('does not start with a role for group commit that cannot connect', async () => {
      await service.end('SIGTERM');
      const environment = {
        DATABASE_URL: bouncer.url('croupier', SERVICE),
        GROUP_COMMIT_DATABASE_URL: bouncer.url('croupier', 'nobody'),
      };
      await expect(service.start(environment)).rejects.toThrow(
        /^croupier does not start: GROUP_COMMIT_DATABASE_URL: the database cannot be opened: /m,
      );
    }, 120_000);
  });
});
