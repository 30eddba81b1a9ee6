import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CallbackHttp } from '../../src/outbound/callback-http.js';
import { Outbound } from '../../src/outbound/outbound.service.js';
import { HostResolver } from '../../src/outbound/host-resolver.js';
import { PROVIDER, useWorld, type World } from '../world/world.js';

/** Another instance, as in production: private addresses are refused, including the world's own counterparts. */
let guarded: World;
/** A server on loopback that must not be reached. */
const canary = createServer((_, response) => response.end('{"status":"APPROVED","balance":1}'));
let connections = 0;
let port: number;

const world = useWorld();
beforeAll(async () => {
  guarded = await world.another(world.clock, { OUTBOUND_ALLOW_PRIVATE: 'false' });
  canary.on('connection', () => (connections += 1));
  canary.listen(0, '::');
  await once(canary, 'listening');
  await guarded.admin('POST', '/v1/admin/operators', {
    id: 'named',
    name: 'Named',
    walletBaseUrl: 'https://wallet.example',
  });
  ({ port } = canary.address() as AddressInfo);
});

afterAll(async () => {
  canary.close();
  await guarded.app.close();
});

beforeEach(() => {
  connections = 0;
});

test('a private wallet address that another instance accepted is not called', async () => {
  const session = await world.launch();
  const before = world.wallet.connections;
  const reply = await guarded.submit(world.transaction(session, 'BET'));
  expect([reply.status, reply.headers.get('X-Error-Code')]).toEqual([500, 'OPERATOR_UNAVAILABLE']);
  expect(reply.text).not.toMatch(/127\.0\.0\.1|private/);
  expect(world.wallet.connections).toBe(before);
});

/** Spellings of private addresses that a URL parser recognises. */
const PRIVATE_HOSTS: [string, string][] = [
  ['loopback', '127.0.0.1'],
  ['loopback, further on', '127.255.255.254'],
  ['loopback, decimal', '2130706433'],
  ['loopback, hexadecimal', '0x7f000001'],
  ['loopback, hexadecimal by part', '0x7f.0x0.0x0.0x1'],
  ['loopback, octal', '017700000001'],
  ['loopback, octal by part', '0177.0.0.01'],
  ['loopback, shortened', '127.1'],
  ['loopback, with the root', '127.0.0.1.'],
  ['loopback, full-width digits', '１２７.０.０.１'],
  ['loopback, percent-encoded', '%31%32%37.0.0.1'],
  ['unspecified', '0.0.0.0'],
  ['unspecified, shortened', '0'],
  ['private', '10.0.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.0.1'],
  ['private, decimal', '167772161'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['link-local', '169.254.1.1'],
  ['metadata', '169.254.169.254'],
  ['metadata, decimal', '2852039166'],
  ['metadata, hexadecimal', '0xa9fea9fe'],
  ['IPv6 loopback', '[::1]'],
  ['IPv6 loopback, written out', '[0:0:0:0:0:0:0:1]'],
  ['IPv6 unspecified', '[::]'],
  ['IPv6 mapped loopback', '[::ffff:127.0.0.1]'],
  ['IPv6 mapped, hexadecimal', '[::ffff:7f00:1]'],
  ['IPv6 mapped metadata', '[::ffff:169.254.169.254]'],
  ['IPv6 compatible', '[::127.0.0.1]'],
  ['IPv6 NAT64', '[64:ff9b::127.0.0.1]'],
  ['IPv6 6to4', '[2002:7f00:1::]'],
  ['IPv6 unique local', '[fd00:ec2::254]'],
  ['IPv6 link-local', '[fe80::1]'],
];

describe.each(PRIVATE_HOSTS)('%s: %s', (_, host) => {
  test.each([
    ['a wallet', 'POST', '/v1/admin/operators', 'walletBaseUrl'],
    ['a webhook', 'POST', '/v1/admin/providers', 'webhookBaseUrl'],
    ['a wallet that moves', 'PATCH', '/v1/admin/operators/named', 'walletBaseUrl'],
    ['a webhook that moves', 'PATCH', `/v1/admin/providers/${PROVIDER}`, 'webhookBaseUrl'],
  ])('is not registered for %s', async (_, method, path, field) => {
    const tenant = { ...(method === 'POST' && { id: 'private', name: 'Private' }) };
    const reply = await guarded.admin(method, path, { ...tenant, [field]: `https://${host}:${port}/x` });
    expect(reply.status).toBe(400);
    expect(reply.json['error']).toContain(field);
  });

  test('is not connected to, even if it is registered', async () => {
    expect(await outcomes(`http://${host}:${port}/x`)).toEqual([/private/, /private/].map(matching));
    expect(connections).toBe(0);
  });
});

/** The outcomes of a wallet call and a callback to this address. */
async function outcomes(url: string): Promise<string[]> {
  const call = { tenantId: 'x', secret: 'x', timeoutMs: 2_000 };
  const wallet = await guarded.app
    .get(Outbound, { strict: false })
    .post({ ...call, baseUrl: url, route: '', body: {} }, (outcome) => outcome);
  const webhook = await guarded.app
    .get(CallbackHttp, { strict: false })
    .post({ ...call, url, body: Buffer.from('{}'), ignoresBodyOf200: false });
  return [wallet, webhook].map((outcome) => JSON.stringify(outcome));
}

const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

/** Makes every name resolve to the next entry of the list; the last one stays. */
function names(...answers: string[][]): () => number {
  let asked = 0;
  guarded.app.get(HostResolver, { strict: false }).resolve = (_, __, callback) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return () => asked;
}

describe('a name', () => {
  test.each([
    [['127.0.0.1']],
    [['10.1.2.3']],
    [['169.254.169.254']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['fd00::1']],
    [['fe80::1%lo']],
    [['8.8.8.8', '127.0.0.1']],
    [['2606:4700::1111', '::1']],
    [[]],
  ])('that resolves to %j is registered, and not connected to', async (addresses) => {
    names(addresses);
    const url = `https://wallet.example:${port}`;
    expect((await guarded.admin('PATCH', '/v1/admin/operators/named', { walletBaseUrl: url })).status).toBe(
      200,
    );
    const reason = addresses.length ? /resolves to a private address/ : /no address/;
    expect(await outcomes(`https://wallet.example:${port}/x`)).toEqual([reason, reason].map(matching));
    expect(connections).toBe(0);
  });

  test('that resolves differently each time is checked by the address of each connection', async () => {
    // Nothing is sent to the public address; only the address for the socket is checked.
    const asked = names(['8.8.8.8'], ['127.0.0.1']);
    const { publicOnly } = guarded.app.get(HostResolver, { strict: false });
    const resolved = () =>
      new Promise((resolve) => {
        publicOnly('wallet.example', {}, (error, address) => resolve(error?.message ?? address));
      });
    expect(await resolved()).toBe('8.8.8.8');
    expect(await resolved()).toBe('the name resolves to a private address');
    expect(asked()).toBe(2);
    expect(await outcomes(`https://wallet.example:${port}/x`)).toEqual([/private/, /private/].map(matching));
    expect(connections).toBe(0);
  });

  test('with plain http, registered while that was allowed, is not even resolved, and the reason names the setting', async () => {
    const asked = names(['8.8.8.8']);
    const reason = /not https: only OUTBOUND_ALLOW_PRIVATE=true allows it/;
    expect(await outcomes('http://wallet.example/x')).toEqual([reason, reason].map(matching));
    expect(asked()).toBe(0);
  });

  test('of this machine is not registered', async () => {
    for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'wallet.localhost']) {
      const walletBaseUrl = `https://${host}:${port}`;
      const reply = await guarded.admin('PATCH', '/v1/admin/operators/named', { walletBaseUrl });
      expect([host, reply.status]).toEqual([host, 400]);
    }
  });
});

test.each([
  'http://wallet.example',
  'ftp://wallet.example',
  'file:///etc/passwd',
  'gopher://wallet.example',
  '//x',
])('only https is registered: not %s', async (url) => {
  for (const [path, field] of [
    ['/v1/admin/operators/named', 'walletBaseUrl'],
    [`/v1/admin/providers/${PROVIDER}`, 'webhookBaseUrl'],
  ]) {
    expect((await guarded.admin('PATCH', path!, { [field!]: url })).status).toBe(400);
  }
});

describe('a counterpart that is allowed', () => {
  test.each([301, 302, 303, 307, 308])('cannot redirect a call by a %i', async (status) => {
    const to = `http://127.0.0.1:${port}/elsewhere`;
    const session = await world.launch();
    world.wallet.next({ do: 'redirect', to, status }, { path: '/balance' });
    expect((await world.balance(session)).status).toBe(500);
    world.provider.next({ do: 'redirect', to, status });
    const callback = await world.app.get(CallbackHttp, { strict: false }).post({
      url: `${world.provider.baseUrl}/v1/game/free-spins/grant`,
      tenantId: PROVIDER,
      secret: 'x',
      body: Buffer.from('{}'),
      timeoutMs: 2_000,
      ignoresBodyOf200: false,
    });
    expect(callback).toMatchObject({ kind: 'answered', status });
    expect(connections).toBe(0);
  });

  test('has at most 64 KiB of its answer read', async () => {
    const session = await world.launch();
    const endless = `{"balance":1,"x":"${'x'.repeat(1024 * 1024)}"}`;
    world.wallet.next({ do: 'answer', status: 200, body: endless }, { path: '/balance' });
    const reply = await world.balance(session);
    expect([reply.status, reply.headers.get('X-Error-Code')]).toEqual([500, 'OPERATOR_UNAVAILABLE']);
    world.provider.next({ do: 'answer', status: 200, body: endless });
    const callback = await world.app.get(CallbackHttp, { strict: false }).post({
      url: `${world.provider.baseUrl}/v1/game/free-spins/grant`,
      tenantId: PROVIDER,
      secret: 'x',
      body: Buffer.from('{}'),
      timeoutMs: 2_000,
      ignoresBodyOf200: false,
    });
    expect(callback).toMatchObject({ kind: 'answered', cut: 'too-large' });
    expect((callback as { body: Buffer }).body).toHaveLength(64 * 1024);
  });
});
