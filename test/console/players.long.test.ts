import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Transactions } from '../world/transactions.js';
import {
  ADMIN_KEY,
  GAME,
  type LaunchedSession,
  OPERATOR,
  OTHER_OPERATOR,
  PROVIDER,
  useWorld,
} from '../world/world.js';
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

/** Every kind of character that an identifier allows and that means something in HTML or in an address. */
const HOSTILE = `<img/src=x/onerror=document.title='hacked'>"'&amp;%2e%2f?#../;`;

describeDesk('the pages of players, their rounds and sessions', () => {
  const world = useWorld();
  const desk = useDesk(world);
  const transactions = new Transactions(world);
  let session: LaunchedSession;
  /** Follows a link inside the console, as the search and the lists have them. */
  const follow = (page: Page, path: string) =>
    page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
  const playerOf = (playerRef: string, operatorId = OPERATOR) =>
    `/console/players/${encodeURIComponent(playerRef)}?operatorId=${operatorId}`;

  beforeAll(async () => {
    const game = { providerId: PROVIDER, name: GAME, roundDetailsUrl: 'https://rounds.example/{roundId}' };
    await world.admin('PUT', `/v1/admin/games/${GAME}`, game);
    session = await world.launch({ playerRef: HOSTILE });
    const roundId = 'round/<b>7</b>';
    await transactions.approved(world.transaction(session, 'BET', { roundId, amountMinor: 250 }));
    await transactions.approved(world.transaction(session, 'WIN', { roundId, amountMinor: 1_250 }));
    await world.launch({ playerRef: 'shared' });
    await world.launch({ playerRef: 'shared' }, OTHER_OPERATOR);
  });

  test('a hostile name is text on each page, and each link leads to its player', async () => {
    const page = await desk.signedIn('/console/players');
    await page.getByLabel("Player's reference").fill(HOSTILE);
    await page.getByLabel('At the operator').selectOption(OPERATOR);
    await page.getByRole('button', { name: 'Open the player' }).click();
    const heading = page.getByRole('heading', { level: 1 });
    await page.waitForURL(/\/players\/.+operatorId=/);
    await expect.poll(() => heading.textContent()).toBe(`Player ${HOSTILE}`);
    await page.getByRole('table', { name: 'Transactions' }).getByText('12.50 EUR').first().waitFor();

    await page.getByRole('link', { name: 'All transactions of the player' }).click();
    const link = page.getByRole('link', { name: HOSTILE, exact: true }).first();
    await link.waitFor();
    await expect.poll(() => page.getByLabel('Player', { exact: true }).inputValue()).toBe(HOSTILE);
    await link.click();
    await page.waitForURL(/\/players\//);
    await expect.poll(() => heading.textContent()).toBe(`Player ${HOSTILE}`);
    await page.getByRole('link', { name: session.sessionId }).click();
    await page.getByRole('link', { name: HOSTILE, exact: true }).waitFor();
    await expect.poll(() => page.locator('main img, main b').count()).toBe(0);
    await expect.poll(() => page.title()).toBe(`Session ${session.sessionId} · Croupier`);
    await page.context().close();
  });

  test('a player of two operators is two people: the page asks which one is meant', async () => {
    const page = await desk.signedIn('/console/players/shared');
    await page.getByText('Several operators have a player with this reference.').waitFor();
    await page.getByRole('link', { name: OTHER_OPERATOR }).click();
    await page.waitForURL(`${world.url}${playerOf('shared', OTHER_OPERATOR)}`);
    await page.getByRole('table', { name: 'Sessions' }).getByText('ACTIVE').waitFor();
    await expect.poll(() => page.getByRole('table', { name: 'Sessions' }).getByRole('row').count()).toBe(2);
    await page.context().close();
  });

  test('another player of the same operator is shown with their own data, also after Back', async () => {
    const page = await desk.signedIn(playerOf(HOSTILE));
    const amounts = page.getByRole('table', { name: 'Transactions' }).getByText('12.50 EUR');
    await amounts.first().waitFor();
    const heading = page.getByRole('heading', { level: 1 });
    await follow(page, playerOf('shared'));
    await heading.filter({ hasText: 'shared' }).waitFor();
    await amounts.first().waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Sessions' }).getByText('ACTIVE').waitFor();
    await expect.poll(() => amounts.count()).toBe(0);
    await page.goBack();
    await heading.filter({ hasText: HOSTILE }).waitFor();
    await amounts.first().waitFor();
    await page.context().close();
  });

  test('while the next page is loaded, the one before it reads nothing for it, and leads nowhere else', async () => {
    const page = await desk.signedIn('/console/players');
    // The opening of the stream causes another read of what is on the page.
    await page.getByRole('banner').getByText('Live', { exact: true }).waitFor();
    await follow(page, playerOf(HOSTILE));
    await page.getByRole('heading', { level: 1 }).filter({ hasText: HOSTILE }).waitFor();
    await page.getByRole('table', { name: 'Sessions' }).getByText('ACTIVE').waitFor();
    const module = /\/approvals-[^/]+\.js$/;
    const requested = page.waitForRequest(module);
    const load = await hold(page, module);
    const reads: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/v1\/admin\/(?:search|sessions|transactions)/.test(pathname)) reads.push(pathname);
    });
    await page.getByRole('link', { name: 'Approvals' }).click();
    await requested;
    await expect.poll(() => page.url()).toBe(`${world.url}/console/approvals`);
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Player' }).waitFor();
    load();
    await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor();
    expect(reads).toEqual([]);
    expect(page.url()).toBe(`${world.url}/console/approvals`);
    await page.goBack();
    await page.getByRole('table', { name: 'Sessions' }).getByText('ACTIVE').waitFor();
    expect(page.url()).toBe(`${world.url}${playerOf(HOSTILE)}`);
    await page.context().close();
  });

  test('an answer that breaks off is shown as a failure, and read again', async () => {
    const page = await desk.signedIn('/console/players');
    await page.getByRole('table', { name: 'Sessions' }).getByText('ACTIVE').first().waitFor();
    const broken = { status: 200, contentType: 'application/json', body: '{"items":[' };
    // Each read fails, because that of the stream's opening may follow the click.
    await page.route('**/v1/admin/sessions*', (route) => route.fulfill(broken));
    await page.getByRole('button', { name: 'Refresh' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The service does not answer.' });
    await alert.waitFor();
    await page.unroute('**/v1/admin/sessions*');
    await alert.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a player of one operator is shown at once, and an unknown one is said to be unknown', async () => {
    const page = await desk.signedIn(`/console/players/${encodeURIComponent(HOSTILE)}`);
    await page.waitForURL(`${world.url}${playerOf(HOSTILE)}`);
    const other = await desk.signedIn('/console/players/nobody');
    await other.getByText('No operator has a player with this reference.').waitFor();
    await other.context().close();
    await page.context().close();
  });

  test("the dialog of an adjustment gets the player's currency when it is known, unless another was typed", async () => {
    const page = await desk.open(playerOf('shared'));
    const answer = await hold(page, '**/v1/admin/sessions?*');
    await signIn(page, ADMIN_KEY);
    await page.getByRole('button', { name: 'Adjust the balance' }).click();
    const currency = page.getByRole('dialog').getByLabel('Currency');
    await expect.poll(() => currency.inputValue()).toBe('');
    answer();
    await expect.poll(() => currency.inputValue()).toBe('EUR');
    await currency.fill('USD');
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    const readAgain = page.waitForResponse('**/v1/admin/sessions?*');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await readAgain;
    await page.getByRole('table', { name: 'Sessions' }).getByText('ACTIVE').waitFor();
    await page.getByRole('button', { name: 'Adjust the balance' }).click();
    await expect.poll(() => currency.inputValue()).toBe('USD');
    await page.context().close();
  });

  test('a round has its sums, its transactions and the page at its provider', async () => {
    const page = await desk.signedIn('/console/rounds');
    await page.getByLabel('Operator', { exact: true }).fill(OPERATOR);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/operatorId=/);
    const row = page.getByRole('row', { name: 'round/<b>7</b>' });
    await expect.poll(() => row.textContent()).toContain('2.50 EUR12.50 EUR10.00 EUR');
    await row.getByRole('link', { name: 'round/<b>7</b>' }).click();
    await page.getByRole('region', { name: 'Advice' }).getByText('The operator debited 2.50 EUR').waitFor();
    const sums = page.getByRole('table', { name: 'Sums' });
    await expect
      .poll(() => sums.getByRole('row', { name: 'what the operator answered' }).textContent())
      .toContain('2.50 EUR12.50 EUR10.00 EUR');
    await expect
      .poll(() => page.getByRole('table', { name: 'Transactions' }).getByRole('row').count())
      .toBe(3);
    const details = page.getByRole('link', { name: 'Round at the provider' });
    await expect.poll(() => details.getAttribute('href')).toMatch(/^https:\/\/rounds\.example\/round%2F/);
    await expect.poll(() => details.getAttribute('rel')).toBe('noopener noreferrer');
    await page.context().close();
  });

  test('a round whose only BET is undecided is not closed, and one whose only BET was declined is', async () => {
    const player = await world.launch();
    const of = (roundId: string) => world.transaction(player, 'BET', { roundId });
    await transactions.timedOut(of('round-of-unknown'));
    await transactions.declined(of('round-of-declined'));
    const page = await desk.signedIn(`/console/rounds?playerRef=${player.playerRef}`);
    for (const [roundId, state] of [
      ['round-of-unknown', 'undecided'],
      ['round-of-declined', 'closed'],
    ] as const) {
      const row = page.getByRole('row', { name: roundId });
      await row.getByText(state, { exact: true }).waitFor();
      await row.getByRole('link', { name: roundId }).click();
      await page.getByRole('region', { name: 'Advice' }).waitFor();
      await page.getByRole('main').getByText(state, { exact: true }).waitFor();
      await page.goBack();
    }
    await page.context().close();
  });

  test('a round whose id several players have is chosen by its player', async () => {
    const players = await Promise.all([world.launch(), world.launch()]);
    for (const [index, player] of players.entries()) {
      const bet = world.transaction(player, 'BET', { roundId: 'same', amountMinor: 100 * (index + 1) });
      await transactions.approved(bet);
    }
    const page = await desk.signedIn(`/console/rounds/${PROVIDER}/same`);
    await page.getByText('Several rounds may have this id. Choose one:').waitFor();
    await page.getByLabel('Player', { exact: true }).fill(players[1].playerRef);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Advice' }).getByText('The operator debited 2.00 EUR').waitFor();
    await page.context().close();
  });

  test('support revokes a session, and sees that the provider does not know it yet', async () => {
    const { sessionId, playerRef } = await world.launch();
    for (let call = 0; call < 2; call += 1) world.provider.next({ do: 'answer', status: 503 }, { sessionId });
    const page = await desk.signedIn(`/console/sessions/${sessionId}`, await desk.keyOf('support'));
    await page.getByRole('button', { name: 'Revoke the session' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke the session' });
    await dialog.getByText(`Ends this session of the player ${playerRef} at ${OPERATOR}`).waitFor();
    await dialog.getByLabel('Reason of the revocation').selectOption('FRAUD_HOLD');
    await dialog.getByRole('button', { name: 'Revoke the session' }).click();
    const refused = page.locator('.notice.alert-danger').getByText('but the provider does not know it');
    await refused.waitFor();
    await page.getByText('It is revoked already.').waitFor();
    const callbacks = page.getByRole('table', { name: 'Callbacks' });
    await callbacks.getByRole('cell', { name: /^503\b/ }).waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    const again = async () => {
      await page.getByRole('button', { name: 'Send the revocation again' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Send the revocation again' }).click();
    };
    await again();
    await refused.waitFor();
    await callbacks.getByRole('row').nth(2).waitFor();
    await again();
    await page
      .locator('.notice.alert-success')
      .getByText('The session is revoked, and the provider knows it.')
      .waitFor();
    await callbacks.getByRole('row').nth(3).waitFor();
    await page.context().close();
  });

  test('a session whose dialog was left is shown as revoked once it is', async () => {
    const { sessionId } = await world.launch();
    const page = await desk.withClock(`/console/sessions/${sessionId}`);
    await page.getByRole('button', { name: 'Revoke the session' }).click();
    const path = `/v1/admin/sessions/${sessionId}/revoke`;
    const send = await leaveSlow(page, path, 'Revoke the session');
    await page.getByText('ACTIVE', { exact: true }).waitFor();
    send();
    await page.getByText('The session is revoked, and the provider knows it.').waitFor();
    await page.getByText('It is revoked already.').waitFor();
    await page.getByText('REVOKED', { exact: true }).waitFor();
    await page.context().close();
  });

  test.each([
    {
      seconds: 0,
      says: `WINs and ROLLBACKs of its rounds are refused: the late settlement of ${PROVIDER} is 0.`,
    },
    {
      seconds: 90_000,
      says: 'WINs and ROLLBACKs of its rounds are accepted for 1 d 1 h after the session has ended.',
    },
  ])(
    'with a late settlement of $seconds s, the revocation says whether open rounds can be settled',
    async ({ seconds: lateSettlementSeconds, says }) => {
      const { sessionId } = await world.launch();
      await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { lateSettlementSeconds });
      try {
        const page = await desk.signedIn(`/console/sessions/${sessionId}`);
        await page.getByRole('button', { name: 'Revoke the session' }).click();
        await page.getByRole('dialog').getByText(says).waitFor();
        await page.context().close();
      } finally {
        await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { lateSettlementSeconds: null });
      }
    },
  );

  test.each([
    { kind: 'session', path: (id: string) => `/v1/admin/sessions/${id}/revoke`, body: { reason: 'KICK' } },
    { kind: 'grant', path: () => '/v1/admin/free-spins', body: {} },
  ])('a request that called the provider is found, and leads to its $kind', async ({ kind, path, body }) => {
    const { sessionId, playerRef } = await world.launch();
    const grant = {
      operatorId: OPERATOR,
      gameId: GAME,
      playerRef,
      spins: 1,
      betAmountMinor: 10,
      currency: 'EUR',
    };
    const requestRef = `grant-of-${playerRef}`;
    const request = kind === 'grant' ? { ...grant, requestRef } : body;
    const requestId = `called-${playerRef}`;
    const reply = await world.admin('POST', path(sessionId), request, { 'x-request-id': requestId });
    expect(reply.status).toBeLessThan(300);
    const page = await desk.signedIn();
    await page.getByLabel('Search any id').fill(requestId);
    await page.keyboard.press('Enter');
    const hit = page.getByRole('listitem').filter({ hasText: `Callback ${requestId}` });
    await hit.getByRole('link').click();
    await page.waitForURL(kind === 'grant' ? `**/free-spins/${requestRef}` : `**/sessions/${sessionId}`);
    await page
      .getByRole('table', { name: /^Calls to the provider|^Callbacks/ })
      .getByRole('cell', { name: '200', exact: true })
      .waitFor();
    await page.context().close();
  });

  test('the id .. is said to be no player', async () => {
    const page = await desk.signedIn('/console/players');
    await page.getByLabel("Player's reference").fill('..');
    await page.keyboard.press('Enter');
    await page.getByText('No operator has a player with this reference.').waitFor();
    await page.context().close();
  });

  test('an auditor sees the actions disabled, with the role that they need', async () => {
    const key = await desk.keyOf('auditor');
    const page = await desk.signedIn(playerOf(HOSTILE), key);
    const adjust = page.getByRole('button', { name: 'Adjust the balance' });
    await expect.poll(() => adjust.isDisabled()).toBe(true);
    await page.getByText('Needs the role operations').waitFor();
    await page.getByRole('link', { name: session.sessionId }).click();
    const revoke = page.getByRole('button', { name: 'Revoke the session' });
    await revoke.waitFor();
    await expect.poll(() => revoke.isDisabled()).toBe(true);
    await expect.poll(() => revoke.getAttribute('title')).toBe('Needs the role support');
    await page.context().close();
  });

  test.each([
    { colorScheme: 'light', viewport: DESK },
    { colorScheme: 'dark', viewport: PHONE },
  ] as const)('nothing serious for axe: $colorScheme, $viewport.width px', async (options) => {
    const page = await desk.signedIn(playerOf(HOSTILE), ADMIN_KEY, { ...options, bypassCSP: true });
    const check = async () => {
      expect(await seriousFindings(page)).toEqual([]);
      expect(await overflows(page)).toBe(false);
    };
    await page.getByRole('table', { name: 'Free spins' }).waitFor();
    await check();
    await page.getByRole('link', { name: 'round/<b>7</b>' }).first().click();
    await page.getByRole('table', { name: 'Sums' }).waitFor();
    await check();
    await page.goBack();
    await page.getByRole('link', { name: session.sessionId }).click();
    await page.getByRole('table', { name: 'Callbacks' }).waitFor();
    await check();
    await page.context().close();
  });

  test('no page complained, and no other origin received a request', () => {
    expect(desk.complaints).toEqual([]);
    expect([...desk.origins]).toEqual([world.url]);
  });
});
