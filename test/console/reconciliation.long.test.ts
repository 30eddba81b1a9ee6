import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Transactions } from '../world/transactions.js';
import { OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import {
  DESK,
  describeDesk,
  hold,
  overflows,
  PHONE,
  seriousFindings,
  signIn,
  useDesk,
} from './support/desk.js';

const HEADER =
  'providerId,transactionId,kind,originalTransactionId,playerRef,currency,amountMinor,status,bookedAt';

describeDesk('reconciliation', () => {
  const world = useWorld();
  const desk = useDesk(world);

  test('a statement is dropped, compared and recorded, and its findings lead to the transactions', async () => {
    const session = await world.launch();
    const transactions = new Transactions(world);
    const [agreed, differing] = [
      world.transaction(session, 'BET', { amountMinor: 250 }),
      world.transaction(session, 'BET', { amountMinor: 300 }),
    ];
    await transactions.approved(agreed);
    await transactions.approved(differing);
    const lineOf = ({ transactionId }: typeof agreed, amountMinor: number) =>
      [
        PROVIDER,
        transactionId,
        'BET',
        '',
        session.playerRef,
        'EUR',
        amountMinor,
        'APPROVED',
        world.clock.now().toISOString(),
      ].join(',');
    const statement = [HEADER, lineOf(agreed, 250), lineOf(differing, 900), ''].join('\n');

    const page = await desk.signedIn('/console/reconciliation', await desk.keyOf('operations'));
    const form = page.getByRole('form', { name: 'Compare a statement' });
    await form.getByLabel('Operator').fill(OPERATOR);
    const local = (ms: number) =>
      new Date(Date.now() + ms - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await form.getByLabel('From', { exact: true }).fill(local(-3_600_000));
    await form.getByLabel('To', { exact: true }).fill(local(3_600_000));
    const choose = (text: string) =>
      form
        .getByLabel('Statement')
        .setInputFiles({ name: 'october.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await choose('');
    await form.getByRole('button', { name: 'Compare' }).click();
    await form.getByRole('alert').getByText('The statement is empty').waitFor();
    await choose(statement);
    await form.getByLabel('Record the findings in the attention queue').check();
    await form.getByRole('button', { name: 'Compare' }).click();

    await page.getByRole('heading', { name: 'Reconciliation', exact: true }).waitFor();
    const findings = page.getByRole('table', { name: 'Findings' });
    const finding = findings.getByRole('row', { name: 'amount-differs' });
    await expect
      .poll(() => finding.getByRole('link').getAttribute('href'))
      .toBe(`/console/transactions/${PROVIDER}/${differing.transactionId}`);
    await page.getByRole('table', { name: 'Sums' }).getByText('6.00 EUR').waitFor();
    await page.getByText('1 opened, 0 closed').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV (1 row)' }).click();
    expect((await download).suggestedFilename()).toBe(`findings-${OPERATOR}.csv`);

    await page.getByRole('link', { name: 'Reconciliation' }).click();
    await page
      .getByRole('table', { name: 'Reconciliations' })
      .getByRole('link', { name: OPERATOR })
      .waitFor();
    await page.context().close();
  });

  test('sums that are too large to be exact have no difference', async () => {
    const id = randomUUID();
    const sums = [{ currency: 'EUR', kind: 'BET', operatorMinor: '9007199254740993', platformMinor: '100' }];
    await world.sql.run(
      `INSERT INTO reconciliations (reconciliation_id, operator_id, range_from, range_to, lines, matched, findings,
                                    findings_stored, sums, created_at, created_by)
       VALUES ($1, $2, '2026-03-01', '2026-03-02', 1, 1, '{}', 0, $3, '2026-03-02', 'root')`,
      [id, OPERATOR, JSON.stringify(sums)],
    );
    const page = await desk.signedIn(`/console/reconciliation/${id}`);
    const row = page.getByRole('table', { name: 'Sums' }).getByRole('row', { name: 'BET' });
    await expect.poll(() => row.getByRole('cell').allTextContents()).toEqual(['EUR', '–', '1.00 EUR', '–']);
    await page.context().close();
  });

  test('a comparison whose page is left goes on, and is announced with its page', async () => {
    const page = await desk.signedIn('/console/', await desk.keyOf('operations'));
    await page.getByRole('link', { name: 'Reconciliation' }).click();
    const form = page.getByRole('form', { name: 'Compare a statement' });
    await form.getByLabel('Operator').fill(OPERATOR);
    await form.getByLabel('From', { exact: true }).fill('2026-03-01T00:00:00');
    await form.getByLabel('To', { exact: true }).fill('2026-03-02T00:00:00');
    await form
      .getByLabel('Statement')
      .setInputFiles({ name: 'none.csv', mimeType: 'text/csv', buffer: Buffer.from(`${HEADER}\n`) });
    const received = page.waitForRequest('**/v1/admin/reconciliations?operatorId=*');
    const send = await hold(page, '**/v1/admin/reconciliations?operatorId=*');
    await form.getByRole('button', { name: 'Compare' }).click();
    await received;
    await page.goBack();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    send();
    const notice = page
      .getByRole('main')
      .getByRole('status')
      .filter({ hasText: 'Compare a statement: done.' });
    await notice.getByRole('link', { name: 'Reconciliation' }).click();
    await page.getByText('none: all agree').first().waitFor();
    await page.context().close();
  });

  test('a file that is no statement is refused in the words of the service', async () => {
    const page = await desk.signedIn('/console/reconciliation');
    const form = page.getByRole('form', { name: 'Compare a statement' });
    await form.getByLabel('Operator').fill(OPERATOR);
    await form.getByLabel('From', { exact: true }).fill('2026-03-01T00:00:00');
    await form.getByLabel('To', { exact: true }).fill('2026-03-02T00:00:00');
    await form
      .getByLabel('Statement')
      .setInputFiles({ name: 'x.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') });
    await form.getByRole('button', { name: 'Compare' }).click();
    await form.getByRole('alert').filter({ hasText: 'header' }).waitFor();
    await page.context().close();
  });

  test('an auditor reads, and sees the role that a comparison needs', async () => {
    const page = await desk.signedIn('/console/reconciliation', await desk.keyOf('auditor'));
    await expect.poll(() => page.getByRole('button', { name: 'Compare' }).isDisabled()).toBe(true);
    await page.getByText('Needs the role operations').waitFor();
    await page.getByRole('table', { name: 'Reconciliations' }).waitFor();
    await page.context().close();
  });

  test.each([
    { colorScheme: 'light', viewport: DESK },
    { colorScheme: 'dark', viewport: PHONE },
  ] as const)(
    'nothing serious for axe, no sideways scroll: $colorScheme, $viewport.width px',
    async (options) => {
      const page = await desk.open('/console/reconciliation', { ...options, bypassCSP: true });
      await signIn(page, await desk.keyOf('operations'));
      await page.getByRole('table', { name: 'Reconciliations' }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      await page.context().close();
    },
  );

  test('no page complained', () => {
    expect(desk.complaints).toEqual([]);
  });
});
