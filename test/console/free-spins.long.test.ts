import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { BATCHES, batchOrder, GRANTS, limit } from '../approvals/desk.js';
import { grantOrder } from '../world/grant-order.js';
import { CANCEL, GRANT } from '../world/provider.js';
import { GAME, OPERATOR, useWorld } from '../world/world.js';
import { describeDesk, faultsOf, hold, signIn, useDesk } from './support/desk.js';

/** Hundreds of calls take a while on a busy machine. */
const WHOLE_BATCH = { timeout: 60_000 };
const CAMPAIGN = { timeout: 150_000 };
/** A grant whose id opens its page. */
const OPENED = 'grant-to-open';
/** Twelve runs of axe. */
const AXE = { timeout: 180_000 };

describeDesk('free spins', () => {
  const world = useWorld({ SANDBOX: 'true' });
  const desk = useDesk(world);
  let promotions: string;

  beforeAll(async () => {
    promotions = await desk.keyOf('promotions');
    expect((await world.admin('POST', GRANTS, grantOrder({ requestRef: OPENED }))).status).toBe(201);
  });

  const main = (page: Page) => page.getByRole('main');
  const dialog = (page: Page) => page.getByRole('dialog');
  const button = (page: Page, name: string | RegExp) => main(page).getByRole('button', { name });
  const grantsTo = (playerRef: string) =>
    world.provider.calls(GRANT).filter(({ json }) => json['playerRef'] === playerRef).length;

  /** Fills in what the forms of a grant and of a batch have in common. */
  async function fill(page: Page, stake: string): Promise<void> {
    await page.getByLabel('Operator').fill(OPERATOR);
    await page.getByLabel('Game').fill(GAME);
    await page.getByLabel('Spins for each player').fill('10');
    await page.getByLabel('Stake of a spin').fill(stake);
  }
  async function openForm(page: Page, name: 'New grant' | 'New batch'): Promise<void> {
    await main(page).getByRole('link', { name }).click();
    await main(page).getByRole('heading', { name, exact: true }).waitFor();
  }
  const detail = (page: Page, term: string) =>
    main(page)
      .locator('.details > div')
      .filter({ has: page.getByText(term, { exact: true }) });
  const preview = (page: Page) => page.getByRole('status', { name: 'Preview' });

  test('a double click grants once, with the reference in the address of the form', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New grant');
    await page.waitForURL(/requestRef=grant-/);
    await page.getByLabel('Request reference').fill('grant-of-ticket-7');
    await page.waitForURL(/requestRef=grant-of-ticket-7$/);
    const form = page.url();
    await fill(page, '0.20');
    await page.getByLabel('Player', { exact: true }).fill('twice');
    await preview(page).getByText('2.00 EUR').waitFor();
    await button(page, 'Grant the spins').click();
    await dialog(page).getByText(`10 spins of 0.20 EUR for twice in ${GAME}: 2.00 EUR in total`).waitFor();
    await dialog(page).getByRole('button', { name: 'Grant the spins' }).dblclick();
    await page.waitForURL(/free-spins\/grant-/);
    await main(page).getByText('Granted', { exact: true }).waitFor();
    await page
      .getByRole('table', { name: 'Calls to the provider' })
      .getByRole('row', { name: 'grant' })
      .waitFor();
    expect(grantsTo('twice')).toBe(1);
    expect(page.url()).toContain(new URL(form).searchParams.get('requestRef'));

    await page.goBack();
    await fill(page, '0.20');
    await page.getByLabel('Player', { exact: true }).fill('twice');
    await preview(page).getByText('2.00 EUR').waitFor();
    await button(page, 'Grant the spins').click();
    await dialog(page).getByRole('button', { name: 'Grant the spins' }).click();
    await page.waitForURL(/free-spins\/grant-/);
    await page.getByText(/^The reference grant-of-ticket-7 was used on .*: nothing was sent now\./).waitFor();
    await main(page).getByText('Granted', { exact: true }).waitFor();
    expect(grantsTo('twice')).toBe(1);

    await button(page, 'Ask the provider').click();
    await dialog(page).getByRole('button', { name: 'Ask the provider' }).click();
    await page.getByText('10 spins remain.').waitFor();
    const requestRef = new URL(page.url()).pathname.split('/').at(-1)!;
    world.provider.batches.get(`batch-of-${requestRef}`)!.remainingSpins = 1;
    await button(page, 'Cancel the grant').click();
    await dialog(page).getByText('(at most 2.00 EUR)').waitFor();
    await expect.poll(() => dialog(page).getByRole('button', { name: 'Cancel' }).count()).toBe(1);
    await dialog(page).getByRole('button', { name: 'Back' }).click();
    await button(page, 'Ask the provider').click();
    await dialog(page).getByRole('button', { name: 'Ask the provider' }).click();
    await page.getByText('1 spin remains.').waitFor();
    // The dialog keeps the number that the page shows when it is opened, and the notice comes before that is read.
    await expect.poll(() => detail(page, 'Remaining spins').textContent()).toBe('Remaining spins1');
    await button(page, 'Cancel the grant').click();
    await dialog(page).getByText('(at most 0.20 EUR)').waitFor();
    await dialog(page).getByRole('button', { name: 'Cancel the grant' }).click();
    await main(page).getByText('Cancelled', { exact: true }).waitFor();
    await page.context().close();
  });

  test('the title of the tab is that of the form, and then that of the list', async () => {
    const page = await desk.signedIn('/console/free-spins?new=grant', promotions);
    await expect.poll(() => page.title()).toBe('New grant · Croupier');
    await main(page).getByRole('link', { name: 'Back to the list' }).click();
    await expect.poll(() => page.title()).toBe('Free spins · Croupier');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    await main(page).getByRole('link', { name: 'Batches' }).click();
    await expect.poll(() => page.title()).toBe('Batches · Croupier');
    await main(page).getByRole('link', { name: 'New batch' }).click();
    await main(page).getByRole('link', { name: 'Back to the list' }).click();
    await expect.poll(() => page.title()).toBe('Batches · Croupier');
    await page.context().close();
  });

  test('input that was not sent is lost only if the person agrees', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    const asked: string[] = [];
    let agrees = false;
    page.on('dialog', (asks) => {
      asked.push(asks.type());
      void (agrees ? asks.accept() : asks.dismiss());
    });
    await openForm(page, 'New grant');
    await page.waitForURL(/requestRef=grant-/);
    const form = page.url();
    await fill(page, '0.20');
    const ways: (() => Promise<unknown>)[] = [
      () => page.getByRole('link', { name: 'Approvals' }).click(),
      () => page.goBack(),
      async () => {
        await page.getByLabel('Search any id').fill(OPENED);
        await page.keyboard.press('Enter');
      },
      () => page.close({ runBeforeUnload: true }),
    ];
    for (const [index, leave] of ways.entries()) {
      await leave();
      await expect.poll(() => asked.length).toBe(index + 1);
      await expect.poll(() => page.url()).toBe(form);
      await expect.poll(() => page.getByLabel('Spins for each player').inputValue()).toBe('10');
    }
    expect(asked).toEqual(['confirm', 'confirm', 'confirm', 'beforeunload']);

    agrees = true;
    await page.goBack();
    await main(page).getByRole('table', { name: 'Grants' }).waitFor();
    await page.goForward();
    await page.waitForURL(form);
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    expect(asked).toHaveLength(5);
    await page.context().close();
  });

  test('a currency is judged before the amount, and the number of spins beside its field', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New grant');
    await fill(page, '0.20');
    await page.getByLabel('Currency').fill('EURO');
    await main(page).getByText('Enter a currency of three letters, such as EUR.').first().waitFor();
    expect(await main(page).getByText('This is not an amount').count()).toBe(0);
    await page.getByLabel('Currency').fill('EUR');
    await page.getByLabel('Spins for each player').fill('1001');
    await main(page).getByText('Enter a whole number from 1 to 1,000.').first().waitFor();
    await expect.poll(() => button(page, 'Grant the spins').isDisabled()).toBe(true);
    await page.context().close();
  });

  test('a preview that fails for a moment is asked again by itself', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New grant');
    const away = { status: 503, json: { error: 'the service restarts' } };
    await page.route('**/v1/admin/free-spins/preview', (route) => route.fulfill(away), { times: 1 });
    await fill(page, '0.20');
    await page.getByLabel('Player', { exact: true }).fill('patient');
    await preview(page).getByText('2.00 EUR').waitFor();
    await preview(page).getByRole('alert').waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a grant that the provider refuses after its form was left is announced as refused, with its page', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New grant');
    await fill(page, '0.20');
    await page.getByLabel('Player', { exact: true }).fill('unlucky');
    const refusal = { do: 'answer', status: 422, body: {} } as const;
    world.provider.next(refusal, { path: GRANT });
    const received = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/free-spins'),
    );
    const send = await hold(page, '**/v1/admin/free-spins', {
      when: (request) => request.method() === 'POST',
    });
    await button(page, 'Grant the spins').click();
    await dialog(page).getByRole('button', { name: 'Grant the spins' }).click();
    const { requestRef } = (await received).postDataJSON() as { requestRef: string };
    await page.goBack();
    await main(page).getByRole('table', { name: 'Grants' }).waitFor();
    send();
    const notice = main(page).getByRole('status').filter({ hasText: 'Grant the spins: ' });
    await notice.getByText('Grant the spins: the provider answered 422').waitFor();
    await notice.getByRole('link', { name: `Grant ${requestRef}` }).click();
    await page.waitForURL(`**/free-spins/${requestRef}`);
    await main(page).getByText('Failed', { exact: true }).waitFor();
    await page.context().close();
  });

  test('the page of a single grant follows what others do, and its list after Apply or Refresh', async () => {
    const terms = { operatorId: OPERATOR, gameId: GAME, playerRef: 'followed', currency: 'EUR' };
    const grant = (requestRef: string) =>
      world.admin('POST', '/v1/admin/free-spins', { ...terms, spins: 5, betAmountMinor: 20, requestRef });
    await grant('followed-1');
    const list = await desk.signedIn('/console/free-spins?playerRef=followed', promotions);
    const row = (requestRef: string) => main(list).getByRole('row', { name: requestRef });
    await row('followed-1').getByText('Granted').waitFor();
    const page = await desk.signedIn('/console/free-spins/followed-1', promotions);
    await main(page).getByText('Granted', { exact: true }).waitFor();
    await world.admin('POST', '/v1/admin/free-spins/followed-1/cancel', {});
    await main(page).getByText('Cancelled', { exact: true }).waitFor();
    await page
      .getByRole('table', { name: 'Calls to the provider' })
      .getByRole('row', { name: 'cancel' })
      .waitFor();
    await button(list, 'Refresh').click();
    await row('followed-1').getByText('Cancelled').waitFor();
    await grant('followed-2');
    await button(list, 'Apply').click();
    await row('followed-2').getByText('Granted').waitFor();
    for (const each of [page, list]) await each.context().close();
  });

  test('a call whose answer was cut off is shown with its status, the reason and its duration', async () => {
    const requestRef = 'grant-cut-off';
    const cut = { do: 'book-then', then: { do: 'truncate' } } as const;
    world.provider.next(cut, { path: GRANT, requestRef });
    expect((await world.admin('POST', GRANTS, grantOrder({ requestRef }))).status).toBe(502);
    await world.sql.run('UPDATE callbacks SET duration_ms = 0 WHERE reference = $1', [requestRef]);
    const page = await desk.signedIn(`/console/free-spins/${requestRef}`, promotions);
    const calls = page.getByRole('table', { name: 'Calls to the provider' });
    await calls.getByText('200: the connection was lost in the middle of the answer').waitFor();
    await calls.getByRole('cell', { name: '0 ms', exact: true }).waitFor();
    await page.context().close();
  });

  test('the cancel of a duplicate says that it ends the spins of the other grant, too', async () => {
    const terms = { operatorId: OPERATOR, gameId: GAME, playerRef: 'doubled', currency: 'EUR' };
    const same = { do: 'answer', status: 200, body: { externalRef: 'batch-of-both' } } as const;
    for (const requestRef of ['doubled-1', 'doubled-2']) {
      world.provider.next(same, { path: GRANT });
      await world.admin('POST', '/v1/admin/free-spins', {
        ...terms,
        spins: 5,
        betAmountMinor: 20,
        requestRef,
      });
    }
    const page = await desk.signedIn('/console/free-spins/doubled-2', promotions);
    await button(page, 'Cancel the grant').click();
    await dialog(page)
      .getByText(
        'This ends the spins of the grant doubled-1, too: both have the same reference at the provider.',
      )
      .waitFor();
    await page.context().close();
  });

  test('a part that cannot be loaded is not blamed on the file, and a file that was taken back is not read', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New batch');
    const field = page.getByLabel('Or a CSV file');
    const file = { name: 'p.csv', mimeType: 'text/csv', buffer: Buffer.from('ann\nbob\n') };
    const parser = '**/console/assets/sync-*.js';
    await page.route(parser, (route) => route.abort());
    await field.setInputFiles(file);
    await main(page).getByText('A part of the console could not be loaded.').first().waitFor();
    expect(await main(page).getByText('The file is not CSV').count()).toBe(0);
    await page.unroute(parser);

    await page.reload();
    await signIn(page, promotions);
    const requested = page.waitForRequest(parser);
    const load = await hold(page, parser);
    await field.setInputFiles(file);
    const { pathname } = new URL((await requested).url());
    await field.setInputFiles([]);
    load();
    // Once the page has the parser, it has also read the file.
    await page.evaluate(`import('${pathname}').then(() => new Promise(requestAnimationFrame))`);
    await main(page).getByText('0 players', { exact: true }).waitFor();
    expect(await page.getByLabel('Players').isDisabled()).toBe(false);
    await page.context().close();
  });

  test('a campaign of 200 players goes wrong, and is taken back', CAMPAIGN, async () => {
    const refused = /-\d*7$/;
    const unanswered = /-(?:50|100|150)$/;
    const of = (pattern: RegExp) => ({
      path: GRANT as typeof GRANT,
      where: ({ json }: { json: Readonly<Record<string, unknown>> }) =>
        pattern.test(String(json['playerRef'])),
    });
    const rules = [
      world.provider.always({ do: 'answer', status: 422, body: {} }, of(refused)),
      world.provider.always({ do: 'drop' }, of(unanswered)),
    ];
    const page = await desk.signedIn('/console/free-spins/batches', promotions);
    await openForm(page, 'New batch');
    await fill(page, '0.20');
    const rows = Array.from({ length: 200 }, (_, index) => `campaign-${index + 1}`);
    const file = `playerRef,name\n${rows.join(',x\n')},x\nbob smith,x\ncampaign-1,x\n`;
    const buffer = Buffer.from(file);
    await page.getByLabel('Or a CSV file').setInputFiles({ name: 'p.csv', mimeType: 'text/csv', buffer });
    await page.getByText('Line 202:').waitFor();
    await page.getByText('the same as line 2').waitFor();
    await page.getByText('2 lines are wrong').waitFor();
    await page.getByLabel('Leave out the wrong lines').check();
    await preview(page).getByText('400.00 EUR').waitFor();
    await button(page, 'Grant spins to 200 players').click();
    await dialog(page).getByRole('button', { name: 'Grant spins to 200 players' }).dblclick();
    await page.waitForURL(/batches\/[0-9a-f-]{36}/);
    await page.getByText('The batch was created; its grants are being sent.').waitFor();
    await main(page).getByText('177 granted, 23 failed, 0 cancelled, 0 pending of 200').waitFor(WHOLE_BATCH);
    const failures = page.getByRole('table', { name: 'Why grants failed' });
    await failures.getByRole('row', { name: 'the provider answered 422 20 not granted' }).waitFor();
    await failures.getByRole('row', { name: '3 unknown: the provider may have granted them' }).waitFor();
    const sent = world.provider.calls(GRANT).filter(of(/^campaign-/).where);
    expect(sent.length).toBe(200);

    for (const rule of rules) rule.withdraw();
    await button(page, 'Void unknown grants').click();
    await dialog(page).getByText('6.00 EUR').waitFor();
    await dialog(page).getByRole('button', { name: 'Void unknown grants' }).click();
    await page.getByText('3 grants are void.').waitFor();
    await button(page, 'Cancel the batch').click();
    await dialog(page).getByText('354.00 EUR').waitFor();
    await dialog(page).getByRole('button', { name: 'Cancel the batch' }).click();
    await main(page).getByText('0 granted, 20 failed, 180 cancelled, 0 pending of 200').waitFor(WHOLE_BATCH);
    expect(world.provider.calls(CANCEL).length).toBeGreaterThanOrEqual(180);
    const { batches } = world.provider;
    const granted = sent.flatMap(({ json }) => batches.get(`batch-of-${String(json['requestRef'])}`) ?? []);
    expect(granted.length).toBe(180);
    expect(granted.filter(({ remainingSpins }) => remainingSpins > 0)).toEqual([]);
    await page.context().close();
  });

  test('an incomplete expiry is refused, and a complete one is said before it is sent', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New grant');
    await fill(page, '0.20');
    await page.getByLabel('Player', { exact: true }).fill('until-january');
    await preview(page).getByText('The spins do not expire.').waitFor();
    const expires = page.getByLabel('Expires');
    // A month and a day without a year: the field has no value.
    await expires.pressSequentially('0131');
    await main(page).getByText('Enter a whole date and time').first().waitFor();
    expect(await expires.inputValue()).toBe('');
    await expect.poll(() => button(page, 'Grant the spins').isDisabled()).toBe(true);
    // At most a year ahead.
    const local = `${new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)}T07:00`;
    const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
    const sentence = `The spins expire on ${format.format(new Date(local))} (your local time).`;
    await expires.fill(local);
    await preview(page).getByText(sentence).waitFor();
    await expect.poll(() => expires.getAttribute('max')).toBe('9999-12-31T23:59:59');
    await button(page, 'Grant the spins').click();
    await dialog(page).getByText(sentence).waitFor();
    await dialog(page).getByRole('button', { name: 'Grant the spins' }).click();
    await page.waitForURL(/free-spins\/grant-/);
    const requestRef = page.url().split('/').at(-1);
    const { json } = await world.admin('GET', `/v1/admin/free-spins/${requestRef}`);
    expect(json['expiresAt']).toBe(new Date(local).toISOString());
    await page.context().close();
  });

  test('a stake that the provider chooses is said to be unknown, and never to be 0.00', async () => {
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New grant');
    await fill(page, '0');
    await page.getByLabel('Player', { exact: true }).fill('by-default');
    await preview(page).getByText('a stake that the provider chooses').waitFor();
    await button(page, 'Grant the spins').click();
    await dialog(page).getByRole('button', { name: 'Grant the spins' }).click();
    await page.waitForURL(/free-spins\/grant-/);
    await main(page).getByText('Granted', { exact: true }).waitFor();
    await expect.poll(() => detail(page, 'Stake').textContent()).toBe('Stakeunknown');
    await button(page, 'Cancel the grant').click();
    await dialog(page).getByText('(a stake that the provider chooses)').waitFor();
    await dialog(page).getByRole('button', { name: 'Back' }).click();
    for (const list of ['free-spins', `players/by-default?operatorId=${OPERATOR}`]) {
      // A new context would ask for the key again; a link does not.
      await page.evaluate(
        `history.pushState(null, '', '/console/${list}'); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      const row = main(page)
        .getByRole('row', { name: /grant-[0-9a-f]{24}/ })
        .filter({ hasText: 'unknown' });
      await row.first().waitFor();
    }
    await page.context().close();
  });

  test('the failures of a batch are not acted upon before they are loaded, and its players are those of the operator', async () => {
    const refusal = world.provider.always({ do: 'answer', status: 422, body: {} }, { path: GRANT });
    const order = batchOrder(2);
    const [player = ''] = order.playerRefs;
    const { json } = await world.admin('POST', BATCHES, order);
    const address = `/console/free-spins/batches/${String(json['batchId'])}`;
    const page = await desk.open(address);
    await page.route('**/failures', (route) => route.fulfill({ status: 500, json: { error: 'broken' } }));
    await signIn(page, promotions);
    await main(page).getByText('2 failed').waitFor();
    refusal.withdraw();
    for (const name of ['Send failed grants again', 'Void unknown grants']) {
      await expect.poll(() => button(page, name).isDisabled()).toBe(true);
      await expect
        .poll(() => button(page, name).getAttribute('title'))
        .toBe('The causes of the failures are not loaded.');
    }
    await page.unroute('**/failures');
    await main(page).getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => button(page, 'Send failed grants again').isEnabled()).toBe(true);
    await expect
      .poll(() => button(page, 'Void unknown grants').getAttribute('title'))
      .toBe('No outcome is unknown.');
    const link = main(page).getByRole('link', { name: player, exact: true });
    await expect
      .poll(() => link.getAttribute('href'))
      .toBe(`/console/players/${player}?operatorId=${OPERATOR}`);
    await page.context().close();
  });

  test('a resend of a batch that sends nothing says so, and an expired batch is not resent', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const order = batchOrder(3, { expiresAt, spins: 10, betAmountMinor: 100 });
    const lost = order.playerRefs.slice(0, 2);
    for (const playerRef of lost) world.provider.next({ do: 'drop' }, { path: GRANT, playerRef });
    const { json } = await world.admin('POST', BATCHES, order);
    const { batchId } = json as { batchId: string };
    const page = await desk.signedIn(`/console/free-spins/batches/${batchId}`, promotions);
    await main(page).getByText('1 granted, 2 failed').waitFor();
    await button(page, 'Ask about all').click();
    await dialog(page).getByRole('button', { name: 'Ask about all' }).click();
    await main(page).getByText('The provider is being asked about 1 granted grant.').waitFor();
    await button(page, 'Send failed grants again').click();
    await dialog(page).getByLabel('Also 2 grants of unknown outcome').check();
    await dialog(page).getByText('2 failed grants are sent once more: 20.00 EUR.').waitFor();
    await dialog(page).getByRole('button', { name: 'Back' }).click();
    await button(page, 'Send failed grants again').click();
    await dialog(page)
      .getByText('0 failed grants whose outcome is known are sent once more: 0.00 EUR.')
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Send failed grants again' }).click();
    const refused = page
      .locator('.notice.alert-danger')
      .getByText('No grant is being sent again: 2 grants stay failed.');
    await refused.waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await world.sql.run('UPDATE free_spin_grants SET expires_at = clock_timestamp() WHERE batch_id = $1', [
      batchId,
    ]);
    // The page still knows the earlier expiry.
    await button(page, 'Send failed grants again').click();
    await dialog(page).getByLabel('Also 2 grants of unknown outcome').check();
    await dialog(page).getByRole('button', { name: 'Send failed grants again' }).click();
    await refused.waitFor();
    await expect
      .poll(() => button(page, 'Send failed grants again').getAttribute('title'))
      .toBe('The spins have expired: none is sent any more.');
    for (const playerRef of lost) expect(grantsTo(playerRef)).toBe(1);
    await page.context().close();
  });

  test('the cancel of a batch does not count the grants that are completed', async () => {
    const order = batchOrder(3, { spins: 10, betAmountMinor: 100 });
    const { json } = await world.admin('POST', BATCHES, order);
    const page = await desk.signedIn(`/console/free-spins/batches/${String(json['batchId'])}`, promotions);
    await main(page).getByText('3 granted').waitFor();
    const { requestRef } = world.provider
      .calls(GRANT)
      .find((call) => call.json['playerRef'] === order.playerRefs[0])!.json;
    world.provider.batches.get(`batch-of-${String(requestRef)}`)!.remainingSpins = 0;
    await button(page, 'Ask about all').click();
    await dialog(page).getByRole('button', { name: 'Ask about all' }).click();
    await expect.poll(() => detail(page, 'Completed grants').textContent()).toBe('Completed grants1');
    await button(page, 'Cancel the batch').click();
    await dialog(page).getByText('together at most 20.00 EUR').waitFor();
    await page.context().close();
  });

  test('above a limit, nothing happens until a second key approves it on its page', async () => {
    await limit(world, { maxGrantMinor: 1_000 });
    const page = await desk.signedIn('/console/free-spins', promotions);
    await openForm(page, 'New grant');
    await fill(page, '20');
    await page.getByLabel('Player', { exact: true }).fill('rich');
    await preview(page).getByText('Needs the approval of a second person.').waitFor();
    await preview(page).getByText('The limit "Grant" is 10.00 EUR').waitFor();
    await button(page, 'Grant the spins').click();
    await dialog(page)
      .getByText('200.00 EUR in total. The spins do not expire. A second person must approve this first.')
      .waitFor();
    await dialog(page).getByRole('button', { name: 'Grant the spins' }).click();
    const link = page.getByRole('link', { name: 'Open the approval' });
    const address = String(await link.getAttribute('href'));
    expect(grantsTo('rich')).toBe(0);
    await link.click();
    await page.waitForURL(`**${address}`);
    const second = await desk.signedIn(address, await desk.keyOf('promotions'));
    await button(second, 'Approve').click();
    await dialog(second).getByRole('button', { name: 'Approve' }).click();
    await second.getByText('Approved and carried out.').waitFor();
    expect(grantsTo('rich')).toBe(1);
    await second.getByRole('link', { name: 'Open the grant' }).click();
    await main(second).getByText('Granted', { exact: true }).waitFor();
    for (const each of [page, second]) await each.context().close();
  });

  test('an auditor reads, and sees which role the actions need', async () => {
    const { json } = await world.admin('GET', '/v1/admin/free-spins/batches');
    const [batch] = json['items'] as { batchId: string }[];
    const page = await desk.signedIn('/console/free-spins', await desk.keyOf('auditor'));
    await expect.poll(() => main(page).getByText('Needs the role promotions').count()).toBe(2);
    for (const name of ['New grant', 'New batch'])
      await expect.poll(() => button(page, name).getAttribute('title')).toBe('Needs the role promotions');
    await main(page).getByRole('link', { name: 'Batches' }).click();
    await main(page).getByRole('table', { name: 'Batches' }).getByRole('link').first().click();
    await page.waitForURL(`**/batches/${batch!.batchId}`);
    for (const [name, role] of [
      ['Cancel the batch', 'promotions'],
      ['Send failed grants again', 'promotions'],
      ['Void unknown grants', 'promotions'],
      ['Ask about all', 'support'],
    ] as const) {
      await expect.poll(() => button(page, name).isDisabled()).toBe(true);
      await expect.poll(() => button(page, name).getAttribute('title')).toBe(`Needs the role ${role}`);
    }
    await page.context().close();
  });

  test('nothing serious for axe, and no sideways scroll', AXE, async () => {
    const page = await desk.signedIn('/console/free-spins/batches', promotions, { bypassCSP: true });
    const ready = main(page).getByRole('table').getByRole('link').first();
    await ready.click();
    await main(page).getByRole('table', { name: 'Grants' }).getByRole('link').first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await main(page).getByRole('table', { name: 'Grants' }).getByRole('link').first().click();
    await page.getByRole('table', { name: 'Calls to the provider' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.goBack();
    await page.goBack();
    await openForm(page, 'New batch');
    await page.getByLabel('Players').fill('ann\nbob smith');
    await page.getByText('Line 2:').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('no page complained', () => {
    expect(desk.complaints).toEqual([]);
  });
});
