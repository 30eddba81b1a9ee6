import { expect, test } from 'vitest';
import { VERSION } from '../../src/runtime/build.js';
import { startApplication, useWorld } from '../world/world.js';

const world = useWorld({ DOCS_ENABLED: 'true' });

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(world.url + path, { method, headers, redirect: 'error' });

/** The addresses of the scripts, styles and images that the page names. */
async function assets(): Promise<string[]> {
  const html = await (await get('/console/')).text();
  return Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, address]) => address!);
}

test.each([
  '/console',
  '/console/',
  '/console/attention',
  '/console/transactions/acme/bet.1.js',
  '/console/transactions?state=TIMED_OUT',
  '/console/players/%E0%A4%A',
])('%s is the page', async (path) => {
  const response = await get(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(await response.text()).toContain('<div id="console">');
});

test('the page allows only scripts and styles of this origin, none of them inline, and no frame', async () => {
  const response = await get('/console/');
  const policy = Object.fromEntries(
    response.headers
      .get('content-security-policy')!
      .split(';')
      .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
  );
  expect(policy).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  });
  expect(response.headers.get('x-frame-options')).toBe('DENY');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  expect(await response.text()).not.toMatch(/<style|style=|<script(?![^>]* src=)[^>]*>| on\w+=/);
});

test('what the page names has a hash in its name, and may be cached for ever', async () => {
  const addresses = await assets();
  expect(addresses.length).toBeGreaterThanOrEqual(3);
  for (const address of addresses) {
    expect(address).toMatch(/^\/console\/assets\/[\w-]+-[\w-]{8}\.(?:js|css|svg)$/);
    const response = await get(address, { 'accept-encoding': 'gzip' });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('content-type')).toMatch(
      /^(?:text\/(?:javascript|css); charset=utf-8|image\/svg\+xml)$/,
    );
    const again = await get(address, { 'if-none-match': response.headers.get('etag')! });
    expect(again.status).toBe(304);
  }
});

test.each(['/console/assets/index-00000000.js', '/console/assets/..%2findex.html'])(
  'there is no %s',
  async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: 'not found' });
  },
);

test('HEAD has the headers only, and other methods have no route', async () => {
  const head = await get('/console/', {}, 'HEAD');
  expect(head.status).toBe(200);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(100);
  expect(await head.text()).toBe('');
  expect((await get('/console/', {}, 'POST')).status).toBe(404);
});

test('the settings name the environment and the version, and are not stored', async () => {
  const response = await get('/console/settings.json');
  expect(await response.json()).toEqual({ environment: 'production', version: VERSION });
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('the OpenAPI documents do not describe the console', async () => {
  const { paths } = (await world.request('/docs-json')).json as { paths: object };
  expect(Object.keys(paths).filter((path) => path.startsWith('/console'))).toEqual([]);
});

test('with CONSOLE_ENABLED=false, there is neither the page nor its settings', async () => {
  const environment = { DATABASE_URL: world.databaseUrl, CONSOLE_ENABLED: 'false' };
  const { app, url } = await startApplication(environment, world.clock);
  for (const path of [
    '/console',
    '/console/',
    '/console/attention',
    '/console/settings.json',
    ...(await assets()),
  ])
    expect((await fetch(url + path)).status, path).toBe(404);
  await app.close();
});
