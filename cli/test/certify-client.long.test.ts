import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { command } from './support/command.js';

const NAIVE = ['--', process.execPath, 'cli/test/support/naive-client.mjs'];
const OF_THE_SDK = ['--', process.execPath, 'cli/examples/certify-client.mjs'];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await folder.remove();
});

async function certified(args: string[], fault = '') {
  vi.stubEnv('FAULT', fault);
  const json = join(folder.path, 'report.json');
  const result = await command(['certify-client', '--json', json, ...args]);
  const { cases } = JSON.parse(await readFile(json, 'utf8')) as { cases: { id: string; outcome: string }[] };
  const failed = cases.filter(({ outcome }) => outcome !== 'passed').map(({ id }) => id);
  return { ...result, failed, cases };
}

test("the SDK's client is certified", async () => {
  const { status, failed, cases, printed } = await certified(OF_THE_SDK);
  expect(failed).toEqual([]);
  expect(status).toBe(0);
  expect(cases.length).toBeGreaterThanOrEqual(49);
  expect(printed).toContain('The integration is certified.');
}, 180_000);

test('a client without the SDK passes too', async () => {
  const ids = [
    'approved',
    'declined',
    'retry-cut',
    'refused-session',
    'doubt-proxy-404',
    'doubt-hang-then-refused',
    'win-retry-in-flight',
    'rollback-approved',
    'rollback-retry-cut-halfway',
  ];
  const { failed } = await certified([...ids.flatMap((id) => ['--only', id]), ...NAIVE]);
  expect(failed).toEqual([]);
});

test.each<[string, string[], string]>([
  ['sends a new id', ['retry-error-500'], 'the same bytes each time'],
  ['sends new bytes', ['retry-cut'], 'the same bytes each time'],
  ['sends the same nonce', ['retry-error-500'], 'a fresh nonce for each request'],
  ['signs with another secret', ['approved'], 'a valid signature on each request'],
  [
    'never retries',
    ['retry-error-500', 'retry-cut-halfway', 'retry-proxy-503', 'retry-in-flight'],
    'approved',
  ],
  ['retries for ever', ['retry-bounded'], 'a verdict within 3000 ms'],
  ['follows redirects', ['doubt-redirect'], 'POST /v1/wallet/transaction alone'],
  ['believes any 200', ['declined', 'forged-answer', 'doubt-page'], 'the verdict unknown'],
  ['believes any decision', ['forged-answer'], 'the verdict unknown'],
  ['retries a decline', ['declined', 'declined-after-error'], 'the verdict declined'],
  ['ignores Retry-After', ['retry-throttled'], 'a pause of at least 950 ms'],
  [
    'judges only by the status',
    ['doubt-proxy-401', 'doubt-proxy-403', 'doubt-proxy-404', 'doubt-proxy-503'],
    'unknown',
  ],
  ['judges only by the last attempt', ['doubt-hang-then-refused'], 'the verdict unknown'],
  ['voids on any refusal', ['doubt-id-reused', 'doubt-contact-platform'], 'the verdict unknown'],
  ['gives up as not booked', ['retry-bounded', 'doubt-proxy-408'], 'the verdict unknown'],
  [
    'retries refusals',
    ['refused-session', 'refused-not-configured', 'refused-signature'],
    'the verdict not-booked',
  ],
  ['sends every kind as a BET', ['win-approved', 'rollback-approved'], 'expected  kind WIN'],
  ['forgets what it rolls back', ['rollback-approved'], 'expected  originalTransactionId certify-original'],
  ['retries only BETs', ['win-retry-error-500', 'rollback-retry-hang'], 'approved'],
  ['takes a ROLLBACK for granted', ['rollback-retry-bounded'], 'the verdict unknown'],
  ['sends no JSON', ['approved'], 'expected  sessionToken certify-session-1'],
  ['says nothing', ['approved'], 'a last line of approved, declined'],
])('a client that %s fails %j', async (fault, ids, expected) => {
  const only = ids.flatMap((id) => ['--only', id]);
  const timeoutMs = fault === 'retries for ever' ? '3000' : '20000';
  const { status, failed, printed } = await certified(['--timeout-ms', timeoutMs, ...only, ...NAIVE], fault);
  expect(failed.sort()).toEqual(ids.sort());
  expect(printed).toContain(expected);
  expect(status).toBe(1);
});

test.each([
  [[], 'The command that sends a transaction is missing'],
  [['--only', 'nothing', '--', 'x'], 'There is no case "nothing"'],
  [['--attempt-ms', 'soon', '--', 'x'], '--attempt-ms must be a whole number'],
])('%j cannot be carried out', async (args, sentence) => {
  const { status, complained } = await command(['certify-client', ...args]);
  expect([status, complained]).toEqual([2, expect.stringContaining(sentence)]);
});

test('a command that does not exist is named', async () => {
  const { printed } = await certified(['--only', 'approved', '--', '/nowhere/client']);
  expect(printed).toContain('expected  /nowhere/client to start');
});
