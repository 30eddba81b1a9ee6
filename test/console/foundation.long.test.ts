import { type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { VERSION } from '../../src/runtime/build.js';
import { Transactions } from '../world/transactions.js';
import { ADMIN_KEY, OPERATOR, OTHER_OPERATOR, PROVIDER, startApplication, useWorld } from '../world/world.js';
import {
  closeConnections,
  DESK,
  describeDesk,
  hold,
  overflows,
  PHONE,
  seriousFindings,
  signIn,
  useDesk,
} from './support/desk.js';

/** Compressed script and style until sign-in is shown, and until Overview stands. */
const MAX_BYTES = 120_000;
const IDLE_MINUTES = 15;

const hrefsOf = (links: unknown[]) =>
  links.map((link) => (link as { getAttribute(name: string): string }).getAttribute('href'));

describeDesk('the desk', () => {
  const world = useWorld({ SANDBOX: 'true' });
  const desk = useDesk(world);

  const alert = (page: Page) => page.getByRole('alert');
  const keyField = (page: Page) => page.getByLabel('Admin key');
  const stored = (page: Page) =>
    page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');

  test('a wrong key is refused, and may be tried again', async () => {
    const page = await desk.open();
    await expect.poll(() => keyField(page).getAttribute('type')).toBe('password');
    await keyField(page).fill('a wrong key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await alert(page)
      .filter({ hasText: /^A valid admin key is required\.?$/i })
      .waitFor();
    await signIn(page, ADMIN_KEY);
    await page.context().close();
  });

  test('the banner names the environment, the version and who is signed in', async () => {
    const page = await desk.signedIn('/console/', await desk.keyOf('support'));
    const banner = page.getByRole('banner');
    for (const text of ['Sandbox', `version ${VERSION}`, 'support of the desk (support)', 'Live'])
      await banner.getByText(text, { exact: true }).waitFor();
    await page.context().close();
  });

  test('Overview shows each operator and provider, amounts, pauses and what waits', async () => {
    const session = await world.launch();
    await new Transactions(world).approved(world.transaction(session, 'BET', { amountMinor: 45_050 }));
    const reason = 'the <b>wallet</b> is being moved';
    await world.admin('POST', `/v1/admin/operators/${OTHER_OPERATOR}/pause`, { reason });
    const page = await desk.signedIn();
    await page.getByRole('table', { name: 'Operators' }).getByRole('row', { name: OPERATOR }).waitFor();
    await page.getByRole('table', { name: 'Providers' }).getByRole('row', { name: PROVIDER }).waitFor();
    await page.getByRole('table', { name: 'Pauses' }).getByRole('row', { name: reason }).waitFor();
    await page.getByRole('table', { name: 'Waiting' }).getByRole('row', { name: 'Approvals 0' }).waitFor();
    await page.getByRole('table', { name: 'Amounts' }).getByText('450.50 EUR').waitFor();
    await expect.poll(() => page.locator('main b').count()).toBe(0);
    await world.admin('POST', `/v1/admin/operators/${OTHER_OPERATOR}/resume`, {});
    await page.context().close();
  });

  test('the undecided transactions that Overview counts are listed, in both states', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET', { transactionId: 'without-answer' });
    await new Transactions(world).timedOut(bet, true);
    const page = await desk.signedIn();
    const row = page.getByRole('table', { name: 'Operators' }).getByRole('row', { name: OPERATOR });
    await row.getByRole('cell', { name: 'PENDING TIMED_OUT 1', exact: true }).waitFor();
    const listOf = (state: string) => `/console/transactions?operatorId=${OPERATOR}&state=${state}`;
    for (const state of ['PENDING', 'TIMED_OUT'])
      await expect
        .poll(() => row.getByRole('link', { name: state }).getAttribute('href'))
        .toBe(listOf(state));
    await row.getByRole('link', { name: 'TIMED_OUT' }).click();
    const found = page.getByRole('table', { name: 'Transactions' }).getByRole('row');
    await found.filter({ hasText: 'without-answer' }).waitFor();
    await page.context().close();
  });

  test('a page that is opened by a link or the sign-in gets the focus, also when it is filtered', async () => {
    const page = await desk.signedIn();
    const focused = () => page.evaluate<string>('document.activeElement.id');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(focused).toBe('main');
    await page.getByRole('link', { name: 'Approvals' }).click();
    await expect.poll(focused).toBe('main');
    const operator = page.getByLabel('Operator', { exact: true });
    await operator.fill(OPERATOR);
    await page.keyboard.press('Enter');
    await page.waitForURL(/operatorId=/);
    await expect.poll(() => operator.inputValue()).toBe(OPERATOR);
    await expect.poll(focused).toBe('main');
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await expect.poll(() => operator.inputValue()).toBe('');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('All');
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(focused).toBe('main');
    await page.context().close();
  });

  test('the key is in memory, and gone after a reload', async () => {
    const page = await desk.signedIn();
    expect(await stored(page)).toBe('[{},{}]');
    await page.reload();
    await keyField(page).waitFor();
    await page.context().close();
  });

  test('with the box ticked, the key survives a reload in this tab, until the sign-out', async () => {
    const page = await desk.open();
    await page.getByLabel('Stay signed in for this tab').check();
    await signIn(page, ADMIN_KEY);
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const [local, session] = JSON.parse(await stored(page)) as [object, object];
    expect(local).toEqual({});
    expect(JSON.stringify(session)).toContain(ADMIN_KEY);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await keyField(page).waitFor();
    expect(await stored(page)).toBe('[{},{}]');
    await page.context().close();
  });

  test('after fifteen idle minutes the key is gone, and not before', async () => {
    const page = await desk.open();
    await page.clock.install();
    await page.reload();
    await page.getByLabel('Stay signed in for this tab').check();
    await signIn(page, ADMIN_KEY);
    await page.clock.fastForward(60_000 * (IDLE_MINUTES - 1));
    await page.keyboard.press('Shift');
    await page.clock.fastForward(60_000 * (IDLE_MINUTES - 1));
    await expect.poll(() => keyField(page).count()).toBe(0);
    await page.clock.fastForward(2 * 60_000);
    await page.getByText('You were signed out, because nothing happened for 15 minutes.').waitFor();
    expect(await stored(page)).toBe('[{},{}]');
    await page.context().close();
  });

  test('an action that is under way is no idle time', async () => {
    const path = `/v1/admin/operators/${OPERATOR}`;
    const page = await desk.open(`/console/operators/${OPERATOR}`);
    await page.clock.install();
    await page.reload();
    await signIn(page, ADMIN_KEY);
    const received = page.waitForRequest(`**${path}/pause`);
    const send = await hold(page, `**${path}/pause`);
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('moved');
    await dialog.getByRole('button', { name: 'Pause the operator' }).click();
    await received;
    await page.clock.fastForward(60_000 * (IDLE_MINUTES + 1));
    send();
    await page.getByText('Pause the operator: done.').waitFor();
    await world.admin('POST', `${path}/resume`, {});
    await page.context().close();
  });

  test('a key that is withdrawn ends the session at once', async () => {
    const key = await desk.keyOf('auditor');
    const page = await desk.signedIn('/console/', key);
    const { items } = (await world.admin('GET', '/v1/admin/keys')).json as {
      items: { id: string; name: string }[];
    };
    for (const { id, name } of items.filter(({ name }) => name === 'auditor of the desk')) {
      expect(name).toBeTruthy();
      await world.admin('DELETE', `/v1/admin/keys/${id}`);
    }
    await page.getByText('You were signed out').waitFor();
    await keyField(page).waitFor();
    await page.context().close();
  });

  test.each([
    { ended: 'succeeds', answer: undefined },
    { ended: 'is refused, because the key is withdrawn', answer: { status: 401, json: { error: 'gone' } } },
  ])(
    'an action of the person before, which $ended, is none of the next one in the tab',
    async ({ answer }) => {
      const path = `/v1/admin/operators/${OPERATOR}`;
      const page = await desk.signedIn('/console/operators');
      await page.getByRole('table', { name: 'Operators' }).getByRole('link', { name: OPERATOR }).click();
      const answered = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/pause'));
      const received = page.waitForRequest(`**${path}/pause`);
      const send = await hold(page, `**${path}/pause`, {
        goOn: (route) => (answer ? route.fulfill(answer) : route.continue()),
      });
      await page.getByRole('button', { name: 'Pause the operator' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('moved');
      await dialog.getByRole('button', { name: 'Pause the operator' }).click();
      await received;
      await page.goBack();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(page, await desk.keyOf('support'));
      send();
      await answered;
      // The answer to a later call: that of the action was processed before it.
      await page.getByLabel('Search any id').fill('no-such-id');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing has the id no-such-id.').waitFor();
      await page.getByText('support of the desk (support)').waitFor();
      expect(await page.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
      await world.admin('POST', `${path}/resume`, {});
      await page.context().close();
    },
  );

  test('a notice does not outlive its session', async () => {
    const path = `/v1/admin/operators/${OPERATOR}`;
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('moved');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause the operator' }).click();
    await page.getByText('Pause the operator: done.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await keyField(page).waitFor();
    await page.evaluate(
      "new MutationObserver(() => { window.wasShown ||= document.querySelector('.notice') !== null }).observe(document.body, { childList: true, subtree: true })",
    );
    await signIn(page, await desk.keyOf('support'));
    expect(await page.evaluate('window.wasShown')).toBe(false);
    await world.admin('POST', `${path}/resume`, {});
    await page.context().close();
  });

  test('/ focuses the search box, and an id that nothing has is named', async () => {
    const page = await desk.signedIn();
    // Until the page listens to keys.
    const focusedAfterSlash = async () => {
      await page.keyboard.press('/');
      return page.evaluate('document.activeElement.labels?.[0].textContent');
    };
    await expect.poll(focusedAfterSlash).toBe('Search any id');
    await page.keyboard.type('no-such-id/');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing has the id no-such-id/.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Nothing has the id').waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('several hits are listed with type and time, and lead to their pages', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET', { transactionId: 'twice', roundId: 'twice' });
    await world.submit(bet);
    const page = await desk.signedIn();
    await page.getByLabel('Search any id').fill('twice');
    await page.keyboard.press('Enter');
    await page.getByText('2 hits').waitFor();
    const hit = page.getByRole('listitem').filter({ hasText: 'Transaction twice' });
    await expect
      .poll(() => hit.getByRole('link').getAttribute('href'))
      .toBe(`/console/transactions/${PROVIDER}/twice`);
    await expect.poll(() => hit.getByRole('time').getAttribute('title')).toMatch(/ UTC$/);
    await page.context().close();
  });

  test('an address without a page says so, also after a reload', async () => {
    // The last two are cut off within an escape.
    for (const path of ['nowhere/at-all', 'transactions/spinwell/abc%2', 'players/%E0%A4%A']) {
      const page = await desk.signedIn(`/console/${path}`);
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      await page.getByRole('link', { name: 'Approvals' }).click();
      await page.getByRole('heading', { name: 'Approvals' }).waitFor();
      await page.context().close();
    }
  });

  test('a read that gets no answer is given up, and repeated', async () => {
    const page = await desk.open('/console/operators');
    await page.addInitScript(
      'const bound = AbortSignal.timeout; AbortSignal.timeout = (ms) => bound.call(AbortSignal, ms / 3)',
    );
    await page.reload();
    let hangs = true;
    await page.route('**/v1/admin/operators*', (route) => (hangs ? undefined : route.continue()));
    await signIn(page, ADMIN_KEY);
    await alert(page).filter({ hasText: 'The service does not answer.' }).waitFor();
    hangs = false;
    await page.getByRole('table', { name: 'Operators' }).getByRole('link', { name: OPERATOR }).waitFor();
    await page.context().close();
  });

  test('a page that could not be loaded while the service was away is shown once it answers', async () => {
    const page = await desk.signedIn();
    const away = ['**/console/assets/approvals-*.js', '**/console/settings.json'];
    for (const path of away) await page.route(path, (route) => route.abort());
    await page.getByRole('link', { name: 'Approvals' }).click();
    await alert(page).filter({ hasText: 'The service does not answer.' }).waitFor();
    for (const path of away) await page.unroute(path);
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    expect(await alert(page).count()).toBe(0);
    await page.context().close();
  });

  test('a page that an upgrade has removed offers to load the console again, and is tried again', async () => {
    const page = await desk.signedIn();
    await page.route('**/console/assets/limits-*.js', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Limits' }).click();
    await alert(page).getByRole('button', { name: 'Reload the console' }).waitFor();
    await page.unroute('**/console/assets/limits-*.js');
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    await page.getByRole('link', { name: 'Limits' }).click();
    await page.getByRole('heading', { name: 'Limits' }).first().waitFor();
    await page.context().close();
  });

  test('a page of a record that does not exist says so, and leads to the list', async () => {
    const page = await desk.signedIn();
    for (const [path, name, list] of [
      [`transactions/${PROVIDER}/nosuch`, 'transaction', 'transactions'],
      [`rounds/${PROVIDER}/nosuch`, 'round', 'rounds'],
      ['sessions/xx', 'session', 'players'],
      ['free-spins/nosuch', 'grant', 'free-spins'],
      ['free-spins/batches/xx', 'batch', 'free-spins/batches'],
      ['approvals/xx', 'approval', 'approvals'],
      ['attention/xx', 'attention item', 'attention'],
      ['operators/nosuch', 'operator', 'operators'],
      ['providers/nosuch', 'provider', 'providers'],
      ['games/nosuch', 'game', 'games'],
      ['reconciliation/xx', 'reconciliation', 'reconciliation'],
    ]) {
      await page.evaluate(
        `history.pushState(null, '', '/console/${path}'); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      const main = page.getByRole('main');
      await main.getByRole('heading', { name: `There is no such ${name}` }).waitFor();
      expect(await main.getByRole('link').evaluateAll(hrefsOf)).toEqual([`/console/${list}`]);
      expect(await main.getByRole('button').count()).toBe(0);
    }
    await page.context().close();
  });

  test('a stream that breaks is connected again', async () => {
    const page = await desk.signedIn();
    const live = page.getByRole('banner').getByText('Live', { exact: true });
    await live.waitFor();
    closeConnections(world.app);
    await page.getByText('Not live: connecting again').waitFor();
    await live.waitFor();
    await page.context().close();
  });

  test('while the stream is interrupted, Overview does not say that nothing is wrong now', async () => {
    const { json } = await world.admin('GET', '/v1/admin/overview');
    const quiet = { ...json, operators: [], providers: [], instances: [], parked: 0 };
    const page = await desk.open();
    await page.route('**/v1/admin/overview', (route) => route.fulfill({ json: quiet }));
    const interrupt = await hold(page, '**/v1/admin/stream', { goOn: (route) => route.abort() });
    await signIn(page, ADMIN_KEY);
    const calm = page.getByText('Nothing is wrong now.');
    await calm.waitFor();
    interrupt();
    const wasCalm = page.getByText('Nothing was wrong then.');
    await wasCalm.waitFor();
    expect(await calm.count()).toBe(0);
    await page.unroute('**/v1/admin/stream');
    await wasCalm.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('while the database is away, a reload keeps the key, and a list is read until it is there', async () => {
    const page = await desk.open('/console/operators');
    await page.getByLabel('Stay signed in for this tab').check();
    await signIn(page, ADMIN_KEY);
    const headers = { 'x-error-code': 'INTERNAL', 'x-next-action': 'retry-same-request' };
    const away = { status: 500, headers, json: { error: 'internal error' } };
    for (const path of ['me', 'operators*'])
      await page.route(`**/v1/admin/${path}`, (route) => route.fulfill(away));
    await page.reload();
    await alert(page).filter({ hasText: 'internal error' }).waitFor();
    await page.unroute('**/v1/admin/me');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The console tries again by itself.').waitFor();
    await page.unroute('**/v1/admin/operators*');
    await page.getByRole('table', { name: 'Operators' }).getByRole('link', { name: OPERATOR }).waitFor();
    await page.context().close();
  });

  test('what changes before the stream opens is shown once it is open', async () => {
    const id = await world.createProvider();
    const page = await desk.open(`/console/audit?target=provider:${id}`);
    await page.route('**/v1/admin/stream', (route) => route.abort());
    await signIn(page, ADMIN_KEY);
    const entries = page.getByRole('table', { name: 'Entries' });
    await entries.getByRole('row', { name: 'provider.create' }).waitFor();
    await page.getByText('Not live: connecting again').waitFor();
    await world.admin('POST', `/v1/admin/providers/${id}/pause`, { reason: 'moved' });
    await page.unroute('**/v1/admin/stream');
    await entries.getByRole('row', { name: 'provider.pause' }).waitFor();
    await page.context().close();
  });

  test('a service that restarts is waited for, with its last overview on the screen', async () => {
    const environment = { DATABASE_URL: world.databaseUrl };
    const first = await startApplication(environment, world.clock);
    const page = await desk.signedIn(`${first.url}/console/`);
    const live = page.getByRole('banner').getByText('Live', { exact: true });
    await live.waitFor();
    const stopped = first.app.close();
    closeConnections(first.app);
    await stopped;
    await page.getByText('Not live: connecting again').waitFor();
    await page.getByRole('table', { name: 'Operators' }).getByRole('row', { name: OPERATOR }).waitFor();
    const second = await startApplication({ ...environment, PORT: new URL(first.url).port }, world.clock);
    await live.waitFor();
    await page.context().close();
    closeConnections(second.app);
    await second.app.close();
    desk.origins.delete(first.url);
  });

  test('the first page is small: sign-in, and Overview', async () => {
    const page = await desk.open();
    await keyField(page).waitFor();
    const bytes = () =>
      page.evaluate<number>(
        "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/console/assets/')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)",
      );
    const untilSignIn = await bytes();
    await signIn(page, ADMIN_KEY);
    await page.getByRole('table', { name: 'Operators' }).waitFor();
    const untilOverview = await bytes();
    console.log(`compressed script and style: ${JSON.stringify({ untilSignIn, untilOverview })}`);
    expect(untilSignIn).toBeGreaterThan(10_000);
    expect(untilOverview).toBeLessThanOrEqual(MAX_BYTES);
    await page.context().close();
  });

  test.each([
    { colorScheme: 'light', viewport: DESK },
    { colorScheme: 'dark', viewport: DESK },
    { colorScheme: 'light', viewport: PHONE },
    { colorScheme: 'dark', viewport: PHONE },
  ] as const)(
    'nothing serious for axe, and no sideways scroll: $colorScheme, $viewport.width px',
    async (options) => {
      const page = await desk.open('/console/', { ...options, bypassCSP: true });
      await keyField(page).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      await signIn(page, ADMIN_KEY);
      await page.getByRole('table', { name: 'Operators' }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
      await page.context().close();
    },
  );

  test('no page complained, and no other origin received a request', () => {
    expect(desk.complaints).toEqual([]);
    expect([...desk.origins]).toEqual([world.url]);
  });
});
