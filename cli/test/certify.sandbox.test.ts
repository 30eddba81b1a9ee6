import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CounterpartServer } from '../../src/sandbox/counterpart.server.js';
import { PLAY_PATH, ProviderServer } from '../../src/sandbox/provider.server.js';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { command } from './support/command.js';

const SECRET = 'the provider’s secret';
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let provider: CounterpartServer;

beforeAll(async () => {
  folder = await temporaryFolder();
  const log = () => undefined;
  provider = await ProviderServer.start({ tenantId: 'sandbox-provider', folder: folder.path, port: 0, log });
  provider.trust(SECRET);
});

afterAll(async () => {
  await provider.stop();
  await folder.remove();
});

test('the sandbox provider is certified, with nothing skipped', async () => {
  const [junit, json, html] = ['junit.xml', 'report.json', 'certificate.html'].map((name) =>
    join(folder.path, name),
  ) as [string, string, string];
  const { status, printed } = await command(
    [
      'certify',
      '--webhook-base-url',
      provider.baseUrl,
      '--tenant',
      'sandbox-provider',
      '--play-path',
      PLAY_PATH,
      '--slow-ms',
      '20',
      '--patience-seconds',
      '0',
      '--junit',
      junit,
      '--json',
      json,
      '--html',
      html,
    ],
    { secret: SECRET },
  );
  const certified =
    'The integration is certified. Options that test less than their defaults: --patience-seconds 0, --slow-ms 20.';
  expect(printed).toContain(certified);
  expect(status).toBe(0);
  const report = JSON.parse(await readFile(json, 'utf8')) as {
    certified: boolean;
    digest: string;
    cases: { outcome: string }[];
  };
  expect(report).toMatchObject({
    certified: true,
    options: { calls: '100', 'timeout-ms': '10000', 'slow-ms': '20', 'patience-seconds': '0' },
    weakenedOptions: ['patience-seconds', 'slow-ms'],
  });
  expect(report.cases.length).toBeGreaterThanOrEqual(30);
  expect(new Set(report.cases.map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
  expect(await readFile(junit, 'utf8')).toContain(report.digest);
  expect(await readFile(junit, 'utf8')).toContain(`tests="${report.cases.length}" failures="0"`);
  const certificate = await readFile(html, 'utf8');
  for (const shown of [report.digest, certified, '--timeout-ms 10000', 'sandbox-provider', provider.baseUrl])
    expect(certificate).toContain(shown);
  for (const path of [json, html]) {
    const { printed: verified } = await command(['verify-certificate', path]);
    expect(verified).toMatch(/Options .*--timeout-ms 10000 --slow-ms 20/);
    expect(verified).toMatch(/Weakened by +--patience-seconds, --slow-ms\n/);
  }
  expect(certificate).not.toMatch(/<script|<link|src=|https:/);
});

test('a provider without a secret is not certified', async () => {
  const { status, printed } = await command(
    [
      'certify',
      '--webhook-base-url',
      provider.baseUrl,
      '--tenant',
      'sandbox-provider',
      '--slow-ms',
      '20',
    ].concat(['--patience-seconds', '0']),
    { secret: 'another secret' },
  );
  expect(status).toBe(1);
  expect(printed).toContain('received  status 401 invalid signature');
  expect(printed).toContain('The integration is not certified.');
});
