import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { BATCHES, batchOrder } from '../approvals/desk.js';
import { GRANT } from '../world/provider.js';
import { OPERATOR, OTHER_OPERATOR, useWorld } from '../world/world.js';
import { describeDesk, faultsOf, useDesk } from './support/desk.js';

interface Item {
  readonly id: string;
  readonly state: string;
  readonly count: number;
  readonly subject: string;
  readonly reason?: string;
}

describeDesk('attention', () => {
  const world = useWorld({ SANDBOX: 'true' });
  const desk = useDesk(world);
  let operations: string;
  /** The items of batches, by the number of their grants. */
  let itemOf: ReadonlyMap<number, Item>;

  beforeAll(async () => {
    operations = await desk.keyOf('operations');
    // Refused, not unanswered, so that every grant is sent.
    const body = { error: 'no <b>spins</b> today' };
    world.provider.always({ do: 'answer', status: 422, body }, { path: GRANT });
    const sizes = [1, 2, 4, 5, 6, 7, 8];
    const batches = await Promise.all([
      ...sizes.map((size) => failedBatch(size)),
      failedBatch(9, OTHER_OPERATOR),
    ]);
    const found = () => items().then((all) => all.filter(({ subject }) => batches.includes(subject)));
    await vi.waitFor(async () => expect((await found()).length).toBe(batches.length), 20_000);
    itemOf = new Map((await found()).map((item) => [item.count, item]));
  });

  /** A batch whose grants all fail. @returns its id */
  async function failedBatch(players: number, operatorId = OPERATOR): Promise<string> {
    const { json } = await world.admin('POST', BATCHES, batchOrder(players, { operatorId }));
    return String(json['batchId']);
  }
  const items = async () =>
    (await world.admin('GET', '/v1/admin/attention')).json['items'] as readonly Item[];
  const main = (page: Page) => page.getByRole('main');
  const dialog = (page: Page) => page.getByRole('dialog');
  const rowOf = (page: Page, text: string) => main(page).getByRole('row').filter({ hasText: text });
  const confirm = (page: Page, name: string) => dialog(page).getByRole('button', { name }).click();

  test('a batch that fails appears as one line, live, and leads to its page', async () => {
    const page = await desk.signedIn('/console/attention?state=OPEN&kind=grant', operations);
    await rowOf(page, '8 grants').waitFor();
    const batchId = await failedBatch(3);
    await rowOf(page, '3 grants of the batch').getByRole('cell', { name: '3', exact: true }).waitFor();
    const cause = rowOf(page, '3 grants of the batch').getByRole('link', { name: batchId });
    await expect.poll(() => cause.getAttribute('href')).toBe(`/console/free-spins/batches/${batchId}`);
    await page.context().close();
  });

  test('a filter that selects no item does not say that nothing waits', async () => {
    const page = await desk.signedIn('/console/attention?operatorId=luckycasino', operations);
    await main(page).getByText('Nothing matches.').waitFor();
    await page.context().close();
  });

  test('several items are assigned and closed together, and what was skipped says why', async () => {
    const [first, second, third] = [4, 5, 6].map((size) => itemOf.get(size)!);
    const page = await desk.signedIn('/console/attention', operations);
    for (const grants of ['4 grants', '5 grants', '6 grants'])
      await rowOf(page, grants).getByRole('checkbox').check();
    await main(page).getByRole('button', { name: 'Assign 3 items' }).click();
    await expect.poll(() => dialog(page).getByLabel('Assignee').inputValue()).toBe('operations of the desk');
    await dialog(page).getByLabel('Assignee').fill('Ada');
    await confirm(page, 'Assign 3 items');
    await page.locator('.notice.alert-success').getByText('3 done, 0 skipped.').waitFor();
    await rowOf(page, '5 grants').getByText('Ada').waitFor();

    for (const grants of ['4 grants', '5 grants', '6 grants'])
      await rowOf(page, grants).getByRole('checkbox').check();
    await main(page).getByRole('button', { name: 'Close 3 items' }).click();
    await dialog(page).getByLabel('Reason').fill('known <i>fault</i>');
    // Somebody else is faster.
    await world.admin('POST', `/v1/admin/attention/${second!.id}/close`, { reason: 'done' });
    await confirm(page, 'Close 3 items');
    await page.locator('.notice.alert-danger').getByText('2 done, 1 skipped.').waitFor();
    const skipped = page.getByRole('table', { name: 'Skipped' });
    await skipped.getByRole('row', { name: '5 grants' }).getByText('the item is closed').waitFor();
    const closed = (await items()).filter(({ state }) => state === 'CLOSED');
    expect(closed.map(({ id, reason }) => [id, reason]).sort()).toEqual(
      [
        [first!.id, 'known <i>fault</i>'],
        [second!.id, 'done'],
        [third!.id, 'known <i>fault</i>'],
      ].sort(),
    );
    await page.context().close();
  });

  test('one item: snoozed, commented on and closed by the keyboard, with its history', async () => {
    const { id } = itemOf.get(7)!;
    const page = await desk.signedIn(`/console/attention/${id}`, operations);
    await main(page).getByRole('button', { name: 'Snooze' }).press('Enter');
    await dialog(page).getByRole('button', { name: 'Snooze' }).press('Enter');
    await page.getByText('Snoozed until').waitFor();
    await main(page).getByText('Snoozed', { exact: true }).waitFor();
    await main(page).getByRole('button', { name: 'Comment' }).press('Enter');
    await dialog(page).getByLabel('Comment').fill('asked the provider,\nticket <b>4711</b>');
    await confirm(page, 'Comment');
    const comments = page.getByRole('table', { name: 'Comments' });
    const comment = comments.getByText('asked the provider');
    await expect.poll(() => comment.innerText()).toBe('asked the provider,\nticket <b>4711</b>');
    await main(page).getByRole('button', { name: 'Close' }).press('Enter');
    await dialog(page).getByLabel('Reason').fill('the provider was repaired');
    await confirm(page, 'Close');
    await page.getByText('The item is closed.').first().waitFor();
    const history = page.getByRole('table', { name: 'History' });
    await history.getByRole('row', { name: 'closed the provider was repaired' }).waitFor();
    const snoozed = history.getByRole('row', { name: 'snoozed' }).getByRole('time');
    await expect.poll(() => snoozed.last().getAttribute('title')).toMatch(/ UTC$/);
    await expect.poll(() => main(page).getByRole('button', { name: 'Assign' }).isDisabled()).toBe(true);
    await page.context().close();
  });

  test('the address filters by kind, operator and age', async () => {
    const page = await desk.signedIn('/console/attention', operations);
    await page.getByLabel('Kind').selectOption({ label: 'Free spins' });
    await page.getByLabel('Operator').fill(OTHER_OPERATOR);
    await page.getByLabel('Opened from').fill('2026-01-31T07:00:00');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await page.waitForURL(/kind=grant/);
    await rowOf(page, '9 grants').waitFor();
    await expect.poll(() => rowOf(page, '8 grants').count()).toBe(0);
    const query = new URL(page.url()).searchParams;
    expect(query.get('kind')).toBe('grant');
    expect(query.get('operatorId')).toBe(OTHER_OPERATOR);
    expect(query.get('from')).toMatch(/Z$/);
    await page.context().close();
  });

  test('an auditor reads, and sees which role the actions need', async () => {
    const { id } = itemOf.get(2)!;
    const page = await desk.signedIn('/console/attention', await desk.keyOf('auditor'));
    for (const name of ['Assign', 'Snooze', 'Close']) {
      const button = main(page).getByRole('button', { name });
      await expect.poll(() => button.isDisabled()).toBe(true);
      await expect.poll(() => button.getAttribute('title')).toBe('Needs the role operations');
    }
    await rowOf(page, '2 grants').getByRole('link', { name: '2 grants' }).click();
    await page.waitForURL(`**/console/attention/${id}`);
    for (const name of ['Assign', 'Snooze', 'Comment', 'Close'])
      await expect.poll(() => main(page).getByRole('button', { name }).isDisabled()).toBe(true);
    await page.context().close();
  });

  test('nothing serious for axe, and no sideways scroll', async () => {
    const page = await desk.signedIn('/console/attention', operations, { bypassCSP: true });
    await rowOf(page, '1 grant ').getByRole('checkbox').check();
    expect(await faultsOf(page)).toEqual([]);
    await rowOf(page, '1 grant ').getByRole('link', { name: '1 grant ' }).click();
    await page.getByRole('table', { name: 'History' }).waitFor();
    await main(page).getByRole('button', { name: 'Snooze' }).click();
    expect(await faultsOf(page)).toEqual([]);
    await page.context().close();
  });

  test('no page complained', () => {
    expect(desk.complaints).toEqual([]);
  });
});
