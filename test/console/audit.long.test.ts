import { beforeAll, expect, test } from 'vitest';
import { ADMIN_KEY, OPERATOR, useWorld } from '../world/world.js';
import { DESK, describeDesk, overflows, PHONE, seriousFindings, useDesk } from './support/desk.js';

describeDesk('the page of the audit log', () => {
  const world = useWorld();
  const desk = useDesk(world);

  beforeAll(async () => {
    const limits = `/v1/admin/limits/${OPERATOR}/EUR`;
    await world.admin('PUT', limits, { maxAdjustmentMinor: 10_000 });
    const asker = await world.administrator('admin', 'Ada');
    const raised = await asker.call('PUT', limits, { maxAdjustmentMinor: 500_000 });
    expect(raised.status).toBe(202);
    await world.admin('POST', `/v1/admin/approvals/${String(raised.json['approvalId'])}/approve`);
  });

  test('"who raised a limit" is found, with the amounts before and after', async () => {
    const page = await desk.signedIn('/console/audit', await desk.keyOf('auditor'));
    await page.getByLabel('Action').selectOption('limit.*');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/action=limit\.\*/);
    const row = page.getByRole('row').filter({ hasText: 'limit.replace' });
    await row.getByText('5,000.00 EUR').waitFor();
    await expect
      .poll(() => row.textContent())
      .toMatch(/maxAdjustmentMinor 100\.00 EUR becomes 5,000\.00 EUR/);
    await row.getByText(`limit:${OPERATOR}/EUR`).waitFor();
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'provider.create' }).count()).toBe(0);
    await expect.poll(() => page.getByLabel('Action').inputValue()).toBe('limit.*');

    // The request for it names who asked.
    await page.getByLabel('Action').selectOption('approval.ask');
    await page.getByRole('button', { name: 'Apply' }).click();
    const asked = page.getByRole('row').filter({ hasText: 'approval.ask' });
    await asked.getByText('Ada (admin)').waitFor();
    await asked.getByText('terms.after.maxAdjustmentMinor 5,000.00 EUR').waitFor();
    await page.context().close();
  });

  test('the chain without a filter has no gap, and its newest entry is named', async () => {
    const page = await desk.signedIn('/console/audit');
    const state = page.getByRole('note');
    await state.getByText('The chain has no gap in ').waitFor();
    await expect.poll(() => state.textContent()).toMatch(/\d{4}-\d\d-\d\d\/\d+ [0-9a-f]{64}\./);
    await page.context().close();
  });

  test('a refusal is an entry, and the text of others stays text', async () => {
    const reason = '<b>moved</b> \u202e\u{1f3b0}';
    await world.admin('POST', `/v1/admin/operators/${OPERATOR}/pause`, { reason });
    const support = await world.administrator('support', 'Bob');
    await support.call('POST', `/v1/admin/operators/${OPERATOR}/resume`);
    const page = await desk.signedIn(`/console/audit?target=operator:${OPERATOR}`);
    await page.getByText(reason).waitFor();
    const refused = page.getByRole('row').filter({ hasText: 'FORBIDDEN' });
    await refused.getByText('Bob (support)').waitFor();
    await expect.poll(() => page.locator('main b').count()).toBe(0);
    await expect
      .poll(() => refused.getByRole('link').first().getAttribute('href'))
      .toBe(`/console/operators/${OPERATOR}`);
    await page.context().close();
  });

  test.each([
    { colorScheme: 'light', viewport: DESK },
    { colorScheme: 'dark', viewport: PHONE },
  ] as const)('nothing serious for axe: $colorScheme, $viewport.width px', async (options) => {
    const page = await desk.signedIn('/console/audit', ADMIN_KEY, { ...options, bypassCSP: true });
    await page.getByRole('row').filter({ hasText: 'limit.replace' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await overflows(page)).toBe(false);
    await page.context().close();
  });

  test('no page complained, and no other origin received a request', () => {
    expect(desk.complaints).toEqual([]);
    expect([...desk.origins]).toEqual([world.url]);
  });
});
