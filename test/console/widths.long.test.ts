import { beforeAll, expect, test, vi } from 'vitest';
import { BATCHES, batchOrder, GRANTS, limit } from '../approvals/desk.js';
import { grantOrder } from '../world/grant-order.js';
import { GRANT } from '../world/provider.js';
import { Transactions } from '../world/transactions.js';
import { OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { DESK, describeDesk, overflows, signIn, useDesk } from './support/desk.js';

/** The width of WCAG 2.2, 1.4.10 (Reflow): 1280 px at 400 %. */
const NARROW = { width: 320, height: 640 };

/** A reason of the greatest length, with no place to break it. */
const REASON = 'https://status.example/incidents/'.padEnd(500, 'x');

/** An identifier of the greatest length, with no place to break it. */
const longest = (prefix: string) => prefix.padEnd(128, 'x');

const STATEMENT =
  'providerId,transactionId,kind,originalTransactionId,playerRef,currency,amountMinor,status,bookedAt';

describeDesk('no page scrolls sideways as a whole', () => {
  const world = useWorld({ SANDBOX: 'true' });
  const desk = useDesk(world);
  /** The address of each page below /console, and a text that it has once its rows are there. */
  let pages: readonly (readonly [address: string, shows: string])[];

  const listOf = async (path: string) =>
    (await world.admin('GET', path)).json['items'] as readonly Record<string, unknown>[];
  const idOf = async (path: string, name: string) => String((await listOf(path))[0]?.[name]);

  beforeAll(async () => {
    const transactions = new Transactions(world);
    const [playerRef, gameId, roundId] = [longest('player-'), longest('game-'), longest('round-')];
    const roundDetailsUrl = 'https://rounds.example/{roundId}';
    const game = { providerId: PROVIDER, name: longest('A game '), roundDetailsUrl };
    expect((await world.admin('PUT', `/v1/admin/games/${gameId}`, game)).status).toBe(200);
    const session = await world.launch({ playerRef, gameId });
    const amountMinor = 123_456_789_00;
    const [transactionId, requestRef] = [longest('bet-'), longest('grant-')];
    await transactions.timedOut(world.transaction(session, 'BET', { transactionId, roundId }), true);
    // An id of 40 characters is not broken.
    await transactions.declined(world.transaction(session, 'BET', { amountMinor }));
    await transactions.approved(world.transaction(session, 'BET', { roundId }));
    await transactions.approved(world.transaction(session, 'WIN', { roundId, amountMinor }));

    const spins = { playerRef, gameId };
    await world.admin('POST', GRANTS, grantOrder({ ...spins, requestRef }));
    const body = { error: longest('refused-') };
    const refusal = world.provider.always({ do: 'answer', status: 422, body }, { path: GRANT });
    const batch = await world.admin('POST', BATCHES, batchOrder(2, { gameId, batchRef: longest('batch-') }));
    const { batchId } = batch.json as { batchId: string };
    await vi.waitFor(async () => expect(await listOf('/v1/admin/attention')).not.toEqual([]), 20_000);
    refusal.withdraw();
    await limit(world, { maxGrantMinor: 1_000, maxBatchMinor: 1_000, dailyMinor: amountMinor });
    const asked = await world.admin('POST', GRANTS, grantOrder({ ...spins, betAmountMinor: 100_000 }));
    for (const paused of [`operators/${OPERATOR}`, `providers/${PROVIDER}`, `games/${gameId}`])
      expect((await world.admin('POST', `/v1/admin/${paused}/pause`, { reason: REASON })).status).toBe(200);
    const range = 'from=2000-01-01T00:00:00Z&to=2999-12-31T00:00:00Z';
    const line = [PROVIDER, longest('unknown-'), 'BET', '', playerRef, 'EUR', 100, 'APPROVED'];
    const compared = await world.admin(
      'POST',
      `/v1/admin/reconciliations?operatorId=${OPERATOR}&${range}`,
      `${STATEMENT}\n${line.join(',')},2026-03-02T00:00:00Z\n`,
      { 'Content-Type': 'text/csv' },
    );
    expect(compared.status).toBe(201);

    const of = `operatorId=${OPERATOR}`;
    pages = [
      ['/', REASON],
      ['/attention', 'grants of the batch'],
      [`/attention/${await idOf('/v1/admin/attention', 'id')}`, 'History'],
      [`/transactions?${of}`, transactionId],
      [`/transactions/${PROVIDER}/${transactionId}`, 'Attempts'],
      [`/rounds?${of}`, roundId],
      [`/rounds/${PROVIDER}/${roundId}?${of}&playerRef=${playerRef}`, transactionId],
      ['/players', session.sessionId],
      [`/players/${playerRef}?${of}`, requestRef],
      [`/sessions/${session.sessionId}`, transactionId],
      ['/free-spins', requestRef],
      [`/free-spins/${requestRef}`, gameId],
      ['/free-spins/batches', longest('batch-')],
      [`/free-spins/batches/${batchId}`, 'Why grants failed'],
      ['/approvals', playerRef],
      [`/approvals/${String(asked.json['approvalId'])}`, playerRef],
      ['/operators', OPERATOR],
      [`/operators/${OPERATOR}`, REASON],
      ['/providers', PROVIDER],
      [`/providers/${PROVIDER}`, REASON],
      ['/games', gameId],
      [`/games/${gameId}`, REASON],
      [`/limits?${of}&currency=EUR`, 'Change the limits'],
      ['/reconciliation', OPERATOR],
      [`/reconciliation/${String(compared.json['reconciliationId'])}`, longest('unknown-')],
      ['/audit', 'approval.ask'],
      ['/sandbox', 'Sandbox'],
    ];
  });

  // All pages, one after the other.
  test.each([NARROW, DESK])('$width px', { timeout: 180_000 }, async (viewport) => {
    const page = await desk.open('/console/', { viewport });
    await page.getByLabel('Stay signed in for this tab').check();
    const key = { name: 'key-'.padEnd(100, 'x'), role: 'admin' };
    await signIn(page, String((await world.admin('POST', '/v1/admin/keys', key)).json['key']));
    const wide: string[] = [];
    for (const [address, shows] of pages) {
      await page.goto(`/console${address}`);
      await page.getByRole('main').getByText(shows).first().waitFor({ state: 'attached' });
      await page.getByText('Loading …').first().waitFor({ state: 'detached' });
      const reasons = await page.getByText(REASON, { exact: true }).all();
      const boxes = await Promise.all(reasons.map((each) => each.boundingBox()));
      const isCut = boxes.some((box) => box !== null && box.width > viewport.width);
      if (isCut || (await overflows(page))) wide.push(address);
    }
    expect(wide).toEqual([]);
    await page.context().close();
  });
});
