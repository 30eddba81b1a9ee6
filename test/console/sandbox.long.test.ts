import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ConsoleSandbox } from '../../src/console/console-sandbox.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { temporaryFolder } from '../world/temporary-folder.js';
import { ADMIN_KEY, bearer, useWorld } from '../world/world.js';
import { describeDesk, overflows, PHONE, seriousFindings, signIn, useDesk } from './support/desk.js';

describeDesk('the page Sandbox', () => {
  const world = useWorld({ SANDBOX: 'true' });
  const desk = useDesk(world);

  beforeAll(async () => {
    const folder = await temporaryFolder();
    const sandbox = await startSandbox({
      apiUrl: world.url,
      adminApiKey: ADMIN_KEY,
      folder: folder.path,
      walletPort: 0,
      providerPort: 0,
      log: () => undefined,
    });
    world.app.get(ConsoleSandbox).open({ ...sandbox.file, faults: sandbox.walletFaults });
    return async () => {
      await sandbox.stop();
      await folder.remove();
    };
  });

  const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
  const exchange = (page: Page, name: string) => page.getByRole('article', { name, exact: true }).first();

  async function launched(options: object = {}): Promise<Page> {
    const page = await desk.signedIn('/console/sandbox', ADMIN_KEY, options);
    await press(page, 'Launch a session');
    await exchange(page, 'Launch a session').getByText('201', { exact: true }).waitFor();
    return page;
  }

  test('a round is played step by step, each request signed in the browser', async () => {
    const page = await launched();
    await press(page, 'Verify the session');
    await exchange(page, 'Verify the session').getByText('"mode": "REAL"').waitFor();
    await page.getByLabel('Stake in EUR').fill('12.50');
    await press(page, 'Submit a BET');
    const bet = exchange(page, 'Submit a BET');
    await bet.getByText('"amountMinor": 1250').waitFor();
    await bet.getByText(/X-Signature: [0-9a-f]{64}/).waitFor();
    await bet.getByText('The operator debited 12.50 EUR.').waitFor();
    await press(page, 'Submit its WIN');
    await exchange(page, 'Submit its WIN').getByText('The operator credited 4.00 EUR.').waitFor();
    await press(page, 'Read the balance');
    await exchange(page, 'Read the balance').getByText('"balance": 99150').waitFor();
    await page.context().close();
  });

  test('a fault leaves a BET undecided, and its repetition decides it', async () => {
    const page = await launched();
    await page.getByLabel('Fault of the wallet').selectOption('book-and-answer-500');
    await press(page, 'Submit a BET');
    await exchange(page, 'Submit a BET').getByText('TIMED_OUT').waitFor();
    await press(page, 'Repeat the last request');
    await exchange(page, 'Submit a BET, repeated').getByText('"status": "APPROVED"').waitFor();
    // The first exchange follows its transaction.
    await exchange(page, 'Submit a BET').getByText('The operator debited 2.50 EUR.').waitFor();
    await press(page, 'Roll the BET back');
    await exchange(page, 'Roll the BET back').getByText('"status": "APPROVED"').waitFor();
    await page.context().close();
  });

  test('after a reload, the same player has transactions with other ids', async () => {
    const page = await launched();
    const player = await page.getByLabel('Player').inputValue();
    const betId = async () => {
      await press(page, 'Submit a BET');
      const link = exchange(page, 'Submit a BET').getByRole('link');
      await exchange(page, 'Submit a BET').getByText('The operator debited 2.50 EUR.').waitFor();
      return link.textContent();
    };
    const first = await betId();
    await page.reload();
    await signIn(page, ADMIN_KEY);
    await page.getByLabel('Player').fill(player);
    await press(page, 'Launch a session');
    await exchange(page, 'Launch a session').getByText('201', { exact: true }).waitFor();
    expect(await betId()).not.toBe(first);
    await page.context().close();
  });

  test('what is no amount is not sent', async () => {
    const page = await launched();
    await page.getByLabel('Stake in EUR').fill('2.505');
    await press(page, 'Submit a BET');
    await page.locator('input:invalid').waitFor();
    // A later exchange is listed beside the earlier ones.
    await press(page, 'Verify the session');
    await exchange(page, 'Verify the session').getByText('"mode": "REAL"').waitFor();
    expect(await page.getByRole('article').count()).toBe(2);
    await page.context().close();
  });

  test('the secrets need the role operations', async () => {
    const page = await desk.signedIn('/console/sandbox', await desk.keyOf('support'));
    await page.getByText('Needs the role operations').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Launch a session' }).count()).toBe(0);
    const secrets = (key: string) => fetch(`${world.url}/console/sandbox.json`, { headers: bearer(key) });
    expect((await secrets(await desk.keyOf('support'))).status).toBe(403);
    expect((await fetch(`${world.url}/console/sandbox.json`)).status).toBe(401);
    await page.context().close();
  });

  test.each(['light', 'dark'] as const)(
    'nothing serious for axe, and it fits a phone: %s',
    async (colorScheme) => {
      const page = await launched({ bypassCSP: true, colorScheme, viewport: PHONE });
      await press(page, 'Submit a BET');
      await exchange(page, 'Submit a BET').getByText('APPROVED').first().waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      await page.context().close();
    },
  );

  test('no page complained', () => expect(desk.complaints).toEqual([]));
});
