import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { playRound } from '../../src/demo/round.js';
import { readSandboxFile, sandboxFileIn, type SandboxFile } from '../../src/sandbox/sandbox-file.js';
import { launch, type Launched } from '../process/launch.js';
import { until } from '../world/patience.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { CHROMIUM, FLAGS } from '../world/browser.js';

/** Time-out of a step on a page, in milliseconds. */
const PATIENCE_MS = 60_000;

/** Swagger's button, once the operation's definition has been loaded, and the answer to its example before is shown. */
const READY_BUTTON = '.opblock-body:not(:has(.opblock-loading-animation)) button.execute:enabled';

interface Refusal {
  readonly status: number;
  readonly because: string;
}

const IS_DECIDED = { status: 409, because: 'the transaction is decided, and neither timed out nor parked' };
const IS_GRANTED = { status: 409, because: 'only a FAILED grant can be sent again' };
const IS_GENERATED = { status: 404, because: 'the id of a reconciliation is generated' };
const IS_LATER = { status: 404, because: 'items appear up to ten seconds after their cause' };

/** Examples that do not succeed. All others must. */
const REFUSED: Readonly<Record<string, Refusal>> = {
  'POST /v1/admin/sessions/{sessionId}/notify': { status: 409, because: 'the revocation was delivered' },
  'POST /v1/admin/transactions/{providerId}/{transactionId}/resolve': IS_DECIDED,
  'POST /v1/admin/transactions/{providerId}/{transactionId}/settle': IS_DECIDED,
  'POST /v1/admin/free-spins/{requestRef}/resend': IS_GRANTED,
  'POST /v1/operator/free-spins/{requestRef}/resend': IS_GRANTED,
  'POST /v1/admin/approvals/{approvalId}/reject': { status: 409, because: 'the example before approved it' },
  'DELETE /v1/admin/keys/{id}': { status: 404, because: 'no example names a key that somebody may use' },
  'GET /v1/admin/reconciliations/{id}': IS_GENERATED,
  'GET /v1/admin/reconciliations/{id}/findings': IS_GENERATED,
  'GET /v1/admin/attention/{id}': IS_LATER,
  'POST /v1/admin/attention/{id}/assign': IS_LATER,
  'POST /v1/admin/attention/{id}/snooze': IS_LATER,
  'POST /v1/admin/attention/{id}/comments': IS_LATER,
  'POST /v1/admin/attention/{id}/close': IS_LATER,
};

/** Reads that are not a GET. */
const READS = [
  'POST /v1/wallet/session/verify',
  'POST /v1/wallet/balance',
  'POST /v1/admin/free-spins/preview',
  'POST /v1/admin/free-spins/batches/preview',
  'POST /v1/admin/free-spins/{requestRef}/status',
  'POST /v1/operator/free-spins/{requestRef}/status',
];
const isRead = (name: string) => name.startsWith('GET ') || READS.includes(name);

describe.skipIf(!existsSync(CHROMIUM))('every example of the sandbox', { timeout: 600_000 }, () => {
  let service: Launched;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let file: SandboxFile;
  let browser: Browser;
  let page: Page;
  /** By operation: the status of each of its examples. */
  const statuses = new Map<string, number[]>();

  beforeAll(async () => {
    folder = await temporaryFolder();
    service = launch({ DATA_DIR: folder.path, PORT: '0', SANDBOX: 'true' });
    await until(async () => service.lines.some((line) => line.includes('npm run round')));
    file = (await readSandboxFile(sandboxFileIn(join(folder.path, 'sandbox'))))!;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
  });

  afterAll(async () => {
    await browser.close();
    service.process.kill('SIGTERM');
    await until(async () => service.process.exitCode !== null);
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
    await press(operation.locator(READY_BUTTON));
    return (await answered).status();
  }

  async function executeExamples(name: string, operation: Locator): Promise<void> {
    await press(operation.locator('.opblock-summary-control'));
    const select = operation.locator('.opblock-section-request-body .examples-select-element');
    const examples = await select.locator('option').evaluateAll(valuesOf);
    const own: number[] = [];
    for (const example of examples.length > 0 ? examples : [undefined]) {
      if (example !== undefined) await select.selectOption(example);
      own.push(await execute(operation));
    }
    statuses.set(name, own);
    await press(operation.locator('.opblock-summary-control'));
  }

  /** Opens one tag at a time, because Swagger renders all open operations at each change. */
  async function executeOfAllTags(wanted: (name: string) => boolean): Promise<void> {
    for (const section of await page.locator('.opblock-tag-section').all()) {
      const toggle = section.locator('.opblock-tag');
      await toggle.click();
      for (const operation of await section.locator('.opblock').all()) {
        const path = await operation.locator('.opblock-summary-path').getAttribute('data-path');
        const name = `${await operation.locator('.opblock-summary-method').innerText()} ${path}`;
        if (wanted(name)) await executeExamples(name, operation);
      }
      await toggle.click();
    }
  }

  test('is executed unchanged, reads first', async () => {
    await page.goto(file.docsUrl);
    await authorize();
    await executeOfAllTags(isRead);
    await executeOfAllTags((name) => !isRead(name));
    const { paths } = (await (await fetch(`${file.docsUrl}-json`)).json()) as {
      paths: Record<string, object>;
    };
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect([...statuses.keys()].sort()).toEqual(documented.sort());
  });

  test('succeeds, or is refused for a known reason', () => {
    const unexpected = [...statuses].filter(([name, own]) =>
      own.some((status) => (REFUSED[name] ? status !== REFUSED[name].status : status >= 300)),
    );
    expect(Object.fromEntries(unexpected)).toEqual({});
  });

  test('leaves a sandbox in which a whole round works', async () => {
    const told: string[] = [];
    await playRound(file, { print: (text) => told.push(text), colours: false });
    expect(told.at(-1)).toContain('The round was played');
  });
});

/** Clicks without waiting until the page is at rest, which would take most of the time of this test. */
function press(button: Locator): Promise<void> {
  return button.dispatchEvent('click');
}

/** The values of a select's options. */
function valuesOf(options: readonly object[]): string[] {
  return options.map((option) => (option as { value: string }).value);
}
