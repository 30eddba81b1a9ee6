import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { useKillable } from '../process/killable.js';
import { until } from '../world/patience.js';
import { GRANT } from '../world/provider.js';
import { Transactions } from '../world/transactions.js';
import { bearer, GAME, OPERATOR, PROVIDER, useWorld, type World } from '../world/world.js';

/** How often the process is killed, each time at another moment. */
const ROUNDS = 6;
/** The process is killed within this time after the approvals were sent, in milliseconds: longer than they take. */
const WITHIN_MS = 150;

const world = useWorld({ CALLBACK_TIMEOUT_MS: '1000' });
const killable = useKillable(world, {
  OPERATOR_TIMEOUT_MS: '1000',
  CALLBACK_TIMEOUT_MS: '1000',
  TRANSACTION_LEASE_SECONDS: '2',
});
beforeAll(async () => {
  await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/EUR`, {
    maxGrantMinor: 0,
    maxBatchMinor: 0,
    maxAdjustmentMinor: 0,
  });
});

const pathOf = ({ transactionId }: { transactionId: string }) =>
  `/v1/admin/transactions/${PROVIDER}/${transactionId}`;

/** A parked WIN whose outcome is unknown. */
async function parkedWin(transactionId: string) {
  const session = await world.launch();
  const win = await new Transactions(world).timedOut(world.transaction(session, 'WIN', { transactionId }));
  await world.sql.run('UPDATE transactions SET parked_at = clock_timestamp() WHERE transaction_id = $1', [
    transactionId,
  ]);
  return win;
}

const SPINS = { operatorId: OPERATOR, gameId: GAME, spins: 5, betAmountMinor: 20, currency: 'EUR' };

test('whenever the process is killed, an approved action is recorded once and sent at most once, and none is lost', async () => {
  // Neither the requester nor a key that the requester created may approve.
  const [asker, approver] = [await world.administrator('admin'), await world.administrator('admin')];
  const approve = (at: World, id: string) =>
    at.admin('POST', `/v1/admin/approvals/${id}/approve`, undefined, bearer(approver.key));
  for (let round = 0; round < ROUNDS; round += 1) {
    await killable.start();
    const ref = randomUUID();
    const players = ['a', 'b', 'c'].map((name) => `${name}-${ref}`);
    const adjustment = { adjustmentId: `adjustment-${ref}`, playerRef: `rich-${ref}`, amountMinor: 250 };
    const actions: [string, object][] = [
      ['/v1/admin/free-spins', { ...SPINS, playerRef: `single-${ref}`, requestRef: `grant-${ref}` }],
      ['/v1/admin/free-spins/batches', { ...SPINS, playerRefs: players, batchRef: `batch-${ref}` }],
      ['/v1/admin/adjustments', { ...adjustment, operatorId: OPERATOR, currency: 'EUR', reason: 'ticket 1' }],
    ];
    const parked = await parkedWin(`win-${ref}`);
    const answer = {
      status: 'APPROVED',
      balance: 7,
      operatorReference: `ticket ${ref}`,
      reason: 'no wallet',
    };
    actions.push([`${pathOf(parked)}/settle`, answer]);
    const approvals: string[] = [];
    for (const [path, body] of actions) {
      const { status, json } = await killable.world.admin('POST', path, body, bearer(asker.key));
      expect(status).toBe(202);
      approvals.push(String(json['approvalId']));
    }

    const lost = approvals.map((id) => approve(killable.world, id).catch(() => undefined));
    const delayMs = (WITHIN_MS * round) / ROUNDS + Math.random() * 15;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await killable.kill();
    await Promise.all(lost);

    // The surviving instance continues committed actions on its own, and the others when they are approved again.
    for (const id of approvals) await until(async () => (await approve(world, id)).status === 200);
    await world.sql.run(
      `UPDATE free_spin_grants SET lease_until = clock_timestamp() WHERE lease_until IS NOT NULL`,
    );
    const context = `killed after ${delayMs.toFixed(1)} ms in round ${round}`;
    const rows = async () =>
      world.sql.run<{ player_ref: string; state: string; outcome_unknown: boolean; attempt: number }>(
        'SELECT player_ref, state, outcome_unknown, attempt FROM free_spin_grants WHERE player_ref LIKE $1 ORDER BY 1',
        [`%-${ref}`],
      );
    await world.admin('GET', '/v1/admin/free-spins?limit=1');
    await until(async () => (await rows()).every(({ state }) => state !== 'PENDING'));
    const granted = await rows();
    expect([context, granted.map(({ player_ref }) => player_ref)]).toEqual([
      context,
      [...players, `single-${ref}`],
    ]);
    for (const { player_ref, state, outcome_unknown, attempt } of granted) {
      const sent = world.provider.calls(GRANT).filter(({ json }) => json['playerRef'] === player_ref).length;
      expect([context, player_ref, sent <= 1, attempt]).toEqual([context, player_ref, true, 1]);
      // Grants that were under way at the end have an unknown outcome; all others were granted.
      expect([context, player_ref, state === 'GRANTED' ? sent === 1 : outcome_unknown]).toEqual([
        context,
        player_ref,
        true,
      ]);
    }
    const adjust = { ...adjustment, operatorId: OPERATOR, currency: 'EUR', reason: 'ticket 1' };
    await until(async () => (await asker.call('POST', '/v1/admin/adjustments', adjust)).status === 200);
    expect([context, world.wallet.booked(adjustment.adjustmentId)?.movements]).toEqual([context, 1]);
    expect(world.wallet.balanceOf(adjustment.playerRef)).toBe(100_250);
    const { attempts, ...win } = (await world.admin('GET', pathOf(parked))).json as { attempts: object[] };
    expect([context, win]).toMatchObject([context, { state: 'APPROVED', settledByHand: true }]);
    expect([context, attempts.length]).toEqual([context, 2]);
    expect([context, world.wallet.calls(parked.transactionId).length]).toEqual([context, 1]);
  }
}, 300_000);
