import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakePlatform, type Step } from '../src/certify/client/fake-platform.js';
import { type AtEnd, certify, only, reportFolder } from './support/certified.js';
import { command } from './support/command.js';

/** A client without the SDK; its only argument is the fault that it has. */
const NAIVE = ['--', process.execPath, 'cli/test/support/naive-client.mjs'];
const OF_THE_SDK = ['--', process.execPath, 'cli/examples/certify-client.mjs'];
/** Time-out of tests that run many cases or run concurrently, in milliseconds. */
const PATIENCE_MS = 600_000;
/** Beside other tests, an answer takes longer to arrive. */
const BESIDE_OTHERS = ['--attempt-ms', '5000'];

/** Certifies a client, which needs no secret of its own. */
const certified = (args: readonly string[], atEnd?: AtEnd) => certify(['certify-client', ...args], '', atEnd);

test("the SDK's client is certified", { timeout: PATIENCE_MS }, async () => {
  const { status, failed, count, printed } = await certified(OF_THE_SDK);
  expect(failed).toEqual([]);
  expect(status).toBe(0);
  expect(count).toBeGreaterThanOrEqual(68);
  expect(printed).toContain('The integration is certified.');
});

// At the same time, because most cases wait for time-outs and pauses.
test.concurrent(
  'a client without the SDK passes too',
  { timeout: PATIENCE_MS },
  async ({ onTestFinished: atEnd }) => {
    const ids = [
      'approved',
      'declined',
      'retry-cut',
      'refused-session',
      'doubt-proxy-404',
      'doubt-hang-then-refused',
      'doubt-contact-platform-once',
      'doubt-error-then-not-configured',
      'doubt-proxy-then-refused',
      'doubt-other-status',
      'doubt-redirect-302',
      'doubt-empty',
      'doubt-accepted',
      'forged-answer-unnamed',
      'retry-overloaded',
      'retry-twice',
      'retry-hang-halfway',
      'retry-drip',
      'retry-throttled',
      'retry-throttled-bounded',
      'retry-unknown-code',
      'refused-unknown-code',
      'doubt-balance-missing',
      'doubt-balance-text',
      'doubt-signature-page',
      'win-retry-in-flight',
      'rollback-approved',
      'rollback-retry-cut-halfway',
    ];
    const { status, failed } = await certified([...BESIDE_OTHERS, ...only(...ids), ...NAIVE], atEnd);
    expect({ status, failed }).toEqual({ status: 0, failed: [] });
  },
);

test.concurrent(
  'a request that arrives after its run is not taken for one of the next run',
  { timeout: PATIENCE_MS },
  async ({ onTestFinished: atEnd }) => {
    const client = [...NAIVE, 'leaves a late process at its first run'];
    const options = [...BESIDE_OTHERS, ...only('approved', 'retry-throttled')];
    const { status, failed } = await certified([...options, ...client], atEnd);
    expect({ status, failed }).toEqual({ status: 0, failed: [] });
  },
);

/** Faults of clients that only their time-out ends. */
const ENDLESS = ['retries for ever', 'bounds only the wait for headers', 'bounds each wait for data'];

test.concurrent.for<[string, string[], string]>([
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
  ['bounds only the wait for headers', ['retry-hang-halfway', 'retry-drip'], 'a verdict within 3000 ms'],
  ['bounds each wait for data', ['retry-drip'], 'a verdict within 3000 ms'],
  ['follows redirects', ['doubt-redirect'], 'POST /v1/wallet/transaction alone'],
  ['believes any 200', ['declined', 'forged-answer', 'doubt-page'], 'the verdict unknown'],
  ['believes any decision', ['forged-answer'], 'the verdict unknown'],
  ['retries a decline', ['declined', 'declined-after-error'], 'the verdict declined'],
  ['ignores Retry-After', ['retry-throttled'], 'a pause of at least 2950 ms'],
  ['always waits a second', ['retry-throttled'], 'a pause of at least 2950 ms'],
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
    'at most 1 request',
  ],
  ['sends every kind as a BET', ['win-approved', 'rollback-approved'], 'expected  kind WIN'],
  ['forgets what it rolls back', ['rollback-approved'], 'expected  originalTransactionId certify-original'],
  ['retries only BETs', ['win-retry-error-500', 'rollback-retry-hang'], 'approved'],
  ['takes a ROLLBACK for granted', ['rollback-retry-bounded'], 'the verdict unknown'],
  ['sends no JSON', ['approved'], 'expected  sessionToken certify-session-1'],
  ['says nothing', ['approved'], 'a last line of approved, declined'],
  ['retries contact-platform', ['doubt-contact-platform-once'], 'the verdict unknown'],
  ['sends major units', ['approved'], 'expected  amountMinor 250'],
  ['sends the amount as text', ['approved'], 'expected  amountMinor 250, a number'],
  ['forgets the round', ['approved'], 'expected  roundId certify-round'],
  ['sends another currency', ['approved'], 'expected  currency EUR'],
  ['sends the player in lower case', ['approved'], 'expected  playerRef certify-player'],
  ['adds a query', ['approved'], 'POST /v1/wallet/transaction alone'],
  ['adds a slash', ['approved'], 'POST /v1/wallet/transaction alone'],
  ['sends a PUT', ['approved'], 'POST /v1/wallet/transaction alone'],
  ['sends text/plain', ['approved'], 'Content-Type application/json'],
  ['signs milliseconds', ['approved'], 'a valid signature on each request'],
  ['has a wrong clock', ['approved'], 'timestamp_expired'],
  ['sends short nonces', ['approved'], 'malformed_header'],
  ['signs an empty body', ['approved'], 'signature_mismatch'],
  ['signs the address', ['approved'], 'signature_mismatch'],
  ['signs a newline at the end', ['approved'], 'signature_mismatch'],
  ['names another tenant', ['approved'], 'tenant_mismatch'],
  ['sends upper-case hex', ['approved'], 'malformed_header'],
  ['hammers', ['retry-bounded'], 'at most 100 requests'],
  ['retries once', ['retry-twice'], 'the verdict approved'],
  ['takes no answer for no booking', ['doubt-hang-then-refused'], 'the verdict unknown'],
  ['crashes without an answer', ['retry-cut', 'retry-cut-halfway'], 'no output'],
  ['voids after a time-out', ['retry-hang', 'win-retry-hang'], 'the verdict approved'],
  ['voids after a broken connection', ['retry-cut', 'rollback-retry-cut-halfway'], 'the verdict approved'],
  ['takes any 2xx for approved', ['doubt-accepted'], 'the verdict unknown'],
  ['takes an empty 200 for approved', ['doubt-empty'], 'the verdict unknown'],
  ['crashes at a page', ['doubt-page', 'doubt-proxy-404'], 'no output'],
  ['declines after an error', ['retry-error-500', 'declined-after-error'], 'approved'],
  ['voids after a 409', ['retry-in-flight', 'win-retry-in-flight'], 'the verdict approved'],
  ['approves after a 409', ['retry-in-flight'], 'at least 2 requests'],
  ['repeats a 409 at once', ['retry-in-flight', 'rollback-retry-in-flight'], 'a pause of at least 700 ms'],
  ['voids after a 429', ['retry-throttled'], 'the verdict approved'],
  ['believes an unnamed decision', ['forged-answer-unnamed'], 'the verdict unknown'],
  ['declines what is not approved', ['doubt-other-status'], 'the verdict unknown'],
  ['doubts a decline after an error', ['declined-after-error'], 'the verdict declined'],
  ['approves a decline', ['declined', 'win-declined'], 'the verdict declined'],
  ['ignores Retry-After of a 500', ['retry-overloaded'], 'a pause of at least 1950 ms'],
  ['doubts a 429', ['retry-throttled-bounded'], 'the verdict not-booked'],
  ['needs no balance', ['doubt-balance-missing', 'doubt-balance-text'], 'the verdict unknown'],
  ['reads a balance of any type', ['doubt-balance-text'], 'the verdict unknown'],
  [
    'trusts only the codes that it knows',
    ['retry-unknown-code', 'refused-unknown-code'],
    'the verdict not-booked',
  ],
  ['looks for invalid signature in a page', ['doubt-signature-page'], 'the verdict unknown'],
  ['forgets an error', ['doubt-error-then-not-configured'], 'the verdict unknown'],
  ['forgets the error of a proxy', ['doubt-proxy-then-refused'], 'the verdict unknown'],
])(
  'a client that %s fails %j',
  { timeout: PATIENCE_MS },
  async ([fault, ids, expected], { onTestFinished: atEnd }) => {
    const options = [
      ...(ENDLESS.includes(fault) ? ['--timeout-ms', '3000'] : BESIDE_OTHERS),
      ...only(...ids),
    ];
    const { status, failed, printed } = await certified([...options, ...NAIVE, fault], atEnd);
    expect(failed.sort()).toEqual(ids.sort());
    expect(printed).toContain(expected);
    expect(status).toBe(1);
  },
);

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const APPROVE: Step = { does: 'decide', status: 'APPROVED' };

test.for<[string, Record<string, string>, RegExp, Step]>([
  ['the id of the request', { 'X-Request-Id': 'aB3.x_y:z-1' }, /^aB3\.x_y:z-1$/, APPROVE],
  ['an id of its own if that of the request is invalid', { 'X-Request-Id': 'a/b' }, UUID, APPROVE],
  ['an id of its own if the request has none', {}, UUID, APPROVE],
  [
    'the id of a request whose signature it refuses',
    { 'X-Request-Id': 'r-1' },
    /^r-1$/,
    { does: 'refuse-signature' },
  ],
])('the fake platform answers with %s', async ([, headers, expected, step], { onTestFinished: atEnd }) => {
  const platform = await FakePlatform.start([step], Date.now);
  atEnd(() => platform.stop());
  const response = await fetch(platform.url, { method: 'POST', headers, body: '{}' });
  expect(response.headers.get('x-request-id')).toMatch(expected);
  await response.body?.cancel();
});

test.each([
  [[], 'The command that sends a transaction is missing'],
  [['--only', 'nothing', '--', 'x'], 'There is no case "nothing"'],
  [['--attempt-ms', 'soon', '--', 'x'], '--attempt-ms must be a whole number'],
  [['--timeout-ms', '2147483648', '--', 'x'], '--timeout-ms must be a whole number from 1 to 2147483647'],
])('%j cannot be carried out', async (args, sentence) => {
  const { status, complained } = await command(['certify-client', ...args]);
  expect([status, complained]).toEqual([2, expect.stringContaining(sentence)]);
});

test("an option of the client's own command line is not one of certify-client", async () => {
  const { status, failed, printed } = await certified([...only('approved'), '--', process.execPath, '-h']);
  expect({ status, failed }).toEqual({ status: 1, failed: ['approved'] });
  expect(printed).not.toContain('croupier-provider certify-client [options]');
});

test('the report names the command with its arguments, and the help says so', async () => {
  const json = join(await reportFolder(), 'report.json');
  await command(['certify-client', '--json', json, ...only('approved'), ...NAIVE]);
  const report: unknown = JSON.parse(await readFile(json, 'utf8'));
  expect(report).toMatchObject({ command: NAIVE.slice(1).join(' ') });
  const { printed } = await command(['certify-client', '--help']);
  expect(printed).toContain('The reports name COMMAND with its arguments.');
});

test('a command that does not exist is named', async () => {
  const { printed } = await certified([...only('approved'), '--', '/nowhere/client']);
  expect(printed).toContain('expected  /nowhere/client to start');
});

test('a command that sends no requests blocks the cases after the first three', async () => {
  const ids = ['approved', 'declined', 'retry-cut', 'retry-hang'];
  const { printed } = await certified([...only(...ids), '--', process.execPath, '-e', '']);
  expect(printed).toContain('expected  a client that sends requests\n    received  no requests');
  expect(printed).toContain('3 failed, 1 blocked');
});

/** The arguments of a command that starts another process and waits for it, as `npm run` does, and that process. */
async function wrappedClient(atEnd: AtEnd) {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = `require('node:net').connect(${port}, '127.0.0.1')`;
  const options = `['-e', ${JSON.stringify(client)}], { stdio: 'inherit' }`;
  const wrapper = `require('node:child_process').spawn(process.execPath, ${options})`;
  const started = once(server, 'connection').then(([socket]) => {
    const ended = new Promise((resolve) => (socket as Socket).once('close', resolve));
    return { ended };
  });
  return { args: ['--only', 'approved', '--', process.execPath, '-e', wrapper], started };
}

test.concurrent(
  'a client that a wrapper starts is killed after the time-out',
  async ({ onTestFinished: atEnd }) => {
    const { args, started } = await wrappedClient(atEnd);
    const { status, printed } = await certified(['--timeout-ms', '15000', ...args], atEnd);
    expect(printed).toContain('a verdict within 15000 ms');
    expect(status).toBe(1);
    const { ended } = await started;
    await ended;
  },
);

test.concurrent.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a client is killed after %s',
  async (signal, { onTestFinished: atEnd }) => {
    const { args, started } = await wrappedClient(atEnd);
    const options = ['cli/bin/croupier-provider.js', 'certify-client', ...args];
    const certification = spawn(process.execPath, options, { stdio: 'ignore' });
    const { ended } = await started;
    const exit = once(certification, 'exit');
    certification.kill(signal);
    expect(await exit).toEqual([null, signal]);
    await ended;
  },
);
