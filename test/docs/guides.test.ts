import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SOURCES } from '../../src/openapi/pages/guides.js';
import { freePort } from '../engines/postgres-server.js';
import { TestClock } from '../world/test-clock.js';
import { startApplication, useWorld } from '../world/world.js';

/** Maximum size of a page and of llms.txt, in bytes. An agent reads llms.txt whole. */
const MAX_PAGE_BYTES = 256 * 1024;
const MAX_LLMS_BYTES = 8 * 1024;
const MARKDOWN = 'text/markdown; charset=utf-8';

const PAGES = [
  'overview',
  'contract',
  'provider',
  'operator',
  'openapi-clients',
  'debug-signature',
  'sandbox',
  'reconciliation',
  'glossary',
  'sdk',
  'other-languages',
  'cli',
].map((name) => `/docs/${name}.md`);

const world = useWorld({ DOCS_ENABLED: 'true' });

const get = (path: string, init: RequestInit = {}) => fetch(world.url + path, init);
const textOf = async (path: string) => (await get(path)).text();

/** The targets of the links in a Markdown text, outside of code. */
const linksIn = (markdown: string) =>
  [...markdown.replace(/```[^]*?```/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);

/** The anchor that renderers give a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

async function isBroken(link: string, page: string): Promise<boolean> {
  if (/^https?:/.test(link)) return false;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : path;
  if (!target.startsWith('/')) return true;
  const answer = await get(target);
  if (answer.status !== 200) return true;
  if (anchor === undefined) return false;
  const headings = [...(await answer.text()).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    anchorOf(heading!),
  );
  return !headings.includes(anchor);
}

const SIZES: [page: string, maxBytes: number][] = [
  ['/llms.txt', MAX_LLMS_BYTES],
  ...PAGES.map((page): [string, number] => [page, MAX_PAGE_BYTES]),
];

test.each(SIZES)('%s is Markdown of bounded size, and each of its links resolves', async (page, maxBytes) => {
  const answer = await get(page);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, MARKDOWN]);
  const text = await answer.text();
  expect(text).toMatch(/^# \S/);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
  const broken: string[] = [];
  for (const link of new Set(linksIn(text))) if (await isBroken(link, page)) broken.push(link);
  expect(broken).toEqual([]);
});

describe('llms.txt', () => {
  test('links to every page, to the OpenAPI documents and to the test vectors', async () => {
    const links = linksIn(await textOf('/llms.txt'));
    const documents = ['/docs', '/docs/provider', '/docs/operator', '/docs/operator-wallet', '/docs/admin'];
    const json = documents.map((document) => `${document}-json`);
    expect(links.sort()).toEqual([...PAGES, ...json, '/docs/test-vectors.json'].sort());
  });

  test.each([
    'A missing answer is not a refusal',
    'the same id and the same bytes',
    'Never change a signed body',
    'Verify the signature before you parse the body',
    'integers in minor units',
    'npx @croupier/cli certify',
  ])('says: %s', async (sentence) => {
    expect(await textOf('/llms.txt')).toContain(sentence);
  });

  test.each(['certify', 'certify-operator', 'certify-client', 'debug-signature'])(
    'names the command %s, which the page of the commands explains',
    async (command) => {
      expect(await textOf('/llms.txt')).toContain(command);
      expect(await textOf('/docs/cli.md')).toMatch(new RegExp(`^\\| \`${command}\` `, 'm'));
    },
  );
});

test('a link between pages names the address, and the file of the repository has the same text', async () => {
  expect(await textOf('/docs/provider.md')).toContain('[contract](/docs/contract.md)');
  expect(await textOf('/docs/contract.md')).toBe(readFileSync('docs/contract.md', 'utf8'));
  expect(await textOf('/docs/test-vectors.json')).toBe(readFileSync('sdk/test-vectors.json', 'utf8'));
});

test('the commands name the port of the service, and the next two for its sandbox', async () => {
  const port = await freePort();
  const environment = { DATABASE_URL: world.databaseUrl, DOCS_ENABLED: 'true', PORT: String(port) };
  const { app, url } = await startApplication(environment, new TestClock());
  onTestFinished(() => app.close());
  const texts = new Map<string, string>();
  for (const page of ['/llms.txt', ...PAGES]) texts.set(page, await (await fetch(url + page)).text());
  for (const [page, text] of texts) expect([page, text.match(/:300\d\b/g)]).toEqual([page, null]);
  expect(texts.get('/llms.txt')).toContain(`http://127.0.0.1:${port} in the sandbox`);
  expect(texts.get('/docs/provider.md')).toContain(`"http://127.0.0.1:${port}$2"`);
  expect(texts.get('/docs/sandbox.md')).toContain(`http://127.0.0.1:${port + 1}/sandbox/faults`);
  expect(texts.get('/docs/sandbox.md')).toContain(`http://127.0.0.1:${port + 2}/docs`);
  expect(texts.get('/docs/cli.md')).toContain('http://127.0.0.1:4000/rgs');
});

test.each([
  '/docs/unknown.md',
  '/docs/operations.md',
  '/docs/CONTRACT.md/x',
  '/docs/integrate/provider.md',
  '/docs/%2e%2e/README.md',
  '/docs/..%2f..%2fpackage.json.md',
  '/docs/../package.json',
  '/docs/contract.md%00',
  '/llms.txt/x',
  '/llms-full.txt',
])('%s is a 404', async (path) => {
  const { status, code, json } = await rawGet(path);
  expect([status, code, json]).toEqual([404, 'NOT_FOUND', { error: expect.any(String) }]);
});

/** Sends the path as it is; `fetch` would remove dot segments from it. */
async function rawGet(path: string) {
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1').setEncoding('utf8');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  const [, status] = /^HTTP\/1\.1 (\d+)/.exec(head) ?? [];
  const [, code] = /^x-error-code: (.+)$/im.exec(head) ?? [];
  return { status: Number(status), code, json: JSON.parse(body) as unknown };
}

test('with DOCS_ENABLED=false none is served', async () => {
  const environment = { DATABASE_URL: world.databaseUrl, DOCS_ENABLED: 'false' };
  const { app, url } = await startApplication(environment, new TestClock());
  onTestFinished(() => app.close());
  for (const path of ['/llms.txt', ...PAGES, '/docs/test-vectors.json', '/docs/contract'])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
});

test('every file that is served is part of the image, and a change of it causes a build', () => {
  const included = Array.from(
    readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm),
    ([, path]) => path!,
  );
  const watched = Array.from(
    readFileSync('ops/build-if-stale.mjs', 'utf8').matchAll(/^ {2}'([^']+)',$/gm),
    ([, path]) => path!,
  );
  for (const paths of [included, watched]) {
    const isCovered = (source: string) =>
      paths.some((path) => source === path || source.startsWith(`${path}/`));
    expect(SOURCES.filter((source) => !isCovered(source))).toEqual([]);
  }
});
