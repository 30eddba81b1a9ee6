import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import createClient, { type Middleware } from 'openapi-fetch';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { verifyPlatformSignature } from '../src/index.js';

interface Documented {
  signing(credentials: { tenantId: string; secret: string }): Middleware;
  signedFetch(credentials: { tenantId: string; secret: string }): typeof fetch;
}

const CREDENTIALS = { tenantId: 'spinwell', secret: 'the secret' };
const BODY = { sessionToken: 'Zoë' };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let documented: Documented;
let url: string;

/** Answers as the platform does: the plain-text 401 if the signature is refused. */
const server = createServer((request, response) => {
  void request.toArray().then((chunks: Buffer[]) => {
    const { ok } = verifyPlatformSignature({
      ...CREDENTIALS,
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    response.statusCode = ok ? 200 : 401;
    response.setHeader('Content-Type', ok ? 'application/json' : 'text/plain');
    response.end(ok ? '{"balance":5}' : 'invalid signature');
  });
});

beforeAll(async () => {
  folder = await temporaryFolder();
  const page = await readFile(new URL('../../docs/integrate/openapi-clients.md', import.meta.url), 'utf8');
  const file = join(folder.path, 'signing.mjs');
  await writeFile(file, /```js\n([^]*?)```/.exec(page)?.[1] ?? '');
  documented = (await import(pathToFileURL(file).href)) as Documented;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
});
afterAll(async () => {
  server.close();
  await folder.remove();
});

interface Paths {
  '/v1/wallet/balance': {
    post: {
      requestBody: { content: { 'application/json': typeof BODY } };
      responses: {
        200: { content: { 'application/json': { balance: number } } };
        401: { content: { 'text/plain': string } };
      };
    };
  };
}

test('the documented middleware of openapi-fetch signs what is sent', async () => {
  const client = createClient<Paths>({ baseUrl: url });
  client.use(documented.signing(CREDENTIALS));
  const { data } = await client.POST('/v1/wallet/balance', { body: BODY });
  expect(data).toEqual({ balance: 5 });
});

test('openapi-fetch reads the plain-text 401', async () => {
  const client = createClient<Paths>({ baseUrl: url });
  client.use(documented.signing({ ...CREDENTIALS, secret: 'another' }));
  const { error, response } = await client.POST('/v1/wallet/balance', { body: BODY });
  expect([response.status, error]).toEqual([401, 'invalid signature']);
});

test.each([
  ['POST', JSON.stringify(BODY)],
  ['GET', undefined],
])('the documented fetch signs a %s with its query', async (method, body) => {
  const signedFetch = documented.signedFetch(CREDENTIALS);
  const response = await signedFetch(`${url}/v1/x?name=Zo%C3%AB&b=2`, { method, ...(body && { body }) });
  expect(response.status).toBe(200);
});
