import { verifyPlatformSignature } from '@croupier/provider-sdk';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { temporaryFolder } from '../world/temporary-folder.js';

const ADMIN_KEY = 'an-admin-key-of-at-least-32-characters';

/** The part of the admin API (contract, section 7) and of the signed routes' first checks that a sandbox uses. */
class AdminApi {
  readonly tenants = new Map<string, Record<string, string>>();
  readonly games = new Map<string, object>();
  private readonly server = createServer((request, response) => void this.serve(request, response));
  private secrets = 0;

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(chunks);
    const [status, answer] = url.startsWith('/v1/admin/')
      ? this.administer(headers.authorization, method, url, body)
      : [this.believes(method, url, headers, body) ? 400 : 401, {}];
    response.writeHead(status).end(JSON.stringify(answer));
  }

  private believes(method: string, path: string, headers: IncomingHttpHeaders, body: Buffer): boolean {
    const tenantId = String(headers['x-tenant-id']);
    const secret = this.tenants.get(tenantId)?.['secret'] ?? '';
    return verifyPlatformSignature({ method, path, headers, body, secret, tenantId }).ok;
  }

  private administer(key: string | undefined, method: string, path: string, bytes: Buffer): [number, object] {
    if (key !== `Bearer ${ADMIN_KEY}`) return [401, { error: 'a valid admin key is required' }];
    const body = JSON.parse(bytes.toString() || '{}') as Record<string, string>;
    const [, , , collection, id = '', action] = path.split('/');
    const known = this.tenants.get(id);
    if (collection === 'games') {
      if (method === 'PUT') this.games.set(id, body);
      const game = this.games.get(id);
      return game ? [200, game] : [404, { error: 'not found' }];
    }
    if (method === 'POST' && action === undefined && id === '') {
      const tenant = { ...body, secret: this.newSecret() };
      this.tenants.set(String(body['id']), tenant);
      return [201, tenant];
    }
    if (!known) return [404, { error: 'not found' }];
    if (action === 'secret') known['secret'] = this.newSecret();
    else Object.assign(known, body);
    const { secret, ...shown } = known;
    return [200, action === 'secret' ? { secret } : shown];
  }

  private newSecret(): string {
    this.secrets += 1;
    return `secret-${this.secrets}`;
  }
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let api: AdminApi;
let apiUrl: string;
let sandbox: Sandbox | undefined;

beforeEach(async () => {
  folder = await temporaryFolder();
  api = new AdminApi();
  apiUrl = await api.start();
});

afterEach(async () => {
  await sandbox?.stop();
  sandbox = undefined;
  api.stop();
  await folder.remove();
});

async function start(
  ports = { walletPort: 0, providerPort: 0 },
  log: (line: string) => void = () => undefined,
): Promise<void> {
  const options = { apiUrl, adminApiKey: ADMIN_KEY, folder: folder.path, log, ...ports };
  sandbox = await startSandbox(options);
}

async function restart(): Promise<void> {
  await sandbox?.stop();
  sandbox = undefined;
  await start();
}

const file = () => join(folder.path, 'sandbox.json');
const kept = async () => JSON.parse(await readFile(file(), 'utf8')) as Record<string, unknown>;
const secretOf = (id: string) => api.tenants.get(id)?.['secret'];

test('the first start registers the tenants and games and stores their secrets', async () => {
  await start();
  expect(api.tenants.get('sandbox-provider')).toMatchObject({
    webhookBaseUrl: (await kept())['providerUrl'],
  });
  expect(api.tenants.get('sandbox-operator')).toMatchObject({ walletBaseUrl: (await kept())['walletUrl'] });
  expect([...api.games.keys()]).toEqual(['sandbox-slots', 'sandbox-roulette']);
  expect(await kept()).toMatchObject({
    apiUrl,
    docsUrl: `${apiUrl}/docs`,
    adminApiKey: ADMIN_KEY,
    provider: { id: 'sandbox-provider', secret: secretOf('sandbox-provider') },
    operator: { id: 'sandbox-operator', secret: secretOf('sandbox-operator') },
  });
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  for (const shown of [apiUrl, ADMIN_KEY, 'secret-1', 'secret-2'])
    expect(sandbox?.summary()).toContain(shown);
});

test("a restart keeps the secrets and updates the tenants' addresses", async () => {
  await start();
  const before = await kept();
  await restart();
  const after = await kept();
  expect([after['provider'], after['operator']]).toEqual([before['provider'], before['operator']]);
  expect(api.tenants.get('sandbox-operator')).toMatchObject({ walletBaseUrl: after['walletUrl'] });
});

test('a lost file, or a secret that is no longer valid, causes a rotation', async () => {
  await start();
  await rm(file());
  await restart();
  expect(await kept()).toMatchObject({ provider: { secret: 'secret-3' }, operator: { secret: 'secret-4' } });
  Object.assign(api.tenants.get('sandbox-operator') ?? {}, { secret: 'rotated by somebody' });
  await restart();
  expect(await kept()).toMatchObject({ provider: { secret: 'secret-3' }, operator: { secret: 'secret-5' } });
});

test('a disabled tenant or game stays disabled, and the tenant keeps its secret', async () => {
  await start();
  api.games.set('sandbox-slots', { status: 'DISABLED' });
  Object.assign(api.tenants.get('sandbox-provider') ?? {}, { status: 'DISABLED' });
  await restart();
  expect(api.tenants.get('sandbox-provider')).toMatchObject({ status: 'DISABLED', secret: 'secret-1' });
  expect(api.games.get('sandbox-slots')).toEqual({ status: 'DISABLED' });
});

test('ports that are taken are replaced by others', async () => {
  const taken = Number(new URL(apiUrl).port);
  const lines: string[] = [];
  await start({ walletPort: taken, providerPort: taken }, (line) => void lines.push(line));
  expect(lines).toEqual([
    expect.stringContaining(`sandbox-operator: PORT+1 ${taken} is not free`),
    expect.stringContaining(`sandbox-provider: PORT+2 ${taken} is not free`),
  ]);
  expect((await kept())['walletUrl']).not.toContain(`:${taken}/`);
});

test('a refusal of the admin API is reported, and nothing is left running', async () => {
  const wrongKey = { apiUrl, adminApiKey: 'wrong', folder: folder.path, walletPort: 0, providerPort: 0 };
  const sentence = 'the sandbox could not be seeded: PATCH /v1/admin/providers/sandbox-provider answered 401';
  await expect(startSandbox({ ...wrongKey, log: () => undefined })).rejects.toThrow(sentence);
});
