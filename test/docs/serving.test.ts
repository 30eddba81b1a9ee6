import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TestClock } from '../world/test-clock.js';
import { startApplication, useWorld } from '../world/world.js';

const world = useWorld({ DOCS_ENABLED: 'true' });

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends exactly these headers and decodes nothing, unlike fetch. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(world.url + path, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    request.on('error', reject).end();
  });
}

const PAGES = ['/docs', '/docs/provider', '/docs/operator', '/docs/admin'];
/** Each resource of a page, by what follows the page's path, with its content type. */
const CONTENT_TYPES = {
  '': 'text/html; charset=utf-8',
  '/': 'text/html; charset=utf-8',
  '/index.html': 'text/html; charset=utf-8',
  '-json': 'application/json; charset=utf-8',
  '-yaml': 'text/yaml',
};
const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'sign-requests.js': 'text/javascript; charset=utf-8',
  'show-document.js': 'text/javascript; charset=utf-8',
  'docs.js': 'text/javascript; charset=utf-8',
  'docs-admin.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};
const RESOURCES = [
  ...PAGES.flatMap((page) =>
    Object.entries(CONTENT_TYPES).map(([name, type]) => [page + name, type] as const),
  ),
  ...Object.entries(ASSETS).map(([name, type]) => [`/docs/assets/any/${name}`, type] as const),
  ['/docs/operator-wallet-json', 'application/json; charset=utf-8'] as const,
  ['/docs/operator-wallet-yaml', 'text/yaml'] as const,
  ['/docs/contract', 'text/plain; charset=utf-8'] as const,
  ['/llms.txt', 'text/markdown; charset=utf-8'] as const,
  ['/docs/contract.md', 'text/markdown; charset=utf-8'] as const,
  ['/docs/provider.md', 'text/markdown; charset=utf-8'] as const,
  ['/docs/test-vectors.json', 'application/json; charset=utf-8'] as const,
];

test.each(PAGES)('the links of %s resolve', async (page) => {
  const document = (await ask(`${page}-json`)).body.toString();
  const links = new Set([...document.matchAll(/\]\((\/[^)\s]*)\)/g)].map(([, link]) => link!));
  expect(links).toContain('/docs/contract');
  for (const link of links) expect([link, (await ask(link)).status]).toEqual([link, 200]);
});

test.each(RESOURCES)('%s is sent plain, compressed or not at all', async (path, type) => {
  const plain = await ask(path);
  const gzip = await ask(path, { 'accept-encoding': 'gzip, br' });
  expect([plain.status, plain.headers['content-type']]).toEqual([200, type]);
  expect([gzip.status, gzip.headers['content-type']]).toEqual([200, type]);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(gzip.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  for (const { headers, body } of [plain, gzip]) {
    expect(headers.etag).toMatch(/^"[\w-]+"$/);
    expect(headers.vary).toBe('Accept-Encoding');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['content-length']).toBe(String(body.length));
    expect(headers['x-request-id']).toBeDefined();
  }
  expect(plain.headers.etag).not.toBe(gzip.headers.etag);

  const known = await ask(path, { 'if-none-match': plain.headers.etag! });
  expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, plain.headers.etag]);
  expect(known.headers.vary).toBe('Accept-Encoding');
});

test.each(PAGES.map((page) => `${page}-json`))(
  'every link within the service that %s shows resolves',
  async (path) => {
    const { body } = await ask(path);
    const links = [...body.toString().matchAll(/\]\(((?!https?:)[^)\s]+)\)/g)].map(([, link]) => link!);
    expect(links).not.toEqual([]);
    for (const link of new Set(links)) expect([link, (await ask(link)).status]).toEqual([link, 200]);
  },
);

const addressesIn = (html: Buffer) =>
  [...html.toString().matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!);

test.each(PAGES)('a browser keeps what %s loads, until it changes', async (page) => {
  const { body } = await ask(page);
  const addresses = addressesIn(body);
  expect(addresses).toHaveLength(7);
  for (const address of addresses) {
    const { status, headers } = await ask(address);
    expect([address, status]).toEqual([address, 200]);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  }
  for (const address of [`${page}/`, `${page}/index.html`])
    expect((await ask(address)).body.equals(body)).toBe(true);
});

test('the pages share all assets but the script of the document', async () => {
  const [first, ...others] = await Promise.all(
    PAGES.map(async (page) => addressesIn((await ask(page)).body)),
  );
  for (const other of others) expect(other.filter((address) => !first!.includes(address))).toHaveLength(1);
});

test.each([
  ['"other", W/ETAG', 304],
  ['*', 304],
  ['"other"', 200],
  ['', 200],
])('If-None-Match: %s is a %i', async (known, status) => {
  const { headers } = await ask('/docs-json');
  const answer = await ask('/docs-json', { 'if-none-match': known.replace('ETAG', headers.etag!) });
  expect(answer.status).toBe(status);
});

test('an ETag of the compressed form is not one of the plain form', async () => {
  const { headers } = await ask('/docs-json', { 'accept-encoding': 'gzip' });
  expect((await ask('/docs-json', { 'if-none-match': headers.etag! })).status).toBe(200);
});

test('gzip is not sent to a client that refuses it', async () => {
  const answer = await ask('/docs-json', { 'accept-encoding': 'gzip;q=0, identity' });
  expect(answer.headers['content-encoding']).toBeUndefined();
});

test.each(['/docs-yaml', '/llms.txt', '/docs/contract.md'])(
  'HEAD of %s answers as GET, without the body',
  async (path) => {
    const got = await ask(path);
    const head = await ask(path, {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(got.body.length));
    expect(head.headers.etag).toBe(got.headers.etag);
  },
);

test.each([
  'package.json',
  'README.md',
  'LICENSE',
  'NOTICE',
  'absolute-path.js',
  'index.js',
  'swagger-ui.js',
  'swagger-ui-bundle.js.map',
  'swagger-ui.css.map',
  'swagger-ui-standalone-preset.js.map',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui-es-bundle.js',
  'oauth2-redirect.html',
  'swagger-initializer.js',
  'log.bundle-sizes.swagger-ui.txt',
])('%s of swagger-ui-dist is not served', async (name) => {
  for (const page of ['/docs', '/docs/provider']) {
    expect((await ask(`${page}/${name}`)).status).toBe(404);
    expect((await ask(`${page}/assets/any/${name}`)).status).toBe(404);
  }
});

describe('the limit on documents', () => {
  // On a busy machine, 500 requests take longer than other tests.
  test(
    'limits a client that only loads documents, and affects no other route',
    { timeout: 60_000 },
    async () => {
      const { app, url } = await startApplication(
        { DATABASE_URL: world.databaseUrl, DOCS_ENABLED: 'true' },
        new TestClock(),
      );
      // The window does not end meanwhile, however long the requests take on a busy machine.
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const load = () => fetch(`${url}/docs/assets/any/favicon-32x32.png`, { method: 'HEAD' });
      for (let loaded = 0; loaded < 500; loaded += 50) {
        const responses = await Promise.all(Array.from({ length: 50 }, load));
        expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200));
      }
      const refused = await load();
      expect(refused.status).toBe(429);
      expect(refused.headers.get('x-error-code')).toBe('RATE_LIMITED');
      expect(refused.headers.get('x-next-action')).toBe('wait-then-retry');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      for (const path of ['/llms.txt', '/docs/contract.md'])
        expect((await fetch(url + path)).status).toBe(429);
      for (const path of ['/health/live', '/health/ready', '/metrics']) {
        expect((await fetch(url + path)).status).toBe(200);
      }
      expect((await fetch(`${url}/v1/wallet/balance`, { method: 'POST' })).status).toBe(401);
      vi.advanceTimersByTime(10_000);
      expect((await load()).status).toBe(200);
      await app.close();
    },
  );
});
