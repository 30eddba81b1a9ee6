import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import {
  ADJUSTMENTS,
  adjustmentOrder,
  APPROVALS,
  batchOrder,
  BATCHES,
  GRANTS,
  limit,
} from '../approvals/desk.js';
import { grantOrder } from '../world/grant-order.js';
import { GRANT } from '../world/provider.js';
import { bearer, OPERATOR, useWorld } from '../world/world.js';
import { describeDesk, faultsOf, useDesk } from './support/desk.js';

describeDesk('approvals', () => {
  const world = useWorld({ SANDBOX: 'true', OPERATOR_TIMEOUT_MS: '20000', CALLBACK_TIMEOUT_MS: '20000' });
  const desk = useDesk(world);
  let asker: string;
  let approver: string;

  beforeAll(async () => {
    asker = await desk.keyOf('promotions');
    approver = await desk.keyOf('promotions');
    await limit(world, {
      maxGrantMinor: 100,
      maxBatchMinor: 100,
      maxAdjustmentMinor: 50,
      dailyMinor: 1_000_000,
    });
  });

  /** A request for 5 spins of 20.00 EUR, which waits. */
  async function request(key = asker) {
    const order = grantOrder({ betAmountMinor: 2_000 });
    const { status, json } = await world.admin('POST', GRANTS, order, bearer(key));
    expect(status).toBe(202);
    return { id: String(json['approvalId']), order };
  }
  const callsFor = (requestRef: string) =>
    world.provider.calls(GRANT).filter(({ json }) => json['requestRef'] === requestRef).length;
  const button = (page: Page, name: string) =>
    page.getByRole('main').getByRole('button', { name, exact: true });
  const dialog = (page: Page) => page.getByRole('dialog');

  test('a request appears without a reload, and a second person approves it', async () => {
    const page = await desk.signedIn('/console/approvals?state=WAITING', approver);
    await page.getByText('No approval matches.').waitFor();
    const { id, order } = await request();
    const row = page.getByRole('row', { name: order.playerRef });
    await row.getByText('100.00 EUR', { exact: true }).waitFor();
    await row.getByText('promotions of the desk').waitFor();
    await row.getByRole('link', { name: order.playerRef }).click();
    await page.waitForURL(`**/console/approvals/${id}`);
    await page.getByText('because of the limit "Grant" of 1.00 EUR').waitFor();
    const changes = page.getByRole('table', { name: 'Before and after' });
    await changes.getByRole('row', { name: '0.00 EUR 100.00 EUR' }).waitFor();

    await button(page, 'Approve').click();
    await dialog(page).getByText('This is carried out at once (100.00 EUR)').waitFor();
    expect(callsFor(order.requestRef)).toBe(0);
    await dialog(page).getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved and carried out.').waitFor();
    expect(callsFor(order.requestRef)).toBe(1);
    await page.getByText('Approved', { exact: true }).waitFor();
    const outcome = page.getByRole('link', { name: 'Open the grant' });
    await expect.poll(() => outcome.getAttribute('href')).toBe(`/console/free-spins/${order.requestRef}`);
    await page.context().close();
  });

  test.each([
    {
      wallet: 'declines',
      fault: { do: 'decline', reason: 'INSUFFICIENT_FUNDS' },
      sentence: 'Approved, but the operator declined it (INSUFFICIENT_FUNDS): no money moved.',
    },
    {
      wallet: 'does not answer',
      fault: { do: 'answer', status: 500 },
      sentence: /^Approved, but not confirmed: .+ It may still be carried out: see its page/,
    },
  ] as const)('an approved adjustment that the wallet $wallet is not said to be done', async (outcome) => {
    const order = adjustmentOrder({ amountMinor: 250 });
    const { json } = await world.admin('POST', ADJUSTMENTS, order, bearer(await desk.keyOf('operations')));
    const approvalId = String(json['approvalId']);
    const page = await desk.signedIn(`/console/approvals/${approvalId}`, await desk.keyOf('operations'));
    await button(page, 'Approve').click();
    const failing = world.wallet.always(outcome.fault, { kind: 'ADJUSTMENT' });
    await dialog(page).getByRole('button', { name: 'Approve' }).click();
    await page.locator('.notice.alert-danger').getByText(outcome.sentence).waitFor();
    failing.withdraw();
    await page.locator('.alert-danger:not(.notice)').getByText(outcome.sentence).waitFor();
    await page.getByRole('link', { name: 'Open the adjustment' }).click();
    await page.waitForURL(`**/console/transactions/platform/${order.adjustmentId}`);
    await page.getByRole('region', { name: 'Advice' }).waitFor();
    await page.context().close();
  });

  test('the page of an approved adjustment follows the answer of a slow wallet', async () => {
    const order = adjustmentOrder({ amountMinor: 250 });
    const { json } = await world.admin('POST', ADJUSTMENTS, order, bearer(await desk.keyOf('operations')));
    const page = await desk.signedIn(`/console/approvals/${String(json['approvalId'])}`);
    await button(page, 'Approve').waitFor();
    const held = world.wallet.next({ do: 'hold' }, { transactionId: order.adjustmentId });
    const approved = world.admin('POST', `${APPROVALS}/${String(json['approvalId'])}/approve`);
    await held.arrived;
    const failure = page.getByText(/^Approved, but not confirmed: /);
    await failure.waitFor();
    held.release();
    expect((await approved).json).toMatchObject({ result: { status: 'APPROVED' } });
    await failure.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('an approved batch is said to be created, not carried out, while its grants are sent', async () => {
    const { status, json } = await world.admin('POST', BATCHES, batchOrder(2), bearer(asker));
    expect(status).toBe(202);
    const page = await desk.signedIn(`/console/approvals/${String(json['approvalId'])}`, approver);
    await button(page, 'Approve').click();
    await dialog(page).getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved: the batch was created; its grants are being sent.').waitFor();
    await page.context().close();
  });

  test('the page of an approved grant follows the refusal of a slow provider', async () => {
    const { id, order } = await request();
    const page = await desk.signedIn(`/console/approvals/${id}`);
    await button(page, 'Approve').waitFor();
    const refusal = { do: 'answer', status: 422 } as const;
    const held = world.provider.next({ do: 'hold', then: refusal }, { requestRef: order.requestRef });
    const approved = world.admin('POST', `${APPROVALS}/${id}/approve`);
    await held.arrived;
    await page.getByText('Approved, but not confirmed yet: the provider has not answered.').waitFor();
    held.release();
    expect((await approved).status).toBe(200);
    await page.getByText(/^Approved, but not confirmed: .*422/).waitFor();
    await page.context().close();
  });

  test('a slow read ends although an event arrives, and the list is read once more', async () => {
    const page = await desk.signedIn('/console/', approver);
    const answers: (() => Promise<void>)[] = [];
    const list = /\/v1\/admin\/approvals(?:\?|$)/;
    const aborted: string[] = [];
    page.on('requestfailed', (failed) => {
      if (list.test(failed.url())) aborted.push(failed.url());
    });
    await page.route(list, async (route) => {
      const response = await route.fetch();
      answers.push(() => route.fulfill({ response }));
      if (answers.length > 1) await answers[1]!();
    });
    await page.getByRole('link', { name: 'Approvals' }).click();
    await expect.poll(() => answers.length).toBe(1);
    const other = await desk.signedIn('/console/approvals', approver);
    await other.getByRole('heading', { name: 'Approvals' }).waitFor();
    const { order } = await request();
    await other.getByRole('row', { name: order.playerRef }).waitFor();
    expect(answers.length).toBe(1);
    await answers[0]!();
    await page.getByRole('row', { name: order.playerRef }).waitFor();
    expect(answers.length).toBe(2);
    expect(aborted).toEqual([]);
    for (const each of [page, other]) await each.context().close();
  });

  test('the requester cannot approve, sees why, and may withdraw; the page follows the stream', async () => {
    const { id, order } = await request();
    const page = await desk.signedIn(`/console/approvals/${id}`, asker);
    await expect.poll(() => button(page, 'Approve').isDisabled()).toBe(true);
    await page.getByText('You requested this: another person must approve it.').waitFor();
    const second = await desk.signedIn(`/console/approvals/${id}`, approver);
    await button(second, 'Approve').waitFor();

    await button(page, 'Withdraw').click();
    await dialog(page).getByLabel('Reason').fill('one zero too many');
    await dialog(page).getByRole('button', { name: 'Withdraw' }).click();
    await page.getByText('Withdrawn: nothing was carried out.').waitFor();
    await second.getByText('one zero too many').waitFor();
    await expect.poll(() => button(second, 'Approve').count()).toBe(0);
    expect(callsFor(order.requestRef)).toBe(0);
    for (const each of [page, second]) await each.context().close();
  });

  test('a rejection needs a reason, which is shown, and carries nothing out', async () => {
    const { id, order } = await request();
    const page = await desk.signedIn(`/console/approvals/${id}`, approver);
    await button(page, 'Reject').click();
    await dialog(page).getByRole('button', { name: 'Reject' }).click();
    expect(await dialog(page).isVisible()).toBe(true);
    await dialog(page).getByLabel('Reason').fill('not <b>this</b> player');
    await dialog(page).getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Rejected: nothing was carried out.').waitFor();
    await page.getByText('not <b>this</b> player').waitFor();
    expect(callsFor(order.requestRef)).toBe(0);
    const { json } = await world.admin('GET', `${APPROVALS}/${id}`);
    expect(json).toMatchObject({ state: 'REJECTED', reason: 'not <b>this</b> player' });
    await page.context().close();
  });

  test('a change of limits shows before and after, and names the role that decides it', async () => {
    const path = `/v1/admin/limits/${OPERATOR}/EUR`;
    const { json } = await (await world.administrator('admin')).call('PATCH', path, { maxGrantMinor: 2_500 });
    const address = `/console/approvals/${String(json['approvalId'])}`;
    for (const role of ['promotions', 'auditor']) {
      const page = await desk.signedIn(address, await desk.keyOf(role));
      const changes = page.getByRole('table', { name: 'Before and after' });
      await changes.getByRole('row', { name: 'Grant 1.00 EUR 25.00 EUR' }).waitFor();
      await changes.getByRole('row', { name: '24 hours 10,000.00 EUR 10,000.00 EUR' }).waitFor();
      for (const name of ['Approve', 'Reject']) {
        await expect.poll(() => button(page, name).isDisabled()).toBe(true);
        await expect.poll(() => button(page, name).getAttribute('title')).toBe('Needs the role admin');
      }
      await page.context().close();
    }
  });

  test('the address filters, and the CSV has exactly that', async () => {
    const { order } = await request();
    const page = await desk.signedIn('/console/approvals', approver);
    await page.getByRole('link', { name: 'Waiting', exact: true }).click();
    await page.waitForURL('**/console/approvals?state=WAITING');
    await page.getByRole('row', { name: order.playerRef }).waitFor();
    await expect.poll(() => page.getByRole('row', { name: 'Rejected' }).count()).toBe(0);
    await expect.poll(() => page.getByLabel('State').inputValue()).toBe('WAITING');
    const downloading = page.waitForEvent('download');
    await button(page, 'Download CSV').click();
    const stream = await (await downloading).createReadStream();
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    const csv = Buffer.concat(chunks).toString();
    expect(csv).toContain(order.requestRef);
    expect(csv).not.toContain('REJECTED');
    await page.context().close();
  });

  test.each(['list', 'one'])('nothing serious for axe, and no sideways scroll: %s', async (which) => {
    const { id, order } = await request();
    const path = which === 'list' ? '/console/approvals' : `/console/approvals/${id}`;
    const page = await desk.signedIn(path, approver, { bypassCSP: true });
    await page.getByText(order.playerRef).first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('no page complained', () => {
    expect(desk.complaints).toEqual([]);
  });
});
