import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { previewMigrations } from '../../src/commands/migrate.js';
import { previewSecrets, reEncryptSecrets } from '../../src/commands/re-encrypt.js';
import { createTestDatabase, runAt, type TestDatabase } from '../world/database.js';
import { startWorld } from '../world/world.js';

const PROGRAMS = {
  start: 'dist/main.js',
  round: 'dist/demo/round.js',
  migrate: 'dist/commands/migrate.js',
  partitions: 'dist/commands/partitions.js',
  'audit:verify': 'dist/commands/audit-verify.js',
  'audit:archive': 'dist/commands/audit-archive.js',
  'secrets:re-encrypt': 'dist/commands/re-encrypt.js',
  reconcile: 'dist/commands/reconcile.js',
};

const TABLES = `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`;

let database: TestDatabase;
beforeAll(async () => (database = await createTestDatabase()));
afterAll(() => database.drop());

/** Runs a program with everything that it needs to run. */
async function run(program: string, args: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      ADMIN_API_KEY: 'admin-key-of-the-process-tests-01234567',
      SECRETS_KEY: Buffer.alloc(32, 'process').toString('base64'),
      HOST: '127.0.0.1',
      PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { status: child.exitCode, output, errors };
}

describe.each(Object.entries(PROGRAMS))('%s', (name, program) => {
  test.each([['--help'], ['-h'], ['--help', '--unknown']])('prints its help with %s %s', async (...args) => {
    const { status, output, errors } = await run(program, args.filter(Boolean));
    expect([status, errors]).toEqual([0, '']);
    expect(output).toContain(name === 'start' ? 'npm start' : `npm run ${name}`);
    expect(await runAt(database.url, TABLES)).toEqual([]);
  });

  test.each([['--unknown'], ['stray'], ['-x']])('refuses %s in one line', async (argument) => {
    const { status, output, errors } = await run(program, [argument]);
    expect([status, output]).toEqual([2, '']);
    expect(errors).toMatch(new RegExp(`^${name}: [^\\n]*${argument}[^\\n]*\\n$`));
    expect(await runAt(database.url, TABLES)).toEqual([]);
  });
});

test.each([
  ['migrate', 'dry-run', 'dry_run', 'true'],
  ['secrets:re-encrypt', 'dry-run', 'dry_run', 'true'],
  ['reconcile', 'record', 'record', 'true'],
  ['partitions', 'months', 'months', '12'],
  ['audit:verify', 'archive', 'archive', 'x'],
  ['audit:verify', 'head', 'heading', '2026-01-01/1/ab'],
] as const)(
  'npm run %s --%s is refused, because npm keeps the option for itself',
  async (name, option, config, value) => {
    const byNpm = { npm_lifecycle_event: name, [`npm_config_${config}`]: value };
    const { status, output, errors } = await run(PROGRAMS[name], [], byNpm);
    expect([status, output]).toEqual([2, '']);
    expect(errors).toMatch(new RegExp(`^${name}: npm has kept --${option} for itself: [^\n]+\n$`));
    expect(await runAt(database.url, TABLES)).toEqual([]);
  },
);

test("npm's default heading, and a setting of an option that is given, are not refused", async () => {
  const byNpm = { npm_lifecycle_event: 'audit:verify', npm_config_heading: 'npm', npm_config_archive: 'x' };
  const { status, errors } = await run(PROGRAMS['audit:verify'], ['--archive=y', '--head=bad'], byNpm);
  expect([status, errors]).toEqual([
    2,
    'audit:verify: --head: must be DAY/POSITION/HASH; see npm run audit:verify -- --help\n',
  ]);
});

test('npm run audit:verify --head does not verify without the head', async () => {
  const args = ['run', '--silent', 'audit:verify', '--head', '2026-01-01/1/ab'];
  const child = spawn('npm', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(child, 'close');
  expect(await text(child.stderr)).toMatch(/^audit:verify: npm has kept --head for itself: /m);
  await closed;
  expect(child.exitCode).toBe(2);
});

test('npm start -- --help starts and builds nothing', async () => {
  const child = spawn('npm', ['start', '--silent', '--', '--help'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  expect(await text(child.stdout)).toMatch(/^npm start, or node dist\/main\.js\n/);
  await closed;
  expect(child.exitCode).toBe(0);
});

test.runIf(process.platform === 'linux')(
  'a report that cannot be written completely is a failure',
  async () => {
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [PROGRAMS.migrate, '--help'], {
      stdio: ['ignore', full.fd, 'pipe'],
    });
    const closed = once(child, 'close');
    expect(await text(child.stderr!)).toBe('migrate: ENOSPC: no space left on device, write\n');
    await closed;
    expect(child.exitCode).toBe(2);
    await full.close();
  },
);

test('a reader that has seen enough is no failure', async () => {
  const child = spawn(process.execPath, [PROGRAMS.migrate, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const closed = once(child, 'close');
  expect(await text(child.stderr)).toBe('');
  await closed;
  expect(child.exitCode).toBe(0);
});

const RECONCILE = [
  '--operator=a',
  '--from=2026-01-01',
  '--to=2026-01-02',
  '--statement=package.json',
  `--report=${join(tmpdir(), 'findings.csv')}`,
];
test.each([
  ['migrate', []],
  ['migrate', ['--dry-run']],
  ['partitions', []],
  ['audit:verify', []],
  ['audit:archive', ['--before=2026-01', '--to=/nowhere']],
  ['audit:archive', ['--detach=/nowhere']],
  ['secrets:re-encrypt', []],
  ['secrets:re-encrypt', ['--dry-run']],
  ['reconcile', RECONCILE],
] as const)('%s %j names DATABASE_URL if it cannot open the database', async (name, args) => {
  const closed = {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    SECRETS_KEY: randomBytes(32).toString('base64'),
  };
  expect(await run(PROGRAMS[name], [...args], closed)).toEqual({
    status: 2,
    output: '',
    errors: `${name}: DATABASE_URL: the database cannot be opened: connect ECONNREFUSED 127.0.0.1:1\n`,
  });
});

describe('--dry-run', () => {
  test('of migrate names the pending migrations of an empty database, and changes nothing', async () => {
    const { status, output } = await run(PROGRAMS.migrate, ['--dry-run']);
    const lines = output.trimEnd().split('\n');
    expect(status).toBe(0);
    expect(lines[0]).toBe('Would run migration Foundation1764000000001.');
    expect(lines.at(-1)).toBe('Nothing was changed.');
    expect(await runAt(database.url, TABLES)).toEqual([]);
  });

  test('of both commands says what the commands would do', async () => {
    const world = await startWorld();
    try {
      const storage = { databaseUrl: world.databaseUrl, dataDir: 'unused' };
      const said: string[] = [];
      const print = (line: string) => void said.push(line);
      await previewMigrations(storage, print);
      await world.sql.run("DELETE FROM migrations WHERE name = 'GrantsByTime1764000000023'");
      await previewMigrations(storage, print);
      expect(said.splice(0)).toEqual([
        'The schema is up to date.',
        'Would run migration GrantsByTime1764000000023.',
        'Nothing was changed.',
      ]);

      const stored = () =>
        world.sql.run(`SELECT (SELECT count(*)::int FROM audit_entries) AS entries,
          (SELECT string_agg(sealed_secret, ',' ORDER BY id) FROM tenants) AS secrets`);
      const before = await stored();
      const [secretsKeyPrevious, secretsKey] = [Buffer.alloc(32, 'test'), Buffer.alloc(32, 'new key')];
      await expect(previewSecrets(storage, { secretsKey }, print)).rejects.toThrow('its seal was made');
      await previewSecrets(storage, { secretsKey, secretsKeyPrevious }, print);
      expect(await stored()).toEqual(before);
      await reEncryptSecrets(storage, { secretsKey, secretsKeyPrevious }, print);
      await previewSecrets(storage, { secretsKey, secretsKeyPrevious }, print);
      expect(said).toEqual([
        expect.stringMatching(/^Would re-encrypt the secrets of 4 of 4 tenants with key \w+\.$/),
        'Nothing was changed.',
        expect.stringContaining('Re-encrypted the secrets of 4 of 4 tenants'),
        expect.stringMatching(/^Would re-encrypt the secrets of 0 of 4 tenants/),
        'Nothing was changed.',
      ]);
    } finally {
      await world.stop();
    }
  });
});
