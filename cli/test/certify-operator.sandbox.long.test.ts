import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CounterpartServer } from '../../src/sandbox/counterpart.server.js';
import { OperatorWalletServer } from '../../src/sandbox/operator-wallet.server.js';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { command } from './support/command.js';

const SECRET = 'the operator’s secret';
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let wallet: CounterpartServer;

beforeAll(async () => {
  folder = await temporaryFolder();
  const log = () => undefined;
  wallet = await OperatorWalletServer.start({
    tenantId: 'sandbox-operator',
    folder: folder.path,
    port: 0,
    log,
  });
  wallet.trust(SECRET);
});

afterAll(async () => {
  await wallet.stop();
  await folder.remove();
});

function certify(...options: string[]) {
  const args = [
    'certify-operator',
    '--url',
    wallet.baseUrl,
    '--tenant',
    'sandbox-operator',
    '--slow-ms',
    '20',
  ];
  const players = ['--player', 'player-1', '--other-player', 'player-2', '--unknown-player', 'unknown-1'];
  const accounts = [...players, '--other-currency', 'USD', '--patience-seconds', '0'];
  return command([...args, ...accounts, ...options], { secret: SECRET });
}

test("the sandbox operator's wallet is certified, with only restarts skipped and 500 calls measured", async () => {
  const json = join(folder.path, 'report.json');
  const html = join(folder.path, 'certificate.html');
  const junit = join(folder.path, 'junit.xml');
  const { status, printed } = await certify('--json', json, '--html', html, '--junit', junit);
  expect(printed).toContain('The integration is certified. Restarts were not tested.');
  expect(status).toBe(0);
  const report = JSON.parse(await readFile(json, 'utf8')) as {
    certification: string;
    walletBaseUrl: string;
    certified: boolean;
    cases: { id: string; outcome: string; latencies?: { call: string; count: number; p99Ms: number }[] }[];
  };
  expect(report).toMatchObject({
    certification: 'certify-operator',
    walletBaseUrl: wallet.baseUrl,
    certified: true,
    restartsTested: false,
  });
  expect(report.cases.length).toBeGreaterThanOrEqual(200);
  const unpassed = report.cases.filter(({ outcome }) => outcome !== 'passed');
  expect(unpassed.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['restart-keeps-bookings', 'skipped'],
    ['restart-during-calls', 'skipped'],
  ]);
  const latencies = report.cases.find(({ id }) => id === 'latency')?.latencies ?? [];
  expect(latencies.map(({ call, count }) => [call, count])).toEqual([
    ['balance', 100],
    ['BET', 200],
    ['WIN', 100],
    ['ROLLBACK', 100],
    ['all', 500],
  ]);
  const page = await readFile(html, 'utf8');
  expect(page).toContain('<h2>Latency</h2>');
  expect(page).toContain('The integration is certified. Restarts were not tested.');
  expect(await readFile(junit, 'utf8')).toMatch(
    /name="restart-keeps-bookings: [^>]*>\s*<skipped message="[^"]*--restart-command"\/>/,
  );
  for (const path of [json, html]) {
    const verified = await command(['verify-certificate', path]);
    expect(verified.printed).toMatch(/Result +certified\n +Restarts +not tested/);
    expect(verified.status).toBe(0);
  }
  await writeFile(json, (await readFile(json, 'utf8')).replace(/("restartsTested": )false/, '$1true'));
  expect(await command(['verify-certificate', json])).toMatchObject({ status: 1 });
});

test('without the other players, cases are skipped and the verdict says so', async () => {
  const args = ['certify-operator', '--url', wallet.baseUrl, '--tenant', 'sandbox-operator'];
  const { status, printed } = await command(
    [...args, '--player', 'player-3', '--slow-ms', '20', '--calls', '5', '--patience-seconds', '0'],
    {
      secret: SECRET,
    },
  );
  expect(printed).toContain('0 failed, 0 blocked by a failure, 24 skipped');
  expect(printed).toContain('The integration is certified except for the skipped cases.');
  expect(status).toBe(0);
});

test.each([
  [[], '--url is missing'],
  [['--url', 'http://x'], '--tenant is missing'],
  [['--url', 'http://x', '--tenant', 'x'], '--player is missing'],
  [['--url', 'http://x', '--tenant', 'x', '--player', 'x', '--currency', 'eur'], '--currency must be three'],
  [['--url', 'http://x', '--tenant', 'x', '--player', 'x', '--stake-minor', '0'], '--stake-minor must be'],
  [['--player', 'x', '--other-player', 'x'], '--other-player must differ from --player'],
  [['--player', 'x', '--unknown-player', 'x'], '--unknown-player must differ from --player'],
  [['--other-player', 'x', '--unknown-player', 'x'], '--unknown-player must differ from --other-player'],
  [['--currency', 'EUR', '--other-currency', 'EUR'], '--other-currency must differ from --currency'],
])('%j cannot be carried out', async (args, sentence) => {
  const { status, complained } = await command(['certify-operator', ...args], { secret: 'x' });
  expect(complained).toContain(sentence);
  expect(status).toBe(2);
});
