import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { Transactions } from '../world/transactions.js';
import { OTHER_OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { describeDesk, useDesk } from './support/desk.js';

/** With this variable, the pictures are stored in the folder that it names; `npm run docs:pictures` sets it. */
const FOLDER = process.env['CONSOLE_PICTURES'];
/** A picture of the documents, in bytes. */
const MAX_BYTES = 150_000;
const SIZE = { width: 1200, height: 760 };

describeDesk('the pictures of the documents', () => {
  const world = useWorld({ SANDBOX: 'true' });
  const desk = useDesk(world);

  beforeAll(async () => {
    const transactions = new Transactions(world);
    const session = await world.launch({ playerRef: 'player-42' });
    for (const amountMinor of [250, 1_000, 12_550]) {
      const bet = await transactions.approved(world.transaction(session, 'BET', { amountMinor }));
      const { roundId } = bet;
      await transactions.approved(
        world.transaction(session, 'WIN', { amountMinor: amountMinor / 2, roundId }),
      );
    }
    await transactions.declined(world.transaction(session, 'BET', { amountMinor: 5_000 }));
    const missing = world.transaction(session, 'BET', {
      amountMinor: 250,
      transactionId: 'bet-2114',
      roundId: 'round-2114',
    });
    await transactions.timedOut(missing, true);
    await world.sql.run('UPDATE transactions SET parked_at = now() WHERE transaction_id = $1', ['bet-2114']);
    await world.admin('POST', `/v1/admin/operators/${OTHER_OPERATOR}/pause`, {
      reason: 'maintenance of the wallet',
      until: new Date(Date.now() + 3_600_000).toISOString(),
    });
  });

  const take = async (page: Page, name: string) => {
    const picture = await page.screenshot();
    expect(picture.byteLength, name).toBeLessThan(MAX_BYTES);
    if (FOLDER === undefined) return;
    await mkdir(FOLDER, { recursive: true });
    await writeFile(join(FOLDER, `console-${name}.png`), picture);
  };

  test.each([
    { name: 'overview', address: '/console/', shows: 'maintenance of the wallet' },
    { name: 'transaction', address: `/console/transactions/${PROVIDER}/bet-2114`, shows: 'Resolve now' },
  ])('$name', async ({ name, address, shows }) => {
    const page = await desk.signedIn(address, undefined, { viewport: SIZE });
    await page.getByRole('main').getByText(shows).first().waitFor();
    await page.getByText('Loading …').first().waitFor({ state: 'detached' });
    await take(page, name);
    await page.context().close();
  });
});
