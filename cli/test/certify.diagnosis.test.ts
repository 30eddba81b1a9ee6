import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { signatureOf } from '@croupier/provider-sdk';
import { expect, onTestFinished, test } from 'vitest';
import type { ServerFault } from './support/broken-server.js';
import { only } from './support/certified.js';
import { command } from './support/command.js';
import {
  type Answer,
  type Behaviour,
  type Call,
  ReferenceProvider,
  refused,
  SECRET,
  TENANT,
} from './support/reference-provider.js';
import { type Change, ReferenceWallet } from './support/wallet/reference-wallet.js';

/** What a server verifies in place of what is right. */
interface Expected {
  tenantId?: string;
  secret?: string | Buffer;
  path?: (path: string) => string;
  body?: (raw: string) => string;
  signature?: (hex: string) => string;
  timestamp?: RegExp;
}

const sorted = (raw: string) =>
  JSON.stringify(
    Object.fromEntries(Object.entries(JSON.parse(raw) as object).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
const python = (raw: string) => raw.replaceAll(':', ': ').replaceAll(',', ', ');

function verifies({ headers, path, raw }: Call, expected: Expected): boolean {
  const { 'x-timestamp': timestamp = '', 'x-nonce': nonce = '', 'x-signature': received = '' } = headers;
  const hex = signatureOf(expected.secret ?? SECRET, {
    method: 'POST',
    path: expected.path?.(path) ?? path,
    timestamp,
    nonce,
    body: expected.body?.(raw) ?? raw,
  });
  const isTenant = headers['x-tenant-id'] === (expected.tenantId ?? TENANT);
  return (
    isTenant && (expected.timestamp ?? /./).test(timestamp) && received === (expected.signature?.(hex) ?? hex)
  );
}

test.each<[string, Expected, RegExp]>([
  [
    'the tenant in lower case',
    { tenantId: 'spinwell' },
    /Your server expects X-Tenant-ID spinwell, but Spinwell.* So the tenant differs/,
  ],
  [
    'the tenant of an example',
    { tenantId: 'my-provider' },
    /Your server expects X-Tenant-ID my-provider.* So the tenant differs/,
  ],
  [
    'the secret with a newline',
    { secret: `${SECRET}\n` },
    /Your server .*with a newline at its end.* So the secret differs/,
  ],
  [
    'the secret decoded',
    { secret: Buffer.from(SECRET, 'base64') },
    /Your server .*decoded as base64.* So the secret differs/,
  ],
  [
    'the path without a prefix',
    { path: (path) => path.replace('/rgs', '') },
    /Your server verifies the path \/v1\/.* So the path differs/,
  ],
  [
    'the address for a path',
    { path: (path) => `http://127.0.0.1:PORT${path}` },
    /Your server .*the path http:\/\/.* So the path differs/,
  ],
  ['an empty body', { body: () => '' }, /Your server verifies the body "".* So the body differs/],
  ['sorted JSON', { body: sorted }, /Your server .*keys in alphabetical order.* So the body differs/],
  ['spaced JSON', { body: python }, /Your server .*spaces after commas and colons.* So the body differs/],
  ['milliseconds', { timestamp: /^\d{13}$/ }, /Your server .*milliseconds.* So the timestamp differs/],
  [
    'base64',
    { signature: (hex) => Buffer.from(hex, 'hex').toString('base64') },
    /Your server .*base64.* So the signature differs/,
  ],
  [
    'another secret',
    { secret: 'unknown' },
    /calls with another tenant, secret, path or body were refused, too\. Check in this order: .* passes it to onRefused/,
  ],
])('a server that expects %s is told so', async (_, expected, hint) => {
  const printed = await printedFor({
    verifies: (call) => {
      const { path } = expected;
      const withPort =
        path && ((text: string) => path(text).replace('127.0.0.1:PORT', call.headers['host'] ?? ''));
      return verifies(call, { ...expected, ...(withPort && { path: withPort }) });
    },
  });
  expect(printed).toMatch(hint);
});

test.each<[string, Partial<Behaviour>, RegExp]>([
  [
    'is not ready at the first call',
    onlyAtFirst(refused(503, 'starting')),
    /The call was accepted when it was repeated, so the signature is not the cause/,
  ],
  [
    'is not ready at the first call, and believes everybody',
    { ...onlyAtFirst(refused(503, 'starting')), verifies: () => true },
    /The call was accepted when it was repeated, so the signature is not the cause/,
  ],
  [
    'refuses the game',
    { objection: () => refused(422, 'no such game') },
    /answered with status 422 \{"error":"no such game"\}\. The signature may not be the cause/,
  ],
  [
    'answers that there is no such game',
    { objection: () => refused(404, 'no such game') },
    /status 404 \{"error":"no such game"\}\. If your server serves POST \/rgs\/v1\/\S+, check --player-ref, --game-id/,
  ],
  [
    'answers that it has created the batch',
    { finish: (answer) => ({ ...answer, status: 201 }) },
    /check +The platform takes only a 200 as an answer\.\n/,
  ],
  [
    'is down',
    { finish: () => refused(503, 'down') },
    /answered with status 503 \{"error":"down"\}\. The signature may not be the cause/,
  ],
  [
    "refuses signatures with 403, which is not a provider's answer",
    { verifies: () => false, refusal: refused(403) },
    /answered with status 403 \{"error":"refused"\}\. The signature may not be the cause.* answer 401/,
  ],
])('a server that %s is not told that its signature is wrong', async (_, behaviour, hint) => {
  const printed = await printedFor(behaviour);
  expect(printed).toMatch(hint);
  expect(printed).not.toMatch(/differs|CROUPIER_SECRET|Your server expects/);
});

test.each(['refuses with 400', 'refuses with 403'] as const)(
  'a wallet that %s what it takes for a wrong signature is diagnosed, too',
  async (refusal) => {
    const printed = await printedForWallet({}, [refusal, 'decodes the secret as base64']);
    expect(printed).toContain('Your server verifies with the secret decoded as base64');
  },
);

test('a wallet that refuses each call with 400 is not told that its signature is wrong', async () => {
  const printed = await printedForWallet({
    serve: () => Promise.resolve({ status: 400, body: { error: 'no such game' } }),
  });
  expect(printed).toMatch(/refused, too\. The signature may not be the cause/);
  expect(printed).not.toMatch(/differs/);
});

test('if the wallet does not know the player, the options to check are named', async () => {
  const serve = () => Promise.resolve({ status: 404, body: { error: 'no such player' } });
  const printed = await printedForWallet({ serve }, [], 'balance-answered');
  expect(printed).toMatch(
    /check +If the wallet serves \/balance, the player needs an account in this currency: check --player/,
  );
});

test('a refusal is shown although its repetition gets no answer', async () => {
  let calls = 0;
  const printed = await printedForWallet({
    serve(_path, _raw, request) {
      calls += 1;
      if (calls > 1) request.socket.destroy();
      return Promise.resolve(calls > 1 ? { status: 0, body: '' } : { status: 503, body: 'starting' });
    },
  });
  expect(printed).toMatch(
    /received {2}status 503 starting\n +check {5}The cause was not found: .* none: socket hang up/,
  );
});

test.each([
  ['certify', '--webhook-base-url'],
  ['certify-operator', '--player', 'player-1', '--url'],
])('a server that cannot be reached is no failure of its cases: %s', async (name, ...options) => {
  const provider = await ReferenceProvider.start({});
  const { url } = provider;
  await provider.stop();
  const { status, printed, complained } = await command([name, '--tenant', TENANT, ...options, url], {
    secret: SECRET,
  });
  expect([status, printed]).toEqual([2, '']);
  expect(complained).toMatch(
    new RegExp(`^No connection can be made to ${url}/: .*ECONNREFUSED.*\\nSee: .*--help$`),
  );
});

test('a server that does not finish the TLS handshake is named with the time that it had', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['certify', '--tenant', TENANT, '--timeout-ms', '100', '--webhook-base-url', url];
  const { status, complained } = await command(args, { secret: SECRET });
  expect(status).toBe(2);
  expect(complained).toContain(`No connection can be made to ${url}/: not within 100 ms`);
});

/** What `certify-operator` prints about a case that a wallet fails. */
async function printedForWallet(
  change: Change,
  faults: readonly ServerFault[] = [],
  id = 'signed-call',
): Promise<string> {
  const wallet = await ReferenceWallet.start(change, faults);
  onTestFinished(() => wallet.stop());
  const args = ['certify-operator', '--url', wallet.url, '--tenant', wallet.tenantId, '--player', 'player-1'];
  const { status, printed } = await command([...args, ...only(id)], { secret: wallet.secret });
  expect(status).toBe(1);
  return printed;
}

/** What `certify` prints about the signed call if a provider refuses it. */
async function printedFor(behaviour: Partial<Behaviour>): Promise<string> {
  const provider = await ReferenceProvider.start(behaviour);
  onTestFinished(() => provider.stop());
  const args = ['certify', '--webhook-base-url', `${provider.url}/rgs`, '--tenant', TENANT];
  const { status, printed } = await command([...args, ...only('signed-call')], { secret: SECRET });
  expect(status).toBe(1);
  return printed;
}

function onlyAtFirst(first: Answer): Partial<Behaviour> {
  let calls = 0;
  return { finish: (answer) => ((calls += 1) === 1 ? first : answer) };
}
