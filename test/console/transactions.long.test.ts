import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ADJUSTMENTS, adjustmentOrder } from '../approvals/desk.js';
import { Transactions } from '../world/transactions.js';
import { ADMIN_KEY, type LaunchedSession, OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import {
  DESK,
  describeDesk,
  hold,
  leaveSlow,
  overflows,
  PHONE,
  seriousFindings,
  signIn,
  useDesk,
} from './support/desk.js';

const PLAYER = 'player-42';

const adjustmentDialog = (page: Page) => {
  const dialog = page.getByRole('dialog');
  return {
    dialog,
    open: () => page.getByRole('button', { name: 'Adjust the balance' }).click(),
    send: () => dialog.getByRole('button', { name: 'Adjust the balance' }).click(),
    id: dialog.getByLabel('Adjustment id'),
  };
};

/** What the browser says against a field's value. */
const refusalOf = (field: unknown) => (field as { validationMessage: string }).validationMessage;

describeDesk('the pages of transactions', () => {
  const world = useWorld({ OPERATOR_TIMEOUT_MS: '20000' });
  const desk = useDesk(world);
  const transactions = new Transactions(world);
  let session: LaunchedSession;

  const park = (transactionId: string) =>
    world.sql.run('UPDATE transactions SET parked_at = now() WHERE transaction_id = $1', [transactionId]);
  const bet = (transactionId: string, amountMinor: number) =>
    world.transaction(session, 'BET', { transactionId, amountMinor, roundId: `round-of-${transactionId}` });
  const addressOf = (transactionId: string) => `/console/transactions/${PROVIDER}/${transactionId}`;
  const outcomeRow = (page: Page) =>
    page.getByRole('table', { name: 'Three views' }).getByRole('row', { name: 'Outcome' });

  beforeAll(async () => {
    session = await world.launch({ playerRef: PLAYER });
    await transactions.approved(bet('bet-small', 100));
    await transactions.approved(bet('bet-of-another-size', 25_000));
    await transactions.timedOut(bet('bet-missing', 250), true);
    await park('bet-missing');
  });

  test('the night shift: from "2.50 at 21:14" to an adjustment that a second person approves', async () => {
    const limits = `/v1/admin/limits/${OPERATOR}/EUR`;
    expect((await world.admin('PUT', limits, { maxAdjustmentMinor: 100 })).status).toBe(200);
    // The complaint names the minute on the player's clock, here that of the browser.
    const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000);
    await world.sql.run('UPDATE transactions SET created_at = $2 WHERE transaction_id = $1', [
      'bet-missing',
      new Date(minute.getTime() + 12_000),
    ]);
    const page = await desk.signedIn('/console/transactions', await desk.keyOf('operations'), {
      timezoneId: 'America/New_York',
    });
    const local = (time: Date) =>
      new Date(time.toLocaleString('en-US', { timeZone: 'America/New_York' }) + ' UTC')
        .toISOString()
        .slice(0, 19);

    await page.getByLabel('Operator', { exact: true }).fill(OPERATOR);
    await page.getByLabel('Player', { exact: true }).fill(PLAYER);
    await page.getByLabel('Amount from').fill('2.00');
    await page.getByLabel('Amount to').fill('2.50');
    await page.getByLabel('Currency').fill('eur');
    await page.getByLabel('From (local time)').fill(local(minute));
    await page.getByLabel('Before (local time)').fill(local(new Date(minute.getTime() + 60_000)));
    await page.keyboard.press('Enter');
    const found = page.getByRole('table', { name: 'Transactions' }).getByRole('row');
    await page.waitForURL(/minAmountMinor=200/);
    await found.filter({ hasText: 'bet-missing' }).waitFor();
    await expect.poll(() => found.count()).toBe(2);
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      operatorId: OPERATOR,
      playerRef: PLAYER,
      minAmountMinor: '200',
      maxAmountMinor: '250',
      currency: 'EUR',
      from: minute.toISOString(),
      to: new Date(minute.getTime() + 60_000).toISOString(),
    });
    await expect.poll(() => page.getByLabel('Amount to').inputValue()).toBe('2.50');

    await page.getByRole('link', { name: 'bet-missing', exact: true }).click();
    const advice = page.getByRole('region', { name: 'Advice' });
    await advice.getByText('It is not known whether the operator debited 2.50 EUR.').waitFor();
    await expect.poll(() => outcomeRow(page).textContent()).toMatch(/500 OPERATOR_UNAVAILABLE.*TIMED_OUT/);

    await advice.getByRole('button', { name: 'Adjust the balance' }).click();
    const dialog = page.getByRole('dialog', { name: 'Adjust the balance' });
    const sentence = `The operator ${OPERATOR} credits 2.50 EUR to the player ${PLAYER}.`;
    await dialog.getByText(sentence).waitFor();
    await dialog.getByLabel('Amount').fill('2,50');
    await dialog.getByText('Enter the amount and the currency').waitFor();
    await dialog.getByLabel('Amount').fill('2.50');
    await dialog.getByText(sentence).waitFor();
    const reason = dialog.getByLabel('Reason');
    await expect.poll(() => reason.inputValue()).toContain(`${PROVIDER}/bet-missing`);
    await reason.fill(`transaction ${PROVIDER}/bet-missing: missing since the night`);
    await dialog.getByRole('button', { name: 'Adjust the balance' }).click();
    await page.getByText('nothing has happened yet: this waits for the approval').waitFor();
    const before = world.wallet.balanceOf(PLAYER);

    const href = await page.getByRole('link', { name: 'Open the approval' }).getAttribute('href');
    const approvalId = href?.split('/').at(-1) ?? '';
    const second = await world.administrator('operations');
    const approved = await second.call('POST', `/v1/admin/approvals/${approvalId}/approve`);
    expect(approved.json).toMatchObject({ state: 'APPROVED', kind: 'adjustment', amountMinor: 250 });
    expect(world.wallet.balanceOf(PLAYER)).toBe(before + 250);

    const { reference } = approved.json as { reference: string };
    await page.getByLabel('Search any id').fill(reference);
    await page.keyboard.press('Enter');
    await page.getByText('The operator credited 2.50 EUR.').waitFor();
    await expect.poll(() => outcomeRow(page).textContent()).toContain('not requested by a provider');
    await page.context().close();
    await world.admin('DELETE', limits);
  });

  test('without a limit, an adjustment is booked at once, and its outcome is said', async () => {
    const page = await desk.signedIn(addressOf('bet-small'));
    await page.getByRole('button', { name: 'Adjust the balance' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Direction').selectOption('debit');
    await dialog.getByLabel('Amount').fill('0.40');
    await dialog.getByText(`The operator ${OPERATOR} debits 0.40 EUR from the player ${PLAYER}.`).waitFor();
    const before = world.wallet.balanceOf(PLAYER);
    // The API takes no line breaks.
    await dialog.getByLabel('Reason').fill('ticket 4710,\none zero too many');
    await dialog.getByRole('button', { name: 'Adjust the balance' }).click();
    await page.getByText('The operator debited 0.40 EUR. The balance is now').waitFor();
    expect(world.wallet.balanceOf(PLAYER)).toBe(before - 40);
    await page.context().close();
  });

  test('the dialog of an adjustment stays until the answer, so that it is sent only once', async () => {
    const page = await desk.signedIn(addressOf('bet-small'));
    await page.getByRole('button', { name: 'Adjust the balance' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Amount').fill('0.70');
    await dialog.getByText('credits 0.70 EUR').waitFor();
    const before = world.wallet.balanceOf(PLAYER);
    const held = world.wallet.next({ do: 'hold' }, { kind: 'ADJUSTMENT' });
    await dialog.getByRole('button', { name: 'Adjust the balance' }).click();
    await held.arrived;
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Escape');
    await expect.poll(() => dialog.getByRole('button', { name: 'Back' }).isDisabled()).toBe(true);
    expect(await dialog.isVisible()).toBe(true);
    held.release();
    await page.getByText('The operator credited 0.70 EUR.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(world.wallet.balanceOf(PLAYER)).toBe(before + 70);
    await page.context().close();
  });

  test('an action without an answer can be left after a while, and says later how it ended', async () => {
    const page = await desk.withClock(addressOf('bet-small'));
    const open = page.getByRole('main').getByRole('button', { name: 'Adjust the balance' }).first();
    await open.click();
    await page.getByRole('dialog').getByLabel('Amount').fill('0.30');
    const send = await leaveSlow(page, '/v1/admin/adjustments', 'Adjust the balance');
    await expect.poll(() => open.isDisabled()).toBe(true);
    send();
    await page.getByText('The operator credited 0.30 EUR.').waitFor();
    await expect.poll(() => open.isDisabled()).toBe(false);
    await page.context().close();
  });

  test.each([
    { how: 'succeeds', answer: undefined, says: 'The operator credited 1.00 EUR.' },
    {
      how: 'fails',
      answer: { status: 503, json: { error: 'the operator did not answer' } },
      says: 'Adjust the balance: the operator did not answer',
    },
  ])('an action that $how after its page was left is announced with that page', async ({ answer, says }) => {
    const page = await desk.signedIn(`/console/transactions?playerRef=${PLAYER}`);
    await page.getByRole('link', { name: 'bet-small', exact: true }).click();
    const received = page.waitForRequest('**/v1/admin/adjustments');
    const send = await hold(page, '**/v1/admin/adjustments', {
      goOn: (route) => (answer ? route.fulfill(answer) : route.continue()),
    });
    await page.getByRole('button', { name: 'Adjust the balance' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('ticket 4714');
    await dialog.getByRole('button', { name: 'Adjust the balance' }).click();
    await received;
    await page.goBack();
    await page.getByRole('heading', { name: 'Transactions', level: 1 }).waitFor();
    const address = page.url();
    send();
    const notice = page.getByRole('main').getByRole('status').filter({ hasText: says });
    const link = notice.getByRole('link', { name: 'Transaction bet-small' });
    await expect.poll(() => link.getAttribute('href')).toBe(addressOf('bet-small'));
    expect(page.url()).toBe(address);
    await page.context().close();
  });

  test('an adjustment of unknown outcome keeps its id and terms, so that it is booked once', async () => {
    const page = await desk.signedIn(addressOf('bet-small'));
    const { dialog, open, send, id } = adjustmentDialog(page);
    await open();
    const sentId = await id.inputValue();
    await dialog.getByLabel('Amount').fill('0.90');
    await dialog.getByLabel('Reason').fill('ticket 4712');
    const before = world.wallet.balanceOf(PLAYER);
    const then = { do: 'answer', status: 500 } as const;
    const failing = world.wallet.always({ do: 'book-then', then }, { kind: 'ADJUSTMENT' });
    await send();
    await dialog.getByRole('alert').waitFor();
    failing.withdraw();

    await page.reload();
    await signIn(page, ADMIN_KEY);
    await open();
    await dialog.getByText(`The outcome of the adjustment ${sentId} of this player is not known.`).waitFor();
    await expect.poll(() => id.inputValue()).toBe(sentId);
    await expect.poll(() => dialog.getByLabel('Reason').inputValue()).toBe('ticket 4712');
    await dialog.getByText('credits 0.90 EUR').waitFor();

    // Other terms are refused, and those that were sent come back.
    await dialog.getByLabel('Amount').fill('0.95');
    await dialog.getByLabel('Reason').fill('ticket\n4713');
    await send();
    await dialog.getByRole('alert').getByText('already used with another request').waitFor();
    await dialog.getByText('credits 0.90 EUR').waitFor();
    await expect.poll(() => dialog.getByLabel('Reason').inputValue()).toBe('ticket 4712');
    await page.reload();
    await signIn(page, ADMIN_KEY);
    await open();
    await expect.poll(() => id.inputValue()).toBe(sentId);
    await dialog.getByText('credits 0.90 EUR').waitFor();
    await send();
    await page.getByText('The operator credited 0.90 EUR.').waitFor();
    expect(world.wallet.balanceOf(PLAYER)).toBe(before + 90);
    await open();
    await expect.poll(() => dialog.getByLabel('Amount').inputValue()).toBe('');

    await page.reload();
    await signIn(page, ADMIN_KEY);
    await open();
    await expect.poll(() => id.inputValue()).not.toBe('');
    expect(await id.inputValue()).not.toBe(sentId);
    await page.context().close();
  });

  test('an adjustment that is under way already keeps its id, so that it is booked once', async () => {
    const order = adjustmentOrder({ playerRef: PLAYER, amountMinor: 80, reason: 'ticket 4715' });
    const { adjustmentId } = order;
    const page = await desk.signedIn(addressOf('bet-small'));
    const { dialog, open, send, id } = adjustmentDialog(page);
    await open();
    await id.fill(adjustmentId);
    await dialog.getByLabel('Amount').fill('0.80');
    await dialog.getByLabel('Reason').fill('ticket 4715');
    const before = world.wallet.balanceOf(PLAYER);
    const held = world.wallet.next({ do: 'hold' }, { transactionId: adjustmentId });
    const first = world.admin('POST', ADJUSTMENTS, order);
    await held.arrived;
    await send();
    await dialog.getByRole('alert').getByText('is in flight').waitFor();
    held.release();
    expect((await first).status).toBe(201);

    await page.reload();
    await signIn(page, ADMIN_KEY);
    await open();
    await dialog
      .getByText(`The outcome of the adjustment ${adjustmentId} of this player is not known.`)
      .waitFor();
    await expect.poll(() => id.inputValue()).toBe(adjustmentId);
    await send();
    await page.getByText('The operator credited 0.80 EUR.').waitFor();
    expect(world.wallet.balanceOf(PLAYER)).toBe(before + 80);
    await page.context().close();
  });

  test('an amount without a currency is not applied, because nothing says how much it is', async () => {
    const page = await desk.signedIn('/console/transactions');
    await page.getByLabel('Amount from').fill('2.50');
    await page.getByRole('button', { name: 'Apply' }).click();
    const currency = page.getByLabel('Currency');
    expect(await currency.evaluate(refusalOf)).toBe('Enter the currency of the amounts.');
    expect(new URL(page.url()).search).toBe('');
    await currency.fill('EURO');
    await page.keyboard.press('Enter');
    expect(await currency.evaluate(refusalOf)).toBe('Enter a currency of three letters, such as EUR.');
    await currency.fill('JPY');
    await page.getByRole('button', { name: 'Apply' }).click();
    const amount = page.getByLabel('Amount from');
    expect(await amount.evaluate(refusalOf)).toContain('an amount of JPY');
    await amount.fill('250');
    await page.keyboard.press('Enter');
    await page.waitForURL(/minAmountMinor=250/);
    await page.context().close();
  });

  test('another filter leaves an instant of the address as it is, also in the hour that occurs twice', async () => {
    const from = '2026-10-25T01:30:00.123Z';
    const options = { timezoneId: 'Europe/Berlin' };
    const page = await desk.signedIn(`/console/transactions?from=${from}`, ADMIN_KEY, options);
    await page.getByLabel('Kind', { exact: true }).selectOption('BET');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/kind=BET/);
    expect(new URL(page.url()).searchParams.get('from')).toBe(from);
    await page.context().close();
  });

  test('the CSV has all rows that the filter selects, with the amounts in major units', async () => {
    const page = await desk.signedIn(`/console/transactions?playerRef=${PLAYER}&kind=BET`);
    await page.getByRole('table', { name: 'Transactions' }).getByText('250.00 EUR').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    const rows = text.trimEnd().split('\r\n');
    expect(rows[0]).toContain('amountMinor,amount,');
    expect(rows.slice(1).map((row) => row.split(',')[1])).toEqual(
      expect.arrayContaining(['bet-small', 'bet-of-another-size', 'bet-missing']),
    );
    expect(rows).toHaveLength(4);
    await page.context().close();
  });

  test('a download says how much has arrived, and can be cancelled', async () => {
    const page = await desk.open('/console/transactions');
    // The first 2.5 MB of an export, after which nothing arrives until it is aborted.
    await page.addInitScript(`
      const real = fetch;
      window.fetch = (input, init) => init?.headers?.accept !== 'text/csv' ? real(input, init) :
        Promise.resolve(new Response(new ReadableStream({ start(body) {
          body.enqueue(new Uint8Array(2_500_000));
          init.signal.addEventListener('abort', () => body.error(init.signal.reason));
        } })));
    `);
    await page.reload();
    await signIn(page, ADMIN_KEY);
    await page.getByRole('button', { name: 'Download CSV' }).dblclick();
    await page.getByRole('button', { name: 'Cancel (2.5 MB so far)' }).click();
    await page.getByRole('button', { name: 'Download CSV' }).waitFor();
    expect(await page.getByRole('main').getByRole('alert').count()).toBe(0);
    await page.context().close();
  });

  test('a transaction is resolved, and the provider that does not know it is marked', async () => {
    await transactions.timedOut(bet('bet-to-resolve', 300), true);
    const page = await desk.signedIn(addressOf('bet-to-resolve'), await desk.keyOf('operations'));
    await page.getByRole('button', { name: 'Resolve now' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resolve now' });
    await dialog.getByText('Ends the BET with a ROLLBACK: if 3.00 EUR was debited').waitFor();
    const before = world.wallet.balanceOf(PLAYER);
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Resolve now' }).press('Enter');
    await page.getByText('The transaction is now ROLLED_BACK.').waitFor();
    expect(world.wallet.balanceOf(PLAYER)).toBe(before + 300);
    await outcomeRow(page).getByText('differs').waitFor();
    await page.getByRole('region', { name: 'Advice' }).getByText('Ask the provider.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Resolve now' }).count()).toBe(0);
    await page.context().close();
  });

  test('a transaction whose ROLLBACK is declined stays undecided, and the notice has the advice', async () => {
    await transactions.timedOut(bet('bet-to-keep', 300), true);
    const decline = { do: 'decline', reason: 'OTHER' } as const;
    world.wallet.next(decline, { originalTransactionId: 'bet-to-keep' });
    const page = await desk.signedIn(addressOf('bet-to-keep'), await desk.keyOf('operations'));
    await page.getByRole('button', { name: 'Resolve now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve now' }).click();
    const notice = page.locator('.notice.alert-danger').getByText('The transaction is still undecided');
    await notice.waitFor();
    const { json } = await world.admin('GET', `/v1/admin/transactions/${PROVIDER}/bet-to-keep`);
    const { text } = json['advice'] as { text: string };
    expect(await notice.textContent()).toBe(
      `The transaction is still undecided (${String(json['state'])}). ${text} `,
    );
    await page.context().close();
  });

  test('a parked transaction is settled by hand once a second person approves', async () => {
    await transactions.timedOut(bet('bet-to-settle', 400), true);
    const page = await desk.signedIn(addressOf('bet-to-settle'), await desk.keyOf('operations'));
    await page.getByText('The resolver still tries: only a parked transaction can be settled.').waitFor();
    await park('bet-to-settle');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Settle by hand' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settle by hand' });
    await dialog.getByText('the BET of 4.00 EUR counts as booked by the operator').waitFor();
    await dialog.getByLabel('The operator says that').selectOption('DECLINED');
    await dialog.getByText('the BET of 4.00 EUR counts as not booked: no money moved').waitFor();
    await dialog.getByLabel("The operator's reference").fill('lucky-5512');
    await dialog.getByLabel('Balance in EUR').fill('12.00');
    await dialog.getByLabel('Reason').fill('ticket 4711');
    await dialog.getByRole('button', { name: 'Settle by hand' }).click();
    const link = page.getByRole('link', { name: 'Open the approval' });
    const approvalId = (await link.getAttribute('href'))?.split('/').at(-1) ?? '';
    const { terms } = (await world.admin('GET', `/v1/admin/approvals/${approvalId}`)).json as {
      terms: object;
    };
    expect(terms).toMatchObject({ status: 'DECLINED', balance: 1_200, operatorReference: 'lucky-5512' });
    const approver = await desk.signedIn(`/console/approvals/${approvalId}`);
    const changes = approver.getByRole('table', { name: 'Before and after' });
    await changes.getByRole('row', { name: 'Balance in the answer undecided 12.00 EUR' }).waitFor();
    await approver.getByRole('button', { name: 'Approve' }).click();
    const approving = approver.getByRole('dialog', { name: 'Approve' });
    await approving.getByText('Balance in the answer: undecided → 12.00 EUR').waitFor();
    await approving.getByRole('button', { name: 'Approve' }).click();
    await approver.getByText('Approved and carried out.').waitFor();
    // The stream reports the decision, so the page follows by itself.
    await page.getByText('settled by hand', { exact: true }).first().waitFor();
    expect(await world.stateOf('bet-to-settle')).toBe('DECLINED');
    const target = `transaction:${PROVIDER}/bet-to-settle`;
    await approver.goto(`/console/audit?target=${target}`);
    await signIn(approver, ADMIN_KEY);
    const entry = approver.getByRole('row').filter({ hasText: 'transaction.settle' });
    await entry.getByText('balance 12.00 EUR').waitFor();
    for (const each of [page, approver]) await each.context().close();
  });

  test('a settlement by hand takes a negative balance', async () => {
    await transactions.timedOut(bet('bet-into-debt', 400), true);
    await park('bet-into-debt');
    const page = await desk.signedIn(addressOf('bet-into-debt'), await desk.keyOf('operations'));
    await page.getByRole('button', { name: 'Settle by hand' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settle by hand' });
    await dialog.getByLabel("The operator's reference").fill('lucky-5515');
    await dialog.getByLabel('Balance in EUR').fill('-5.00');
    expect(await dialog.getByLabel('Balance in EUR').evaluate(refusalOf)).toBe('');
    await dialog.getByLabel('Reason').fill('ticket 4716');
    await dialog.getByRole('button', { name: 'Settle by hand' }).click();
    const link = page.getByRole('link', { name: 'Open the approval' });
    const approvalId = (await link.getAttribute('href'))?.split('/').at(-1) ?? '';
    const { json } = await world.admin('GET', `/v1/admin/approvals/${approvalId}`);
    expect(json['terms']).toMatchObject({ status: 'APPROVED', balance: -500 });
    await page.context().close();
  });

  test('the approver of a settlement without a balance sees which one is stored', async () => {
    await transactions.timedOut(bet('bet-without-balance', 400), true);
    await park('bet-without-balance');
    const path = `/v1/admin/transactions/${PROVIDER}/bet-without-balance/settle`;
    const settlement = { status: 'APPROVED', operatorReference: 'lucky-5514', reason: 'ticket 4715' };
    const { approvalId } = (await world.admin('POST', path, settlement)).json;
    const page = await desk.signedIn(`/console/approvals/${String(approvalId)}`);
    const changes = page.getByRole('table', { name: 'Before and after' });
    const name = 'Balance in the answer undecided the last known balance, or 0';
    await changes.getByRole('row', { name }).waitFor();
    await page.context().close();
  });

  test('the dialogs of corrections name a debit as one, and no amount that a ROLLBACK does not have', async () => {
    // The platform does not know the BET, and therefore not its amount.
    const fields = { transactionId: 'rollback-to-send', originalTransactionId: 'bet-that-never-came' };
    await transactions.timedOut(world.transaction(session, 'ROLLBACK', fields));
    const failing = world.wallet.always({ do: 'answer', status: 500 }, { kind: 'ADJUSTMENT' });
    const adjustment = {
      adjustmentId: 'debit-to-send',
      amountMinor: -90,
      currency: 'EUR',
      reason: 'ticket 1',
    };
    await world.admin('POST', '/v1/admin/adjustments', {
      ...adjustment,
      operatorId: OPERATOR,
      playerRef: PLAYER,
    });
    failing.withdraw();
    const page = await desk.signedIn('/console/transactions');
    const dialog = page.getByRole('dialog');
    for (const [providerId, id, what] of [
      ['platform', 'debit-to-send', 'ADJUSTMENT of -0.90 EUR'],
      [PROVIDER, 'rollback-to-send', "ROLLBACK of the BET's amount"],
    ] as const) {
      await park(id);
      await page.getByLabel('Search any id').fill(id);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/console/transactions/${providerId}/${id}`);
      await page.getByRole('button', { name: 'Resolve now' }).click();
      await dialog.getByText(`Sends the ${what} to the operator again`).waitFor();
      await dialog.getByRole('button', { name: 'Back' }).click();
      await page.getByRole('button', { name: 'Settle by hand' }).click();
      await dialog.getByText(`the ${what} counts as booked by the operator`).waitFor();
      await dialog.getByRole('button', { name: 'Back' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await page.context().close();
  });

  test('the lists, the round and the session show a decision about one of their transactions', async () => {
    const { transactionId, roundId } = await transactions.timedOut(bet('bet-to-follow', 600), true);
    await park(transactionId);
    const pages = await Promise.all(
      [
        `transactions?playerRef=${PLAYER}`,
        `rounds/${PROVIDER}/${roundId}`,
        `sessions/${session.sessionId}`,
      ].map((path) => desk.signedIn(`/console/${path}`)),
    );
    const row = (page: Page) => page.getByRole('row', { name: transactionId });
    for (const page of pages) await row(page).getByText('TIMED_OUT').waitFor();
    const path = `/v1/admin/transactions/${PROVIDER}/${transactionId}/settle`;
    const settlement = { status: 'APPROVED', operatorReference: 'lucky-5513', reason: 'ticket 4713' };
    const asker = await world.administrator('operations');
    const requested = await asker.call('POST', path, settlement);
    const approval = `/v1/admin/approvals/${String(requested.json['approvalId'])}/approve`;
    expect((await world.admin('POST', approval)).json).toMatchObject({ state: 'APPROVED' });
    for (const page of pages) await row(page).getByText('settled by hand').waitFor();
    for (const page of pages) await page.context().close();
  });

  test("an undecided transaction follows the provider's retry, on its page and in a list", async () => {
    const order = await transactions.timedOut(bet('bet-to-retry', 650));
    const list = await desk.signedIn(`/console/transactions?roundId=${order.roundId}`);
    const page = await desk.signedIn(addressOf('bet-to-retry'));
    const row = list.getByRole('row', { name: 'bet-to-retry' });
    for (const place of [row, outcomeRow(page)]) await place.getByText('TIMED_OUT').waitFor();
    await transactions.approved(order);
    for (const place of [row, outcomeRow(page)]) await place.getByText('APPROVED').first().waitFor();
    for (const each of [list, page]) await each.context().close();
  });

  test('both sides of each call are in the timeline, and foreign text stays text', async () => {
    const hostile = '<img src=x onerror="document.title=1"> \u202etxt';
    const body = bet('bet-hostile', 500);
    world.wallet.next({ do: 'answer', status: 503, body: hostile }, { transactionId: 'bet-hostile' });
    await world.submit(body);
    const page = await desk.signedIn(addressOf('bet-hostile'));
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('Show what was sent').click();
    await timeline.getByText('"transactionId": "bet-hostile"').waitFor();
    await timeline.getByText('Show the answer (HTTP 503)').click();
    await timeline.getByText('<img src=x onerror=').waitFor();
    await expect.poll(() => page.locator('main img').count()).toBe(0);
    await page.getByRole('link', { name: 'Entries about this transaction' }).waitFor();
    await page.context().close();
  });

  test('who may only read sees the actions disabled, with the role that they need', async () => {
    const page = await desk.signedIn(addressOf('bet-missing'), await desk.keyOf('support'));
    for (const name of ['Resolve now', 'Settle by hand', 'Adjust the balance']) {
      const button = page.getByRole('button', { name });
      await button.waitFor();
      await expect.poll(() => button.isDisabled()).toBe(true);
      await expect.poll(() => button.getAttribute('title')).toBe('Needs the role operations');
    }
    await page.context().close();
  });

  test.each([
    { colorScheme: 'light', viewport: DESK },
    { colorScheme: 'dark', viewport: PHONE },
  ] as const)('nothing serious for axe: $colorScheme, $viewport.width px', async (options) => {
    const page = await desk.signedIn('/console/transactions', ADMIN_KEY, { ...options, bypassCSP: true });
    await page.getByRole('link', { name: 'bet-missing', exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflows(page)).toBe(false);
    await page.getByRole('link', { name: 'bet-missing', exact: true }).click();
    await page.getByRole('button', { name: 'Settle by hand' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflows(page)).toBe(false);
    await page.context().close();
  });

  test('no page complained, and no other origin received a request', () => {
    expect(desk.complaints).toEqual([]);
    expect([...desk.origins]).toEqual([world.url]);
  });
});
