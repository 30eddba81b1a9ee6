import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { proveAudit } from '../../src/commands/audit-verify.js';
import { migrateDatabase, previewMigrations } from '../../src/commands/migrate.js';
import { makeMonthsAhead } from '../../src/commands/partitions.js';
import { reEncryptSecrets } from '../../src/commands/re-encrypt.js';
import { connectDataSource } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import { Randomness } from '../../src/runtime/randomness.js';
import { createTestDatabase } from '../world/database.js';
import { SqlConsole } from '../world/sql-console.js';
import { startApplication, startWorld, type World } from '../world/world.js';

const KEYS = { secretsKey: Buffer.alloc(32, 'test') };

/** Roles belong to the whole server, so each run gives them names of its own. */
const suffix = new Randomness().bytes(6).toString('hex');
const OWNER = `croupier_owner_${suffix}`;
const SERVICE = `croupier_service_${suffix}`;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let administrator: SqlConsole;
let owner: SqlConsole;
let service: SqlConsole;

beforeAll(async () => {
  database = await createTestDatabase();
  administrator = SqlConsole.open(database.url);
  // A repetition changes nothing.
  for (let run = 0; run < 2; run += 1) await administrator.run(await shipped('roles'));
  for (const role of [OWNER, SERVICE]) await administrator.run(`ALTER ROLE ${role} PASSWORD 'test'`);
  owner = SqlConsole.open(urlOf(OWNER));
  service = SqlConsole.open(urlOf(SERVICE));
});

afterAll(async () => {
  for (const console of [owner, service, administrator]) await console.close();
  await database.drop();
  const server = SqlConsole.open(inject('databaseUrl'));
  await server.run(`DROP ROLE ${OWNER}, ${SERVICE}`);
  await server.close();
});

/** The shipped file, with other names of the roles. */
async function shipped(name: string): Promise<string> {
  const sql = await readFile(new URL(`../../ops/sql/${name}.sql`, import.meta.url), 'utf8');
  return sql.replaceAll(/\bcroupier_owner\b/g, OWNER).replaceAll(/\bcroupier_service\b/g, SERVICE);
}

function urlOf(role: string): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = 'test';
  return url.href;
}

const storage = (url: string) => ({ databaseUrl: url, dataDir: '/nowhere' });

describe('with the roles of ops/sql', () => {
  let world: World;
  const said: string[] = [];
  const prove = () => proveAudit({ ...storage(urlOf(SERVICE)), ...KEYS }, undefined, () => undefined);
  const start = () => startApplication({ DATABASE_URL: urlOf(SERVICE) }, world.clock);

  test('the service does not start before the owner has migrated, and reports in one line what to do', async () => {
    world = await startWorld();
    const refusal =
      /^DATABASE_URL: the schema cannot be brought up to date: this role may not change it: run npm run migrate with the owner's DATABASE_URL first, then ops\/sql\/grants\.sql \(permission denied.*\)$/;
    await expect(start()).rejects.toThrow(refusal);
    await migrateDatabase(storage(urlOf(OWNER)), (line) => said.push(line));
    expect(said.at(-1)).toBe('The schema is up to date.');
    expect(said).toContain('Ran migration AuditSeals1764000000008.');
    await expect(start()).rejects.toThrow(refusal);
    await expect(prove()).rejects.toThrow(
      /^DATABASE_URL: this role lacks a right: run ops\/sql\/grants\.sql with the owner's DATABASE_URL first \(permission denied.*\)$/,
    );
    await owner.run(await shipped('grants'));

    await owner.run(`DELETE FROM migrations WHERE name = 'AuditSeals1764000000008'`);
    await expect(start()).rejects.toThrow(refusal);
    await owner.run(
      `INSERT INTO migrations (timestamp, name) VALUES (1764000000008, 'AuditSeals1764000000008')`,
    );
    await world.stop();
  });

  test.each([
    ['partitions', () => makeMonthsAhead(storage(urlOf(SERVICE)), 24, () => undefined)],
    ['migrate --dry-run', () => previewMigrations(storage(urlOf(SERVICE)), () => undefined)],
  ])("%s, which needs the owner's rights, says so", async (_, run) => {
    await owner.run(`REVOKE SELECT ON migrations FROM ${SERVICE}`);
    await expect(run()).rejects.toThrow(
      /^DATABASE_URL: this role lacks a right: run it with the owner's DATABASE_URL \(permission denied.*\)$/,
    );
    await owner.run(await shipped('grants'));
  });

  test('a second run of the owner changes nothing', async () => {
    said.length = 0;
    await migrateDatabase(storage(urlOf(OWNER)), (line) => said.push(line));
    expect(said).toEqual(['The schema is up to date.']);
    await owner.run(await shipped('grants'));
  });

  test('the service does its work, and so do the commands beside it', async () => {
    world = await startWorld({ DATABASE_URL: urlOf(SERVICE) });
    try {
      expect((await world.request('/health/ready')).status).toBe(200);
      const session = await world.launch();
      for (const kind of ['BET', 'WIN']) {
        expect((await world.submit(world.transaction(session, kind))).json).toMatchObject({
          status: 'APPROVED',
        });
      }
      expect((await world.revoke(session.sessionId)).status).toBe(200);
      const rotate = '/v1/admin/providers/spinwell/secret/rotate';
      expect((await world.admin('POST', rotate, { overlapSeconds: 0 })).status).toBe(200);
      expect((await world.admin('GET', '/v1/admin/audit')).status).toBe(200);

      await reEncryptSecrets(storage(urlOf(SERVICE)), KEYS, () => undefined);
      expect(await prove()).toBe(0);
    } finally {
      await world.stop();
    }
  });

  test('a readiness check that may not read the migrations keeps no connection', async () => {
    const dataSource = await connectDataSource(urlOf(SERVICE));
    try {
      const checked = new Database(dataSource);
      await owner.run(`REVOKE SELECT ON migrations FROM ${SERVICE}`);
      // More often than the pool has connections.
      for (let times = 0; times < 25; times += 1) expect(await checked.isMigrated()).toBe(false);
      await owner.run(await shipped('grants'));
      expect(await checked.isMigrated()).toBe(true);
    } finally {
      await dataSource.destroy();
    }
  });

  test.each([
    'UPDATE audit_entries SET actor = $$nobody$$',
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
    'DELETE FROM audit_entries_so_far',
    'UPDATE audit_entries_default SET actor = $$nobody$$',
    'INSERT INTO audit_entries_so_far (actor) VALUES ($$nobody$$)',
    'DELETE FROM callbacks_default',
    'UPDATE audit_seals SET number = 1',
    'DELETE FROM audit_seals',
    'TRUNCATE audit_seals',
    'DELETE FROM migrations',
  ])("the service's role may not: %s", async (statement) => {
    await expect(service.run(statement)).rejects.toThrow('permission denied');
  });

  test.each([
    'ALTER TABLE audit_entries DISABLE TRIGGER USER',
    'ALTER TABLE audit_seals DISABLE TRIGGER USER',
    'DROP TABLE audit_seals',
    'CREATE OR REPLACE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
    'SET session_replication_role = replica',
    'CREATE TABLE mine (id integer)',
  ])("the service's role owns no table, so it may not: %s", async (statement) => {
    await expect(service.run(statement)).rejects.toThrow(/must be owner|permission denied/);
  });

  test('the service may use a table of a later migration', async () => {
    await owner.run('CREATE TABLE later (id bigint GENERATED ALWAYS AS IDENTITY, text text)');
    await service.run(`INSERT INTO later (text) VALUES ('x')`);
    await service.run(`UPDATE later SET text = 'y'`);
    expect(await service.run('DELETE FROM later RETURNING text')).toEqual([{ text: 'y' }]);
  });
});
