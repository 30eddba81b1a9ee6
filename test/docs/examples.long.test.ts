import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { playRound } from '../../src/sandbox/round.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { readSandboxFile, sandboxFileIn, type SandboxFile } from '../../src/sandbox/sandbox-file.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { ADMIN_KEY, startWorld, type World } from '../world/world.js';
import { CHROMIUM, FLAGS } from './browser.js';

/** Time-out of a step on a page, in milliseconds. */
const PATIENCE_MS = 30_000;

/**
 * Operations whose examples name an object that does not exist yet, or has a generated id, with the expected status.
 * All other operations must succeed with their examples unchanged.
 */
const NEEDS_MORE: Readonly<Record<string, number>> = {
  'POST /v1/wallet/session/verify': 401,
  'POST /v1/wallet/transaction': 401,
  'POST /v1/wallet/balance': 401,
  'POST /v1/operator/sessions/{sessionId}/revoke': 404,
  'GET /v1/admin/sessions/{sessionId}': 404,
  'POST /v1/admin/sessions/{sessionId}/revoke': 404,
  'POST /v1/admin/sessions/{sessionId}/notify': 404,
  // The adjustment that the example of POST /v1/admin/adjustments books, further down on the page.
  'GET /v1/admin/transactions/{providerId}/{transactionId}': 404,
  'POST /v1/admin/transactions/{providerId}/{transactionId}/resolve': 404,
  'GET /v1/admin/rounds/{providerId}/{roundId}': 404,
  'POST /v1/admin/transactions/{providerId}/{transactionId}/settle': 404,
  'GET /v1/admin/free-spins/batches/{batchId}': 404,
  'GET /v1/operator/free-spins/batches/{batchId}': 404,
  'GET /v1/admin/callbacks/{callbackId}': 404,
  // Only a FAILED grant can be resent.
  'POST /v1/admin/free-spins/{requestRef}/resend': 409,
  'POST /v1/operator/free-spins/{requestRef}/resend': 409,
  'GET /v1/admin/approvals/{approvalId}': 404,
  'POST /v1/admin/approvals/{approvalId}/approve': 404,
  'POST /v1/admin/approvals/{approvalId}/reject': 404,
  'GET /v1/operator/approvals/{approvalId}': 404,
  'POST /v1/admin/free-spins/batches/{batchId}/cancel': 404,
  'POST /v1/admin/free-spins/batches/{batchId}/resend': 404,
  'POST /v1/operator/free-spins/batches/{batchId}/cancel': 404,
  'POST /v1/operator/free-spins/batches/{batchId}/resend': 404,
  'GET /v1/admin/attention/{id}': 404,
  'POST /v1/admin/attention/{id}/assign': 404,
  'POST /v1/admin/attention/{id}/snooze': 404,
  'POST /v1/admin/attention/{id}/comments': 404,
  'POST /v1/admin/attention/{id}/close': 404,
  'DELETE /v1/admin/keys/{id}': 404,
};

describe.skipIf(!existsSync(CHROMIUM))('every example of the sandbox', { timeout: 600_000 }, () => {
  let world: World;
  let sandbox: Sandbox;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let file: SandboxFile;
  let browser: Browser;
  let page: Page;
  /** By operation: the status of each of its examples. */
  const statuses = new Map<string, number[]>();

  beforeAll(async () => {
    folder = await temporaryFolder();
    world = await startWorld({ SANDBOX: 'true' });
    // The browser and the sandbox sign with the time of day.
    world.clock.advance(Date.now() / 1000 - world.clock.unixSeconds());
    const ports = { walletPort: 0, providerPort: 0 };
    const options = { apiUrl: world.url, adminApiKey: ADMIN_KEY, folder: folder.path, log: () => undefined };
    sandbox = await startSandbox({ ...options, ...ports });
    file = (await readSandboxFile(sandboxFileIn(folder.path)))!;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
  });

  afterAll(async () => {
    await browser.close();
    await world.stop();
    await sandbox.stop();
    await folder.remove();
  });

  async function authorize(): Promise<void> {
    await page.locator('.auth-wrapper .authorize').first().click();
    for (const [scheme, fields] of Object.entries({
      'provider-signature': [file.provider.id, file.provider.secret],
      'operator-signature': [file.operator.id, file.operator.secret],
      'admin-key': [file.adminApiKey],
    })) {
      const form = page.locator('.auth-container', { hasText: scheme });
      for (const [index, value] of fields.entries()) await form.locator('input').nth(index).fill(value);
      await form.locator('button.authorize').click();
    }
    await page.locator('.btn-done').first().click();
  }

  async function execute(operation: Locator): Promise<number> {
    const answered = page.waitForResponse((response) => response.request().resourceType() === 'fetch');
    await operation.locator('button.execute').click();
    return (await answered).status();
  }

  test('is executed unchanged', async () => {
    world.clock.advance(Date.now() / 1000 - world.clock.unixSeconds());
    await page.goto(`${world.url}/docs`);
    await authorize();
    const tags = page.locator('.opblock-tag');
    for (let index = 0; index < (await tags.count()); index += 1) await tags.nth(index).click();
    const operations = page.locator('.opblock-tag-section .opblock');
    for (let index = 0; index < (await operations.count()); index += 1) {
      const operation = operations.nth(index);
      const path = await operation.locator('.opblock-summary-path').getAttribute('data-path');
      const name = `${await operation.locator('.opblock-summary-method').innerText()} ${path}`;
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.try-out__btn').click();
      const select = operation.locator('.opblock-section-request-body .examples-select-element');
      const examples = await select.locator('option').evaluateAll(valuesOf);
      const own: number[] = [];
      for (const example of examples.length > 0 ? examples : [undefined]) {
        if (example !== undefined) await select.selectOption(example);
        own.push(await execute(operation));
      }
      statuses.set(name, own);
      await operation.locator('.opblock-summary-control').click();
    }
    const { paths } = (await world.request('/docs-json')).json as { paths: Record<string, object> };
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect([...statuses.keys()].sort()).toEqual(documented.sort());
  });

  test('succeeds, or names an object that does not exist yet', () => {
    const unexpected = [...statuses].filter(([name, own]) =>
      own.some((status) => (NEEDS_MORE[name] ? status !== NEEDS_MORE[name] : status >= 300)),
    );
    expect(Object.fromEntries(unexpected)).toEqual({});
  });

  test('leaves a sandbox in which a whole round works', async () => {
    world.clock.advance(Date.now() / 1000 - world.clock.unixSeconds());
    const told: string[] = [];
    await playRound(file, { print: (text) => told.push(text), colours: false });
    expect(told.at(-1)).toContain('The round was played');
  });
});

/** The values of a select's options. */
function valuesOf(options: readonly object[]): string[] {
  return options.map((option) => (option as { value: string }).value);
}
