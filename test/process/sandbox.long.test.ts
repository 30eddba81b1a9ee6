import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startExpress } from '../../sdk/examples/express.js';
import { FAULTS } from '../../src/sandbox/faults/faults.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { until } from './built-service.js';
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

function run(file: string, args: string[], environment: Record<string, string> = {}) {
  return new Promise<{ status: number; output: string }>((resolve) => {
    const env = { ...process.env, DATA_DIR: folder.path, ...environment };
    const child = execFile(process.execPath, [file, ...args], { env }, (_, stdout, stderr) => {
      resolve({ status: child.exitCode ?? -1, output: stdout + stderr });
    });
  });
}

test('a round is played', async () => {
  const { status, output } = await run('dist/sandbox/round.js', []);
  expect(output).toContain('The round was played');
  expect(status).toBe(0);
});

test('a round with every fault is played and explained', async () => {
  const { status, output } = await run('dist/sandbox/round.js', ['--faults']);
  expect(output).toContain('The balance at the end');
  expect(status).toBe(0);
  for (const { does } of Object.values(FAULTS)) expect(output).toContain(does);
  expect(output.match(/^ {2}→ /gm)?.length).toBeGreaterThan(10);
});

test('an option that does not exist is refused', async () => {
  const { status, output } = await run('dist/sandbox/round.js', ['--fault']);
  expect([status, output]).toEqual([1, expect.stringContaining('There is no option --fault')]);
});

test('a newcomer registers a server, certifies it and launches a session, only with printed commands', async () => {
  const cli = 'sdk/bin/croupier-provider.js';
  const sandbox = ['--sandbox', join(folder.path, 'sandbox/sandbox.json')];
  const address = ['--webhook-base-url', 'http://127.0.0.1:4000/rgs'];
  const registered = await run(cli, ['register', ...address, ...sandbox]);
  expect(registered).toMatchObject({
    status: 0,
    output: expect.stringContaining('my-provider is registered'),
  });
  const secret = /CROUPIER_SECRET='([^']+)'/.exec(registered.output)?.[1] ?? '';

  const running = await startExpress({ tenantId: 'my-provider', secret, port: 0 });
  try {
    const moved = await run(cli, ['register', '--webhook-base-url', running.url, ...sandbox]);
    expect(moved).toMatchObject({ status: 0, output: expect.stringContaining('Its secret stays') });
    const [, command = ''] = /croupier-provider (certify .*)/.exec(moved.output) ?? [];
    const certified = await run(cli, command.split(' '), { CROUPIER_SECRET: secret });
    expect(certified).toMatchObject({
      status: 0,
      output: expect.stringContaining('The integration is certified'),
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

test('without a sandbox the commands say how to start one', async () => {
  const args = ['launch', '--sandbox', join(folder.path, 'nothing.json')];
  const { status, output } = await run('sdk/bin/croupier-provider.js', args);
  expect([status, output]).toEqual([2, expect.stringContaining('start the platform with npm start')]);
});
