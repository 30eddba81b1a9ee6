import type { INestApplication } from '@nestjs/common';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Dialog, type Locator, type Page, type Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '../../src/runtime/build.js';
import { ADMIN_KEY, OPERATOR, PROVIDER, startApplication, useWorld } from '../world/world.js';
import { CHROMIUM, FLAGS } from '../world/browser.js';

interface Violation {
  readonly id: string;
  readonly impact: string;
}

/** Stops an instance whose browser may keep spare connections, for which a stop would wait. */
async function stop(app: INestApplication): Promise<void> {
  (app.getHttpServer() as Server).closeAllConnections();
  await app.close();
}

const accept = (dialog: Dialog) => dialog.accept();

/** Time-out of a step on a page, in milliseconds. */
const PATIENCE_MS = 15_000;

/** The page, its two style sheets, its four scripts and its icon. */
const MAX_REQUESTS = 8;
/** Transferred by the first load, compressed. */
const MAX_BYTES = 560_000;
/** Only the page itself, which is revalidated. */
const MAX_BYTES_OF_CACHED_PAGE = 2_000;

/**
 * Loads a page until its operations are shown.
 * @returns what the browser transferred, and how long that took
 */
async function load(page: Page, url: string) {
  const began = performance.now();
  await page.goto(url);
  await page.locator('.opblock-tag').first().waitFor();
  const ms = Math.round(performance.now() - began);
  const sizes = await page.evaluate<number[]>(
    "['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type)).map((entry) => entry.transferSize)",
  );
  return { requests: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0), ms };
}

describe.skipIf(!existsSync(CHROMIUM))('Swagger in a browser', { timeout: 60_000 }, () => {
  let browser: Browser;
  let page: Page;
  let requests: Request[];
  /** Every origin that received a request. */
  const origins = new Set<string>();
  let complaints: string[];

  const world = useWorld({ SANDBOX: 'true', DOCS_ENABLED: 'true' });
  beforeAll(async () => {
    // The browser signs with the time of day.
    world.clock.advance(Date.now() / 1000 - world.clock.unixSeconds());
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    requests = [];
    complaints = [];
    page.on('request', (request) => {
      requests.push(request);
      if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  });

  afterAll(() => browser.close());

  /** Types into Authorize like a person. */
  async function authorize(scheme: string, fill: Record<string, string>): Promise<void> {
    await page.locator('.auth-wrapper .authorize').first().click();
    const form = page.locator('.auth-container', { hasText: scheme });
    for (const [selector, value] of Object.entries(fill)) await form.locator(selector).fill(value);
    await form.locator('button.authorize').click();
    await page.locator('.btn-done').first().click();
  }

  /** Unfolds all tags and one operation. */
  async function unfolded(operationPath: string, method: string): Promise<Locator> {
    await page.locator('.opblock-tag').first().waitFor();
    const folded = page.locator('.opblock-tag[data-is-open="false"]');
    while ((await folded.count()) > 0) await folded.first().click();
    const operation = page
      .locator(`.opblock-${method}`)
      .filter({ has: page.locator(`[data-path="${operationPath}"]`) });
    await operation.locator('.opblock-summary-control').click();
    return operation;
  }

  /** Tries an operation out; resolves with the status that the page shows, and what was sent. */
  async function tryOut(operationPath: string, method: string, body?: object) {
    const operation = await unfolded(operationPath, method);
    if (body) await operation.locator('textarea.body-param__text').fill(JSON.stringify(body, null, 2));
    requests.length = 0;
    await operation.locator('button.execute').click();
    const shown = operation.locator('.live-responses-table .response-col_status').last();
    await shown.waitFor();
    return { status: parseInt(await shown.innerText()), sent: requests.at(-1)! };
  }

  test('a provider authorizes once, and sends a signed balance', async () => {
    const session = await world.launch();
    const secret = world.secrets.get(PROVIDER)!;
    await page.goto(`${world.url}/docs/provider`);
    const typed = { '#auth-basic-username': PROVIDER, 'input[type=password]': secret };
    await authorize('provider-signature', typed);
    await page.reload();
    const body = { sessionToken: session.sessionToken };
    const { status, sent } = await tryOut('/v1/wallet/balance', 'post', body);
    expect(status).toBe(200);
    const headers = await sent.allHeaders();
    expect(headers).toMatchObject({
      'x-tenant-id': PROVIDER,
      'x-timestamp': expect.stringMatching(/^\d+$/),
      'x-nonce': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(headers).not.toHaveProperty('authorization');
    const wire = JSON.stringify([headers, sent.url(), sent.postData()]);
    for (const form of [secret, Buffer.from(`${PROVIDER}:${secret}`).toString('base64')]) {
      expect(wire).not.toContain(form);
    }
    expect(complaints).toEqual([]);
  });

  test('providers and operators have separate schemes in Authorize', async () => {
    await page.goto(`${world.url}/docs`);
    const typed = { '#auth-basic-username': OPERATOR, 'input[type=password]': world.secrets.get(OPERATOR)! };
    await authorize('operator-signature', typed);
    const launch = { playerRef: 'zoë', gameId: 'golden-reels', currency: 'EUR' };
    expect((await tryOut('/v1/operator/sessions', 'post', launch)).status).toBe(400);
    // Reloaded without the operation in its address, which Swagger would open automatically.
    await page.goto('about:blank');
    await page.goto(`${world.url}/docs`);
    const { status } = await tryOut('/v1/operator/sessions', 'post', { ...launch, playerRef: 'zoe' });
    expect(status).toBe(201);
  });

  test.each([
    { path: '/docs/provider', folded: false },
    { path: '/docs/operator', folded: true },
    { path: '/docs/admin', folded: true },
    { path: '/docs', folded: true },
  ])('$path: operations under their tags, folded if there are many: $folded', async ({ path, folded }) => {
    await page.goto(world.url + path);
    const tags = page.locator('.opblock-tag');
    await tags.first().waitFor();
    expect(await tags.count()).toBeGreaterThan(1);
    const alike = page.locator(`.opblock-tag[data-is-open="${!folded}"]`);
    expect(await alike.count()).toBe(await tags.count());
    expect((await page.locator('.opblock-tag-section .opblock').count()) > 0).toBe(!folded);
  });

  // The time is printed but not asserted, because it depends on the machine. Bytes, requests and caching are asserted.
  test.each(['/docs/provider', '/docs/operator', '/docs/admin', '/docs'])(
    'the first load of %s is small, and the next one comes from the cache',
    async (path) => {
      const context = await browser.newContext();
      const visitor = await context.newPage();
      const first = await load(visitor, world.url + path);
      expect(first.requests).toBeLessThanOrEqual(MAX_REQUESTS);
      expect(first.bytes).toBeLessThanOrEqual(MAX_BYTES);
      await visitor.goto('about:blank');
      const second = await load(visitor, world.url + path);
      expect(second.bytes).toBeLessThanOrEqual(MAX_BYTES_OF_CACHED_PAGE);
      console.log(`${path}: ${JSON.stringify({ first, second })}`);
      await context.close();
    },
  );

  test('Authorize says what to type', async () => {
    await page.goto(`${world.url}/docs`);
    await page.locator('.auth-wrapper .authorize').first().click();
    const labels = page.locator('.auth-container label');
    await labels.first().waitFor();
    const signed = ['Tenant id:', 'Secret:'];
    expect((await labels.allInnerTexts()).sort()).toEqual(['Admin key:', ...signed, ...signed].sort());
    await page.locator('.btn-done').first().click();
  });

  test('the key of an administrator is hidden like a password', async () => {
    await page.goto(`${world.url}/docs/admin`);
    await authorize('admin-key', { 'input[type=password]': ADMIN_KEY });
    expect((await tryOut('/v1/admin/games', 'get')).status).toBe(200);
    const curl = await page.locator('.curl-command').innerText();
    expect(curl).toContain('Authorization: Bearer <admin key>');
    expect(curl).not.toContain(ADMIN_KEY);
  });

  test('the banner names the environment, the version and who is signed in', async () => {
    const context = await browser.newContext();
    const visitor = await context.newPage();
    await visitor.goto(`${world.url}/docs/admin`);
    const banner = visitor.locator('.banner');
    await banner.filter({ hasText: `sandbox · version ${VERSION} · not signed in` }).waitFor();
    await visitor.locator('.auth-wrapper .authorize').first().click();
    await visitor.locator('.auth-container input').fill(ADMIN_KEY);
    await visitor.locator('.auth-container button.authorize').click();
    await banner.filter({ hasText: 'signed in: root (admin)' }).waitFor();
    await context.close();
  });

  test('the filter keeps the operations that have all words', async () => {
    await page.goto(`${world.url}/docs/admin`);
    const filter = page.getByLabel('Filter operations');
    await filter.fill('POST /v1/admin/games');
    const shown = page.locator('.opblock-summary-path');
    await expect.poll(() => shown.count()).toBe(2);
    const paths = (await shown.allInnerTexts()).map((text) => text.replaceAll('\u200b', ''));
    expect(paths.sort()).toEqual(['/v1/admin/games/{gameId}/pause', '/v1/admin/games/{gameId}/resume']);
    await filter.fill('');
    await expect.poll(() => page.locator('.opblock-tag').count()).toBeGreaterThan(10);
  });

  test.each(['light', 'dark'] as const)('no critical or serious finding of axe, %s', async (colorScheme) => {
    const context = await browser.newContext({ bypassCSP: true, colorScheme });
    const visitor = await context.newPage();
    await visitor.goto(`${world.url}/docs/admin`);
    // axe would measure a colour half-way through a transition.
    await visitor.addStyleTag({ content: '*, ::before, ::after { transition: none !important }' });
    await visitor.getByLabel('Filter operations').fill('games');
    for (const operation of await visitor.locator('.opblock-summary-control').all()) await operation.click();
    await visitor.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
    const violations = await visitor.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)');
    const severe = violations.filter(({ impact }) => impact === 'critical' || impact === 'serious');
    // Swagger UI puts a link into the button that unfolds an operation.
    expect(severe.map(({ id }) => id)).toEqual(['nested-interactive']);
    await context.close();
  });

  test.each(['/docs/provider', '/docs/admin'])('%s fits a phone', async (path) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 } });
    const visitor = await context.newPage();
    await visitor.goto(world.url + path);
    await visitor.getByLabel('Filter operations').waitFor();
    expect(await visitor.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await context.close();
  });

  test('outside the sandbox, credentials are forgotten with the page', async () => {
    const { app, url } = await startApplication(
      { DATABASE_URL: world.databaseUrl, DOCS_ENABLED: 'true' },
      world.clock,
    );
    await page.goto(`${url}/docs/provider`);
    // A sandbox at the same address may have left it behind.
    await page.evaluate("localStorage.setItem('authorized', '{}')");
    await page.reload();
    const secret = world.secrets.get(PROVIDER)!;
    await authorize('provider-signature', {
      '#auth-basic-username': PROVIDER,
      'input[type=password]': secret,
    });
    const body = { sessionToken: 'unknown' };
    page.on('dialog', accept);
    const typed = await tryOut('/v1/wallet/balance', 'post', body);
    expect(await typed.sent.allHeaders()).toHaveProperty('x-signature');
    expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{}');
    await page.goto('about:blank');
    await page.goto(`${url}/docs/provider`);
    const reloaded = await tryOut('/v1/wallet/balance', 'post', body);
    expect(await reloaded.sent.allHeaders()).not.toHaveProperty('x-signature');
    page.off('dialog', accept);
    origins.delete(url);
    await stop(app);
  });

  test('outside the sandbox, a request that may change something is sent after a confirmation', async () => {
    const { app, url } = await startApplication(
      { DATABASE_URL: world.databaseUrl, DOCS_ENABLED: 'true' },
      world.clock,
    );
    await page.goto(`${url}/docs/provider`);
    const operation = await unfolded('/v1/wallet/balance', 'post');
    requests.length = 0;
    const question = page.waitForEvent('dialog');
    const clicked = operation.locator('button.execute').click();
    expect((await question).message()).toBe(
      `This is production. Send POST /v1/wallet/balance to ${new URL(url).host}?`,
    );
    await (await question).dismiss();
    await clicked;
    page.once('dialog', accept);
    await operation.locator('button.execute').click();
    await operation.locator('.live-responses-table').getByText('401').first().waitFor();
    expect(requests).toHaveLength(1);
    origins.delete(url);
    await stop(app);
  });

  test('no other origin received a request', () => {
    expect([...origins]).toEqual([world.url]);
  });

  test('without the signing script, nothing is sent', async () => {
    await page.route('**/sign-requests.js', (route) => route.abort());
    await page.goto(`${world.url}/docs/provider`);
    const operation = await unfolded('/v1/wallet/balance', 'post');
    requests.length = 0;
    complaints.length = 0;
    await operation.locator('button.execute').click();
    await expect.poll(() => complaints).not.toEqual([]);
    expect(requests).toEqual([]);
    await page.unroute('**/sign-requests.js');
  });
});
