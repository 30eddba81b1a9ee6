import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { OPERATOR, useWorld } from '../world/world.js';
import {
  DESK,
  describeDesk,
  leaveSlow,
  overflows,
  PHONE,
  seriousFindings,
  signIn,
  useDesk,
} from './support/desk.js';

/** What a screen reader says about a dialog after its name. */
const descriptionOf = async (dialog: Locator) => {
  const id = await dialog.getAttribute('aria-describedby');
  return dialog.locator(`[id="${id}"]`).textContent();
};

describeDesk('limits', () => {
  const world = useWorld();
  const desk = useDesk(world);

  const limits = (currency: string) => world.admin('GET', `/v1/admin/limits/${OPERATOR}/${currency}`);

  test('a first limit holds at once; a higher one waits for another administrator', async () => {
    const page = await desk.signedIn('/console/limits', await desk.keyOf('admin'));
    await page.getByRole('button', { name: 'Set limits' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Operator').fill(OPERATOR);
    await dialog.getByLabel('Currency').fill('eur');
    await dialog.getByLabel('Adjustment').fill('250.505');
    await dialog.getByRole('button', { name: 'Set limits' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'Enter an amount of EUR' }).waitFor();
    await dialog.getByLabel('Adjustment').fill('250');
    await expect.poll(() => descriptionOf(dialog)).toMatch(/^A first or lower.*Adjustment: 250\.00 EUR$/);
    await dialog.getByRole('button', { name: 'Set limits' }).click();
    await page.getByRole('heading', { name: `Limits of ${OPERATOR} in EUR` }).waitFor();
    for (const place of [
      page.getByRole('table', { name: 'Limits' }),
      page.getByRole('region', { name: `Limits of ${OPERATOR} in EUR` }),
    ]) {
      const person = place.getByText('admin of the desk', { exact: true });
      await expect.poll(() => person.getAttribute('title')).toMatch(/^key:[0-9a-f-]{36}$/);
    }
    expect((await limits('EUR')).json).toMatchObject({ maxAdjustmentMinor: 25_000 });

    await page.getByText('Change the limits').first().click();
    await page.getByRole('textbox', { name: 'Adjustment' }).fill('1000.50');
    await page.getByRole('button', { name: 'Change the limits' }).click();
    await dialog.getByText('Adjustment: 250.00 EUR → 1,000.50 EUR').waitFor();
    await dialog.getByRole('button', { name: 'Change the limits' }).click();
    await page.getByText('this waits for the approval of a second person').waitFor();
    expect((await limits('EUR')).json).toMatchObject({ maxAdjustmentMinor: 25_000 });
    const approval = await page.getByRole('link', { name: 'Open the approval' }).getAttribute('href');
    const id = approval!.split('/').at(-1)!;
    const approver = await world.administrator('admin');
    const approved = await approver.call('POST', `/v1/admin/approvals/${id}/approve`, {});
    expect([approved.status, approved.text]).toEqual([200, expect.anything()]);
    // The page follows the approval by itself.
    await page.getByRole('table', { name: 'Limits' }).getByText('1,000.50 EUR').waitFor();
    await page.context().close();
  });

  test('a lower limit holds at once, in a currency without decimals, too', async () => {
    await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/JPY`, { dailyMinor: 90_000 });
    const page = await desk.signedIn(`/console/limits?operatorId=${OPERATOR}&currency=JPY`);
    await page.getByText('Change the limits').first().click();
    await page.getByRole('textbox', { name: '24 hours' }).fill('80,000');
    await page.getByRole('button', { name: 'Change the limits' }).click();
    await page.getByRole('dialog').getByText('24 hours: 90,000 JPY → 80,000 JPY').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Change the limits' }).click();
    await page.getByText('Change the limits: done.').waitFor();
    await page
      .getByRole('region', { name: `Limits of ${OPERATOR}` })
      .getByText('80,000 JPY')
      .waitFor();
    expect((await limits('JPY')).json).toMatchObject({ dailyMinor: 80_000 });
    await page.context().close();
  });

  test('the notice of a change at the end of a form is on the screen, and the focus in the content', async () => {
    await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/CHF`, { dailyMinor: 90_000 });
    const address = `/console/limits?operatorId=${OPERATOR}&currency=CHF`;
    const page = await desk.signedIn(address, await desk.keyOf('admin'), { viewport: PHONE });
    await page.getByText('Change the limits').first().click();
    await page.getByRole('textbox', { name: 'WIN' }).fill('1000');
    const notice = page.getByText('Change the limits: done.');
    for (const [button, place] of [
      ['Change the limits', page],
      ['Change the limits', page.getByRole('dialog')],
    ] as const)
      await place.getByRole('button', { name: button }).click();
    await notice.waitFor();
    expect(await page.evaluate<number>('scrollY')).toBeGreaterThan(PHONE.height / 2);
    const { y } = (await notice.boundingBox())!;
    expect(y > 0 && y < PHONE.height).toBe(true);
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    await page.context().close();
  });

  test('limits that are set where they are shown already are named before, and shown as they are now', async () => {
    await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/SEK`, { dailyMinor: 90_000 });
    const page = await desk.signedIn(`/console/limits?operatorId=${OPERATOR}&currency=SEK`);
    const shown = page.getByRole('region', { name: `Limits of ${OPERATOR}` });
    await shown.getByText('900.00 SEK').waitFor();
    await page.getByRole('button', { name: 'Set limits' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Operator').fill(OPERATOR);
    await dialog.getByLabel('Currency').fill('SEK');
    await dialog.getByLabel('24 hours').fill('800');
    await dialog.getByLabel('Grant').fill('7');
    await dialog.getByText('24 hours: 900.00 SEK → 800.00 SEK').waitFor();
    await dialog.getByText('Grant: none → 7.00 SEK').waitFor();
    await dialog.getByRole('button', { name: 'Set limits' }).click();
    await shown.getByText('800.00 SEK').waitFor();
    await page.context().close();
  });

  test('limits that are set after their dialog was left are shown, and what was typed beside it stays', async () => {
    await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/DKK`, { dailyMinor: 90_000 });
    const address = `/console/limits?operatorId=${OPERATOR}&currency=DKK`;
    const page = await desk.withClock(address);
    const shown = page.getByRole('region', { name: `Limits of ${OPERATOR}` });
    await shown.getByText('900.00 DKK').waitFor();
    for (const [currency, amount] of [
      ['DKK', '800'],
      ['CZK', '700'],
    ] as const) {
      await page.getByRole('button', { name: 'Set limits' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Operator').fill(OPERATOR);
      await dialog.getByLabel('Currency').fill(currency);
      await dialog.getByLabel('24 hours').fill(amount);
      const send = await leaveSlow(page, `/v1/admin/limits/${OPERATOR}/${currency}`, 'Set limits');
      if (currency === 'DKK') await page.getByText('Change the limits').first().click();
      await page.getByRole('textbox', { name: 'WIN' }).fill('1000');
      send();
      await page.getByText('Set limits: done.').waitFor();
      const table = page.getByRole('table', { name: 'Limits' });
      await table.getByText(`${amount}.00 ${currency}`).first().waitFor();
    }
    await shown.getByText('800.00 DKK').first().waitFor();
    expect(await page.getByRole('textbox', { name: 'WIN' }).inputValue()).toBe('1000');
    expect(page.url()).toBe(world.url + address);
    await page.context().close();
  });

  test('limits that were removed at once are no longer shown, nor can they be removed again', async () => {
    // The own limit is that of the installation: its removal raises nothing.
    for (const operatorId of ['*', OPERATOR])
      await world.admin('PUT', `/v1/admin/limits/${operatorId}/NOK`, { dailyMinor: 90_000 });
    const page = await desk.signedIn(`/console/limits?operatorId=${OPERATOR}&currency=NOK`);
    const shown = page.getByRole('region', { name: `Limits of ${OPERATOR} in NOK` });
    await shown.getByText('900.00 NOK').waitFor();
    await shown.getByRole('button', { name: 'Remove the limits' }).click();
    const dialog = page.getByRole('dialog');
    await expect
      .poll(() => descriptionOf(dialog))
      .toMatch(/at once if no limit in effect is raised or removed.*24 hours: 900\.00 NOK$/);
    await dialog.getByRole('button', { name: 'Remove the limits' }).click();
    await page.getByText('Remove the limits: done.').waitFor();
    await shown.getByText('No limit is set.').waitFor();
    await expect.poll(() => shown.getByRole('button').count()).toBe(0);
    expect((await limits('NOK')).status).toBe(404);
    await page.context().close();
  });

  test('the operators without limits are listed, and an auditor may only read', async () => {
    await world.admin('PATCH', '/v1/admin/operators/grand-casino', { currencies: ['SEK'] });
    const page = await desk.signedIn('/console/limits', await desk.keyOf('auditor'));
    await page.getByRole('table', { name: 'Operators without' }).getByRole('row', { name: 'SEK' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Set limits' }).isDisabled()).toBe(true);
    await page.getByText('Needs the role admin').waitFor();
    await page.context().close();
  });

  test('an operator that gets a daily limit leaves the list of those without', async () => {
    await world.admin('PATCH', '/v1/admin/operators/grand-casino', { currencies: ['SEK', 'PLN'] });
    await world.admin('PUT', '/v1/admin/limits/grand-casino/PLN', { maxWinMinor: 90_000 });
    const page = await desk.signedIn();
    // What is read before the stream opens is read again.
    await page.getByRole('banner').getByText('Live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByRole('link', { name: 'grand-casino PLN' }).click();
    const row = page.getByRole('table', { name: 'Operators without' }).getByRole('row', { name: 'PLN' });
    await row.waitFor();
    await page.getByText('Change the limits').first().click();
    await page.getByRole('textbox', { name: '24 hours' }).fill('80');
    await page.getByRole('button', { name: 'Change the limits' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change the limits' }).click();
    await page.getByText('Change the limits: done.').waitFor();
    await row.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test.each([
    { colorScheme: 'dark', viewport: DESK },
    { colorScheme: 'light', viewport: PHONE },
  ] as const)(
    'nothing serious for axe, no sideways scroll: $colorScheme, $viewport.width px',
    async (options) => {
      await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/SEK`, { dailyMinor: 90_000 });
      const address = `/console/limits?operatorId=${OPERATOR}&currency=SEK`;
      const page = await desk.open(address, { ...options, bypassCSP: true });
      await signIn(page, await desk.keyOf('admin'));
      await page.getByRole('heading', { name: `Limits of ${OPERATOR} in SEK` }).waitFor();
      await page.getByText('Change the limits').first().click();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      await page.context().close();
    },
  );

  test('no page complained', () => {
    expect(desk.complaints).toEqual([]);
  });
});
