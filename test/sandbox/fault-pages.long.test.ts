import { signRequest } from '@croupier/provider-sdk';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appliesTo, type FaultName, FAULTS } from '../../src/sandbox/faults/faults.js';
import { CHROMIUM, FLAGS } from '../world/browser.js';
import { startCounterparts } from './counterparts.js';

const SECRET = 'the secret';
/** The narrowest phone that is in use, in CSS pixels. */
const NARROW = 360;
const BET = {
  providerId: 'p',
  kind: 'BET',
  playerRef: 'player-1',
  gameId: 'g',
  roundId: 'r',
  currency: 'EUR',
  amountMinor: 100,
};
const GRANT = { playerRef: 'player-1', gameId: 'g', spins: 3, betAmountMinor: 0, currency: 'EUR' };

describe.skipIf(!existsSync(CHROMIUM))('the pages of the sandbox’s faults', { timeout: 60_000 }, () => {
  let counterparts: Awaited<ReturnType<typeof startCounterparts>>;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const origins = new Set<string>();

  beforeAll(async () => {
    counterparts = await startCounterparts(SECRET);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    page = await browser.newPage();
    page.on('request', (request) => void origins.add(new URL(request.url()).origin));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  });
  afterAll(async () => {
    await browser.close();
    await counterparts.stop();
  });

  /** The status of a signed call. */
  async function call(tenantId: string, url: string, fields: object): Promise<number> {
    const { origin, pathname: path } = new URL(url);
    const body = JSON.stringify(fields);
    const signed = { method: 'POST', path, body, tenantId, secret: SECRET };
    const headers = signRequest({ ...signed, nonce: randomUUID(), now: Date.now() / 1000 });
    return (await fetch(origin + path, { method: 'POST', headers, body })).status;
  }

  const pages = [
    {
      name: 'wallet',
      origin: () => new URL(counterparts.wallet.baseUrl).origin,
      operations: ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT', 'balance'] as const,
      // A fault strikes the first call of each transaction.
      call: () =>
        call('operator', `${counterparts.wallet.baseUrl}/transaction`, {
          ...BET,
          transactionId: randomUUID(),
        }),
    },
    {
      name: 'provider',
      origin: () => new URL(counterparts.provider.baseUrl).origin,
      operations: ['grant', 'status', 'cancel', 'revoke'] as const,
      call: () =>
        call('provider', `${counterparts.provider.baseUrl}/v1/game/free-spins/grant`, {
          ...GRANT,
          requestRef: randomUUID(),
        }),
    },
  ];

  /** Executes an operation as the page proposes it, and resolves with the status that the page shows. */
  async function execute(method: string): Promise<string> {
    const operation = page.locator(`.opblock-${method}`, { hasText: '/sandbox/faults' });
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('button.execute').click();
    const status = operation.locator('.live-responses-table .response-col_status').last();
    await status.waitFor();
    return (await status.innerText()).trim();
  }

  test.each(pages)('the page of $name lists its faults, also on a phone', async ({ origin, operations }) => {
    await page.setViewportSize({ width: NARROW, height: 740 });
    await page.goto(`${origin()}/docs`);
    await page.locator('.opblock-put').waitFor();
    const listed = await page.locator('.info table tbody tr td:first-child').allInnerTexts();
    const names = Object.keys(FAULTS) as FaultName[];
    expect(listed).toEqual(names.filter((name) => operations.some((each) => appliesTo(name, each))));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(NARROW);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test.each(pages)(
    'the example on the page of $name causes a fault, once',
    async ({ origin, call: counterpart }) => {
      await page.goto(`${origin()}/docs`);
      expect(await execute('put')).toBe('200');
      expect([await counterpart(), await counterpart()]).toEqual([500, 200]);
      expect(await execute('get')).toBe('200');
      const shown = page.locator('.opblock-get .live-responses-table .response-col_description');
      expect(await shown.last().innerText()).toContain('"applied": 1');
      expect(await execute('delete')).toBe('200');
      const rules: unknown = await (await fetch(`${origin()}/sandbox/faults`)).json();
      expect(rules).toEqual({ rules: [] });
    },
  );

  test('nothing is loaded from another origin, and the browser reports no error', () => {
    expect(complaints).toEqual([]);
    expect([...origins].sort()).toEqual(pages.map(({ origin }) => origin()).sort());
  });
});
