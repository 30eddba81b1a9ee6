import { expect, test } from 'vitest';
import { ADMIN_KEY, GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import {
  closeConnections,
  DESK,
  describeDesk,
  hold,
  overflows,
  PHONE,
  seriousFindings,
  leaveSlow,
  signIn,
  useDesk,
} from './support/desk.js';

describeDesk('operators, providers and games', () => {
  const world = useWorld();
  const desk = useDesk(world);

  const read = async (path: string) => (await world.admin('GET', path)).json;

  test('a failing operator is paused with a reason and an end, and resumed', async () => {
    const page = await desk.signedIn('/console/operators', await desk.keyOf('operations'));
    await page.getByRole('link', { name: OPERATOR }).click();
    await page.getByRole('heading', { name: `Operator ${OPERATOR}` }).waitFor();
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`New sessions and BETs of the operator ${OPERATOR} will be refused.`).waitFor();
    await dialog.getByLabel('Reason').fill('the wallet <i>hangs</i>');
    await dialog.getByLabel('Until').fill('2099-01-31T06:00:00');
    await dialog.getByRole('button', { name: 'Pause the operator' }).click();
    await page.getByText('the wallet <i>hangs</i>').waitFor();
    expect((await read(`/v1/admin/operators/${OPERATOR}`))['pause']).toMatchObject({
      reason: 'the wallet <i>hangs</i>',
      until: new Date('2099-01-31T06:00:00').toISOString(),
    });
    await page.getByRole('button', { name: 'Resume the operator' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume the operator' }).click();
    await page.getByRole('button', { name: 'Pause the operator' }).waitFor();
    expect((await read(`/v1/admin/operators/${OPERATOR}`))['pause']).toBeUndefined();
    await page.context().close();
  });

  test.each([
    {
      page: `/console/providers/${PROVIDER}`,
      label: 'Pause the provider',
      path: `/v1/admin/providers/${PROVIDER}`,
    },
    { page: `/console/games/${GAME}`, label: 'Pause the game', path: `/v1/admin/games/${GAME}` },
  ])('$label', async ({ page: address, label, path }) => {
    const page = await desk.signedIn(address);
    await page.getByRole('button', { name: label }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('moved');
    await page.getByRole('dialog').getByRole('button', { name: label }).click();
    await page.getByRole('button', { name: label.replace('Pause', 'Resume') }).waitFor();
    expect((await read(path))['pause']).toMatchObject({ reason: 'moved' });
    await world.admin('POST', `${path}/resume`, {});
    await page.context().close();
  });

  test('the pages follow what another person does', async () => {
    const reason = 'moved at noon';
    const paused = [`/v1/admin/operators/${OPERATOR}`, `/v1/admin/games/${GAME}`];
    const pages = await Promise.all(
      ['operators', `operators/${OPERATOR}`, 'games', `games/${GAME}`].map((path) =>
        desk.signedIn(`/console/${path}`),
      ),
    );
    for (const page of pages) await page.getByRole('main').getByText('ACTIVE').first().waitFor();
    for (const path of paused) await world.admin('POST', `${path}/pause`, { reason });
    for (const page of pages) await page.getByRole('main').getByText(reason).waitFor();
    for (const path of paused) await world.admin('POST', `${path}/resume`, {});
    for (const page of pages) await page.getByRole('main').getByText(reason).waitFor({ state: 'detached' });
    for (const page of pages) await page.context().close();
  });

  test('a page does not change while its form has changes that were not sent', async () => {
    const path = `/v1/admin/operators/${OPERATOR}`;
    const [page, other] = [
      await desk.signedIn(`/console/operators/${OPERATOR}`),
      await desk.signedIn(`/console/operators/${OPERATOR}`),
    ];
    await page.getByText('Change the operator').first().click();
    const field = page.getByLabel('Requests per second');
    await field.fill('120');
    await world.admin('POST', `${path}/pause`, { reason: 'moved at night' });
    await other.getByText('moved at night').waitFor();
    // The next change is seen with the next overview, so that both pages have read one since the pause.
    await world.admin('PATCH', path, { requestsPerSecond: 50 });
    await other.getByRole('definition').filter({ hasText: /^50$/ }).waitFor();
    const notice = page.getByRole('banner').getByText('Not updated while you edit');
    await notice.waitFor();
    expect(await page.getByText('moved at night').count()).toBe(0);
    await field.fill('');
    await page.getByText('moved at night').waitFor();
    await notice.waitFor({ state: 'detached' });
    await expect.poll(() => field.inputValue()).toBe('50');
    await world.admin('POST', `${path}/resume`, {});
    await world.admin('PATCH', path, { requestsPerSecond: null });
    for (const each of [page, other]) await each.context().close();
  });

  test('an answer that arrives while a dialog is open does not turn it into another one', async () => {
    const path = `/v1/admin/operators/${OPERATOR}`;
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    const open = page.getByRole('button', { name: 'Pause the operator' });
    await open.waitFor();
    // The first read fails for the moment; its repetition is held, and finds the pause of a colleague.
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    let reads = 0;
    await page.route(`**${path}`, async (route) => {
      reads += 1;
      if (reads === 1) return route.fulfill({ status: 503 });
      if (reads === 2) await asked;
      return route.continue();
    });
    await page.getByText('The console tries again by itself.').waitFor();
    await open.click();
    const dialog = page.getByRole('dialog');
    const reason = dialog.getByLabel('Reason');
    await reason.fill('a long explanation');
    await expect.poll(() => reads).toBe(2);
    await world.admin('POST', `${path}/pause`, { reason: 'moved by a colleague' });
    answer();
    await page.getByText('Not updated while you edit').waitFor();
    await page.getByText('The console tries again by itself.').waitFor({ state: 'detached' });
    expect(await reason.inputValue()).toBe('a long explanation');
    expect(await dialog.getByRole('button', { name: 'Pause the operator' }).isVisible()).toBe(true);
    const question = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    await (await question).dismiss();
    expect(await reason.inputValue()).toBe('a long explanation');
    await dialog.getByRole('button', { name: 'Back' }).click();
    await page.getByText('moved by a colleague').waitFor();
    await world.admin('POST', `${path}/resume`, {});
    await page.context().close();
  });

  test('a reload does not turn a dialog that was opened meanwhile into another one, and is shown after it', async () => {
    const path = `/v1/admin/operators/${OPERATOR}`;
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    await page.getByText('Change the operator').first().click();
    await page.getByLabel('Requests per second').fill('120');
    const pause = page.getByRole('main').getByRole('button', { name: 'Pause the operator' }).first();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: 'Pause the operator' });
    const reason = dialog.getByLabel('Reason');
    await pause.click();
    await reason.fill('moved');
    const answer = await hold(page, `**${path}`);
    await confirm.click();
    await page.getByText('Pause the operator: done.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await pause.click();
    await reason.fill('a long explanation');
    const read = page.waitForResponse(`**${path}`);
    answer();
    await (await read).finished();
    // The page would show the answer before that to a later request, and two frames.
    await page.evaluate(
      "fetch('/console/settings.json').then((answer) => answer.text()).then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))",
    );
    expect(await reason.inputValue()).toBe('a long explanation');
    expect(await confirm.isVisible()).toBe(true);
    await dialog.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('button', { name: 'Resume the operator' }).waitFor();
    await expect.poll(() => page.getByLabel('Requests per second').inputValue()).toBe('120');
    await world.admin('POST', `${path}/resume`, {});
    await page.context().close();
  });

  test('what is typed after the dialog of a form was left stays, and what was sent is shown', async () => {
    const path = `/v1/admin/operators/${OPERATOR}`;
    const page = await desk.withClock(`/console/operators/${OPERATOR}`);
    await page.getByText('Change the operator').first().click();
    const [limit, name] = [page.getByLabel('Requests per second'), page.getByLabel('Name', { exact: true })];
    await limit.fill('120');
    const open = page.getByRole('main').getByRole('button', { name: 'Change the operator' }).first();
    await open.click();
    const send = await leaveSlow(page, path, 'Change the operator');
    await name.fill('A newer name');
    send();
    await page.getByText('Change the operator: done.').waitFor();
    await page.getByRole('definition').filter({ hasText: /^120$/ }).waitFor();
    await open.click();
    await expect
      .poll(() => page.locator('dialog .changes').textContent())
      .toMatch(/^Name: .+ → A newer name\s*$/);
    await world.admin('PATCH', path, { requestsPerSecond: null });
    await page.context().close();
  });

  test('input that was not sent is not lost without a question because another action is under way', async () => {
    const address = `/console/operators/${OPERATOR}`;
    const path = `/v1/admin/operators/${OPERATOR}`;
    const page = await desk.withClock(address);
    const asked: string[] = [];
    page.on('dialog', (asks) => {
      asked.push(asks.type());
      void asks.dismiss();
    });
    const leave = () => page.getByRole('link', { name: 'Games' }).click();
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('moved');
    const pause = await leaveSlow(page, `${path}/pause`, 'Pause the operator');
    await page.getByText('Change the operator').first().click();
    const field = page.getByLabel('Requests per second');
    await field.fill('120');
    await leave();
    await expect.poll(() => asked).toEqual(['confirm']);
    expect(new URL(page.url()).pathname).toBe(address);
    pause();
    await page.getByText('Pause the operator: done.').waitFor();

    await page.getByRole('main').getByRole('button', { name: 'Change the operator' }).first().click();
    const change = await leaveSlow(page, path, 'Change the operator');
    await field.fill('130');
    await leave();
    await expect.poll(() => asked).toEqual(['confirm', 'confirm']);
    change();
    await page.getByText('Change the operator: done.').waitFor();

    await page.getByRole('main').getByRole('button', { name: 'Change the operator' }).first().click();
    await leaveSlow(page, path, 'Change the operator');
    await leave();
    await page.getByRole('heading', { name: 'Games' }).waitFor();
    expect(asked).toHaveLength(2);
    await world.admin('POST', `${path}/resume`, {});
    await world.admin('PATCH', path, { requestsPerSecond: null });
    await page.context().close();
  });

  test('after a new connection, a failed read is tried again although a dialog is open', async () => {
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    await page.getByRole('button', { name: 'Pause the operator' }).waitFor();
    let fails = true;
    await page.route(`**/v1/admin/operators/${OPERATOR}`, (route) =>
      fails ? route.fulfill({ status: 503 }) : route.continue(),
    );
    const alert = page.getByText('The console tries again by itself.');
    await alert.waitFor();
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    closeConnections(world.app);
    await page.getByText('Not live: connecting again').waitFor();
    await page.getByRole('banner').getByText('Live', { exact: true }).waitFor();
    // Events and the new connection have asked for a read by now.
    await page.waitForResponse(`**/v1/admin/operators/${OPERATOR}`);
    fails = false;
    await alert.waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await page.context().close();
  });

  test('a change is listed before it is sent, and only it is sent', async () => {
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    await page.getByText('Change the operator').first().click();
    const button = page.getByRole('button', { name: 'Change the operator' });
    await expect.poll(() => button.isDisabled()).toBe(true);
    await page.getByText('Nothing is changed yet.').waitFor();
    await page.getByLabel('Requests per second').fill('12x');
    await page.getByText('Enter a whole number, or nothing.').first().waitFor();
    await page.getByLabel('Requests per second').fill('120');
    await page.getByLabel('Currencies').fill('eur usd');
    await button.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Requests per second: none → 120').waitFor();
    await dialog.getByText('Currencies: none → eur usd').waitFor();
    await dialog.getByRole('button', { name: 'Change the operator' }).click();
    await page.getByText('Change the operator: done.').waitFor();
    expect(await read(`/v1/admin/operators/${OPERATOR}`)).toMatchObject({
      requestsPerSecond: 120,
      currencies: ['EUR', 'USD'],
    });
    await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, {
      requestsPerSecond: null,
      currencies: null,
    });
    await page.context().close();
  });

  test.each([
    { kind: 'provider', id: PROVIDER, says: 'also WINs and ROLLBACKs: its open rounds cannot be settled' },
    { kind: 'operator', id: OPERATOR, says: 'WINs and ROLLBACKs of open rounds are still accepted' },
    { kind: 'game', id: GAME, says: 'WINs and ROLLBACKs of open rounds are still accepted' },
  ])('before a $kind is disabled, the dialog says what becomes of its open rounds', async (tenant) => {
    const { kind, id, says } = tenant;
    const page = await desk.signedIn(`/console/${kind}s/${id}`);
    await page.getByText(`Change the ${kind}`).first().click();
    await page.getByLabel('Status').selectOption('DISABLED');
    await page.getByRole('button', { name: `Change the ${kind}` }).click();
    await page.getByRole('dialog').getByText('Status: ACTIVE → DISABLED').getByText(says).waitFor();
    await page.context().close();
  });

  test('the list of changes names the value that the record has by now', async () => {
    const path = `/v1/admin/operators/${OPERATOR}`;
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    await page.getByText('Change the operator').first().click();
    await page.getByLabel('Requests per second').fill('120');
    await world.admin('PATCH', path, { requestsPerSecond: 50 });
    // A pause reads the record again.
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('moved');
    await dialog.getByRole('button', { name: 'Pause the operator' }).click();
    await page.getByRole('button', { name: 'Resume the operator' }).waitFor();
    await page.getByRole('button', { name: 'Change the operator' }).click();
    await dialog.getByText('Requests per second: 50 → 120').waitFor();
    await world.admin('POST', `${path}/resume`, {});
    await world.admin('PATCH', path, { requestsPerSecond: null });
    await page.context().close();
  });

  test('a game that was changed meanwhile is shown as it is, and the changes can be sent again', async () => {
    const path = `/v1/admin/games/${GAME}`;
    const { providerId, name, status } = await read(path);
    const page = await desk.signedIn(`/console/games/${GAME}`);
    await page.getByText('Change the game').first().click();
    await page.getByLabel('Name').fill('Typed by the desk');
    const launchUrl = 'https://game.example/moved';
    expect((await world.admin('PUT', path, { providerId, name, status, launchUrl })).status).toBe(200);
    const dialog = page.getByRole('dialog');
    const send = async () => {
      await page.getByRole('main').getByRole('button', { name: 'Change the game' }).first().click();
      await dialog.getByRole('button', { name: 'Change the game' }).click();
    };
    await send();
    await dialog.getByRole('alert').filter({ hasText: 'Somebody else has changed the game' }).waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();
    await page.locator('.details').getByText(launchUrl).waitFor();
    await expect.poll(() => page.getByLabel('Name').inputValue()).toBe('Typed by the desk');
    await send();
    await page.getByText('Change the game: done.').waitFor();
    expect(await read(path)).toMatchObject({ name: 'Typed by the desk', launchUrl });
    await world.admin('PUT', path, { providerId, name, status });
    await page.context().close();
  });

  test('a refusal is shown in the words of the service, and the form stays', async () => {
    const page = await desk.signedIn(`/console/providers/${PROVIDER}`);
    await page.getByText('Change the provider').first().click();
    await page.getByLabel('Callback address').fill('ftp://elsewhere');
    await page.getByRole('button', { name: 'Change the provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Change the provider' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'webhookBaseUrl' }).waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();
    await expect.poll(() => page.getByLabel('Callback address').inputValue()).toBe('ftp://elsewhere');
    await page.context().close();
  });

  test('a rotated secret is shown once, with the clock of its overlap', async () => {
    const id = await world.createProvider();
    const page = await desk.signedIn(`/console/providers/${id}`);
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('dialog').getByLabel('Overlap in seconds').fill('3600');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click();
    await page
      .getByText(`The new secret of ${id}. It is shown until you dismiss it or sign out, and never again:`)
      .waitFor();
    await expect.poll(() => page.locator('code.secret').textContent()).toMatch(/^\S{32,}$/);
    await page.getByText(/\(59 min \d+ s left\)/).waitFor();
    await page.reload();
    await signIn(page, ADMIN_KEY);
    await page.getByRole('button', { name: 'Rotate the secret' }).waitFor();
    expect(await page.locator('code.secret').count()).toBe(0);
    await page.context().close();
  });

  test('a rotation whose answer was lost must not be repeated, and one that was refused may be', async () => {
    const id = await world.createProvider();
    const page = await desk.signedIn(`/console/providers/${id}`);
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: 'Rotate the secret' });
    const alert = dialog.getByRole('alert');
    await dialog.getByLabel('Overlap in seconds').fill('-1');
    await confirm.click();
    await alert.getByText('change what is asked for').waitFor();
    await dialog.getByLabel('Overlap in seconds').fill('3600');
    await page.route('**/secret/rotate', async (route) => {
      await route.fetch();
      const headers = { 'x-error-code': 'INTERNAL', 'x-next-action': 'retry-same-request' };
      await route.fulfill({ status: 500, headers, json: { error: 'internal error' } });
    });
    await confirm.click();
    await alert.getByText('It is not known whether the secret was rotated. Do not repeat it').waitFor();
    expect(await alert.textContent()).not.toMatch(/try again|at most once/i);
    await dialog.getByLabel('Overlap in seconds').fill('0');
    await confirm.click();
    await alert.getByText('rotate again with an overlap of 0').waitFor();
    await page.context().close();
  });

  test('an action whose connection breaks is said to be possibly carried out', async () => {
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    await page.route('**/pause', (route) => route.abort());
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('moved');
    await dialog.getByRole('button', { name: 'Pause the operator' }).click();
    const alert = dialog.getByRole('alert').filter({ hasText: 'The service does not answer.' });
    await alert.getByText('This may have been carried out: look before you repeat it.').waitFor();
    await page.context().close();
  });

  test('another action that got a 500 is not said to be carried out at most once', async () => {
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`);
    await page.route('**/pause', (route) => {
      const headers = { 'x-error-code': 'INTERNAL', 'x-next-action': 'retry-same-request' };
      return route.fulfill({ status: 500, headers, json: { error: 'internal error' } });
    });
    await page.getByRole('button', { name: 'Pause the operator' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('moved');
    await dialog.getByRole('button', { name: 'Pause the operator' }).click();
    await dialog
      .getByRole('alert')
      .getByText('After an action, check first whether it was carried out.')
      .waitFor();
    await page.context().close();
  });

  test('a secret whose page was left is shown there until it is dismissed', async () => {
    const page = await desk.signedIn('/console/games');
    await page.getByRole('link', { name: 'Operators' }).click();
    const open = page.getByRole('button', { name: 'Create an operator' });
    await open.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Id', { exact: true }).fill('left-casino');
    await dialog.getByLabel('Name').fill('Left Casino');
    await dialog.getByLabel('Wallet address').fill(world.wallet.baseUrl);
    const received = page.waitForRequest((request) => request.method() === 'POST');
    const send = await hold(page, '**/v1/admin/operators');
    await dialog.getByRole('button', { name: 'Create an operator' }).click();
    await received;
    await page.goBack();
    await page.getByRole('heading', { name: 'Games' }).waitFor();
    send();
    const notice = page
      .getByRole('main')
      .getByRole('status')
      .filter({ hasText: 'Create an operator: done.' });
    await notice.getByRole('link', { name: 'Operators' }).click();
    await page.getByText('The new secret of left-casino.').waitFor();
    await expect.poll(() => page.locator('code.secret').textContent()).toMatch(/^\S{32,}$/);
    await page.getByRole('button', { name: 'Dismiss the secret' }).click();
    await page.locator('code.secret').waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a secret is copied, or the page says that it was not; its clock is not read aloud', async () => {
    const id = await world.createProvider();
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await desk.signedIn(`/console/providers/${id}`, ADMIN_KEY, { permissions });
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click();
    const secret = await page.locator('code.secret').textContent();
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('status').getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())');
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('status').getByText('The browser did not copy it').waitFor();
    await page.getByText(/ left\)/).waitFor();
    expect(await page.getByRole('status').locator('time').count()).toBe(0);
    await page.context().close();
  });

  test('an operator, a provider and a game are created, and no game is overwritten', async () => {
    const page = await desk.signedIn('/console/operators');
    await page.getByRole('button', { name: 'Create an operator' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Id', { exact: true }).fill('new-casino');
    await dialog.getByLabel('Name').fill('New Casino');
    await dialog.getByLabel('Wallet address').fill(world.wallet.baseUrl);
    await dialog.getByRole('button', { name: 'Create an operator' }).click();
    await page.locator('code.secret').waitFor();
    await page.getByRole('table', { name: 'Operators' }).getByRole('link', { name: 'new-casino' }).waitFor();
    await page.getByRole('link', { name: 'Games' }).click();
    await page.getByRole('button', { name: 'Add a game' }).click();
    await dialog.getByLabel('Id', { exact: true }).fill(GAME);
    await dialog.getByLabel('Provider').fill(PROVIDER);
    await dialog.getByLabel('Name').fill('Another');
    await dialog.getByRole('button', { name: 'Add a game' }).click();
    await dialog
      .getByRole('alert')
      .filter({ hasText: `There is a game ${GAME} already.` })
      .waitFor();
    await dialog.getByLabel('Id', { exact: true }).fill('new-game');
    await dialog.getByRole('button', { name: 'Add a game' }).click();
    await page.getByRole('table', { name: 'Games' }).getByRole('link', { name: 'new-game' }).waitFor();
    expect((await read(`/v1/admin/games/${GAME}`))['name']).not.toBe('Another');
    await page.context().close();
  });

  test('a role that may not act sees the role that it needs', async () => {
    const page = await desk.signedIn(`/console/operators/${OPERATOR}`, await desk.keyOf('support'));
    const pause = page.getByRole('button', { name: 'Pause the operator' });
    await pause.waitFor();
    await expect.poll(() => pause.isDisabled()).toBe(true);
    await page.getByText('Needs the role operations').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Rotate the secret' }).isDisabled()).toBe(true);
    await page.context().close();
  });

  test.each([
    { colorScheme: 'light', viewport: DESK },
    { colorScheme: 'dark', viewport: PHONE },
  ] as const)(
    'nothing serious for axe, no sideways scroll: $colorScheme, $viewport.width px',
    async (options) => {
      const page = await desk.open('/console/operators', { ...options, bypassCSP: true });
      await signIn(page, await desk.keyOf('admin'));
      for (const [address, heading] of [
        ['/console/operators', 'Operators'],
        [`/console/operators/${OPERATOR}`, `Operator ${OPERATOR}`],
        ['/console/providers', 'Providers'],
        [`/console/providers/${PROVIDER}`, `Provider ${PROVIDER}`],
        ['/console/games', 'Games'],
        [`/console/games/${GAME}`, `Game ${GAME}`],
      ] as const) {
        await page.evaluate(
          `history.pushState(null, '', '${address}'); dispatchEvent(new PopStateEvent('popstate'))`,
        );
        await page.getByRole('heading', { name: heading, exact: true }).waitFor();
        await page.getByText('Loading …').first().waitFor({ state: 'detached' });
        expect(await seriousFindings(page), address).toEqual([]);
        expect(await overflows(page), address).toBe(false);
      }
      await page.context().close();
    },
  );

  test('no page complained, and no other origin received a request', () => {
    expect(desk.complaints).toEqual([]);
    expect([...desk.origins]).toEqual([world.url]);
  });
});
