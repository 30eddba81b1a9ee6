import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExpress } from '../../sdk/examples/express.js';
import { FAULTS } from '../../src/sandbox/faults/faults.js';
import { PlatformClient } from '../../src/sandbox/platform-client.js';
import { readSandboxFile, type SandboxFile, sandboxFileIn } from '../../src/sandbox/sandbox-file.js';
import { createTestDatabase } from '../world/database.js';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { launch, type Launched } from './launch.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: Launched;

beforeAll(async () => {
  folder = await temporaryFolder();
  const environment = { DATA_DIR: folder.path, PORT: '0', SANDBOX: 'true', OPERATOR_TIMEOUT_MS: '3000' };
  service = launch(environment);
  await until(async () => service.lines.some((line) => line.includes('npm run round')));
});

afterAll(async () => {
  service.process.kill('SIGTERM');
  await until(async () => service.process.exitCode !== null);
  await folder.remove();
});

function run(
  file: string,
  args: string[],
  environment: Record<string, string> = {},
  onOutput: (text: string) => void = () => undefined,
) {
  return new Promise<{ status: number; output: string }>((resolve) => {
    const env = { ...process.env, DATA_DIR: folder.path, ...environment };
    const child = execFile(process.execPath, [file, ...args], { env }, (_, stdout, stderr) => {
      resolve({ status: child.exitCode ?? -1, output: stdout + stderr });
    });
    child.stdout?.on('data', onOutput);
  });
}

test('a round is played', async () => {
  const { status, output } = await run('dist/demo/round.js', []);
  expect(output).toContain('The round was played');
  expect(status).toBe(0);
  for (const shown of ['"jurisdiction": "MT"', '"realityCheckSeconds": 3600', '"STAKE_ABOVE_LIMIT"'])
    expect(output).toContain(shown);
  expect(output).toMatch(/"winKind": "PROMOTION",\s+"promotionRef": "[\w-]+"/);
  expect(output).toMatch(
    /"roundDetailsUrl": "https:\/\/games\.example\/rounds\/\w{8}-1\?player=player-\w{8}"/,
  );
});

test('a round with every fault is played and explained', async () => {
  const { status, output } = await run('dist/demo/round.js', ['--faults']);
  expect(output).toContain('The balance at the end');
  expect(status).toBe(0);
  for (const { does } of Object.values(FAULTS)) expect(output).toContain(does);
  expect(output.match(/^ {2}→ /gm)?.length).toBeGreaterThan(10);
});

test('faults are refused while the operator has another wallet', async () => {
  const file = await readSandboxFile(sandboxFileIn(join(folder.path, 'sandbox')));
  const { apiUrl, adminApiKey, walletUrl } = file!;
  const moveTo = (walletBaseUrl: string) =>
    new PlatformClient(apiUrl).asAdmin(adminApiKey, 'PATCH', '/v1/admin/operators/sandbox-operator', {
      walletBaseUrl,
    });
  await moveTo('http://127.0.0.1:9/wallet');
  const { status, output } = await run('dist/demo/round.js', ['--faults']);
  await moveTo(walletUrl);
  expect(output).toMatch(
    /^--faults needs the sandbox's wallet, .* has the walletBaseUrl http:\/\/127\.0\.0\.1:9\/wallet: /m,
  );
  expect(status).toBe(1);
});

test('an option that does not exist is refused', async () => {
  const { status, output } = await run('dist/demo/round.js', ['--fault']);
  expect([status, output]).toEqual([2, expect.stringContaining("Unknown option '--fault'")]);
});

test('a newcomer registers a server, certifies it and launches a session, only with printed commands', async () => {
  const cli = 'cli/bin/croupier-provider.js';
  const sandbox = ['--sandbox', join(folder.path, 'sandbox/sandbox.json')];
  const address = ['--webhook-base-url', 'http://127.0.0.1:4000/rgs'];
  const registered = await run(cli, ['register', ...address, ...sandbox]);
  expect(registered).toMatchObject({
    status: 0,
    output: expect.stringContaining('my-provider is registered'),
  });
  const secret = /CROUPIER_SECRET='([^']+)'/.exec(registered.output)?.[1] ?? '';

  expect(await run(cli, ['register', ...address, '--tenant', 'rival', ...sandbox])).toMatchObject({
    status: 2,
    output: expect.stringContaining('The game my-game belongs to my-provider: choose another with --game.'),
  });

  const running = await startExpress({ tenantId: 'my-provider', secret, port: 0 });
  try {
    const moved = await run(cli, ['register', '--webhook-base-url', running.url, ...sandbox]);
    expect(moved).toMatchObject({ status: 0, output: expect.stringContaining('its secret is unchanged') });
    const [, command = ''] = /npx @croupier\/cli (certify .*)/.exec(moved.output) ?? [];
    const certified = await run(cli, command.split(' '), { CROUPIER_SECRET: secret });
    expect(certified).toMatchObject({
      status: 0,
      output: expect.stringContaining('The integration is certified'),
    });
    expect(certified.output).toContain(', 0 skipped');
    const [, printed = ''] = /npx @croupier\/cli (launch .*)/.exec(moved.output) ?? [];
    expect(await run(cli, printed.replaceAll("'", '').split(' '))).toMatchObject({
      status: 0,
      output: expect.stringContaining('A session of player-1 in my-game'),
    });
  } finally {
    await running.stop();
  }

  const launched = await run(cli, ['launch', '--json', ...sandbox]);
  expect(JSON.parse(launched.output)).toMatchObject({
    gameId: 'my-game',
    providerId: 'my-provider',
    mode: 'REAL',
  });
  expect(await run(cli, ['launch', '--demo', ...sandbox])).toMatchObject({
    status: 0,
    output: expect.stringMatching(/sessionToken {2}[\w-]{43}\n/),
  });
  const replaced = await run(cli, ['register', ...address, '--new-secret', ...sandbox]);
  expect(replaced.output).toMatch(/CROUPIER_SECRET='[^']+'/);
  expect(replaced.output).not.toContain(secret);
});

const END_OTHER_CONNECTIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

test('the outbox example continues its round after it was killed or lost its connection, and moves the money once', async () => {
  await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'sdk/examples']);
  const path = join(folder.path, 'sandbox/sandbox.json');
  const sandbox = JSON.parse(await readFile(path, 'utf8')) as SandboxFile;
  const session = ['--game', 'sandbox-slots', '--player', 'outbox-anna', '--sandbox', path];
  const { output } = await run('cli/bin/croupier-provider.js', ['launch', '--json', ...session]);
  const { sessionToken } = JSON.parse(output) as { sessionToken: string };
  const rules = [{ fault: 'book-and-stay-silent', on: 'BET', playerRefPrefix: 'outbox-' }];
  const faults = `${new URL(sandbox.walletUrl).origin}/sandbox/faults`;
  expect((await fetch(faults, { method: 'PUT', body: JSON.stringify({ rules }) })).status).toBe(200);

  const database = await createTestDatabase();
  const pool = new Pool({ connectionString: database.url });
  pool.on('error', () => undefined);
  try {
    const environment = {
      CROUPIER_URL: sandbox.apiUrl,
      CROUPIER_TENANT: sandbox.provider.id,
      CROUPIER_SECRET: sandbox.provider.secret,
      DATABASE_URL: database.url,
      SESSION_TOKEN: sessionToken,
    };
    const example = 'sdk/examples/dist/run-outbox.js';
    const killed = spawn(process.execPath, [example], { env: { ...process.env, ...environment } });
    await until(async () => {
      const { rows } = await pool
        .query<{ attempts: number }>('SELECT attempts FROM wallet_outbox')
        .catch(() => ({ rows: [] }));
      return rows[0]?.attempts === 1;
    });
    killed.kill('SIGKILL');
    let lost: Promise<unknown> | undefined;
    // While the example waits, its connection is idle.
    const continued = await run(example, [], environment, (text) => {
      if (text.includes('the next attempt is due later')) lost ??= pool.query(END_OTHER_CONNECTIONS);
    });
    await lost;
    expect(continued).toMatchObject({
      status: 0,
      output: expect.stringMatching(
        /open; the next attempt is due later[^]*BET DECIDED[^]*balance: 99750[^]*WIN DECIDED/,
      ),
    });
    const again = await run(example, [], environment);
    expect(again.output).toMatch(/BET DECIDED[^]*WIN DECIDED[^]*balance: 100150/);
    const { rows } = await pool.query<{ state: string; attempts: number }>(
      'SELECT state, attempts FROM wallet_outbox ORDER BY created_at',
    );
    expect(rows.map(({ state }) => state)).toEqual(['DECIDED', 'DECIDED']);
    // A busy machine may need a further attempt.
    expect(rows[0]?.attempts).toBeGreaterThan(1);
  } finally {
    await pool.end();
    await database.drop();
  }
}, 60_000);

test('without a sandbox the commands say how to start one', async () => {
  const args = ['launch', '--sandbox', join(folder.path, 'nothing.json')];
  const { status, output } = await run('cli/bin/croupier-provider.js', args);
  expect([status, output]).toEqual([2, expect.stringContaining('start the platform with npm start')]);
});
