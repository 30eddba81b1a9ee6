import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parked } from '../desk/desk.js';
import { PATIENCE } from '../world/patience.js';
import { GRANT } from '../world/provider.js';
import { GAME, OPERATOR, PROVIDER, useWorld, type World } from '../world/world.js';
import { Transactions } from '../world/transactions.js';

let others: World[];
const world = useWorld();
beforeAll(async () => {
  others = await Promise.all([world.another(world.clock), world.another(world.clock)]);
});
afterAll(() => Promise.all(others.map(({ app }) => app.close())));

const subjects = async (state: string) =>
  (
    (await world.admin('GET', `/v1/admin/attention?state=${state}`)).json['items'] as { subject: string }[]
  ).map(({ subject }) => subject);

test('items are opened and closed automatically, once, whichever of several instances finds the cause', async () => {
  const session = await world.launch();
  const doubtful = await new Transactions(world).timedOut(world.transaction(session, 'WIN'));
  await world.sql.run(
    `UPDATE transactions SET created_at = created_at - interval '6 minutes' WHERE transaction_id = $1`,
    [doubtful.transactionId],
  );
  const win = await parked(world, world.transaction(session, 'WIN'));
  const both = [doubtful, win].map(({ transactionId }) => `${PROVIDER}/${transactionId}`).sort();
  await vi.waitFor(async () => expect((await subjects('OPEN')).sort()).toEqual(both), { timeout: 20_000 });
  await world.submit(doubtful);
  await world.submit(win);
  await vi.waitFor(async () => expect((await subjects('CLOSED')).sort()).toEqual(both), { timeout: 20_000 });
  expect(await subjects('OPEN')).toEqual([]);
}, 60_000);

describe('an item appears soon, although thousands of older causes have one:', () => {
  const OLD = 5_000;
  const OF_OLD = `FROM generate_series(1, ${OLD}) n`;
  const AN_HOUR_AGO = `now() - interval '1 hour'`;
  const addItems = (kind: string, prefix: string) =>
    world.sql.run(
      `INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
       SELECT gen_random_uuid(), $1, $2 || n, 'OPEN', 'x', ${AN_HOUR_AGO} ${OF_OLD}`,
      [kind, prefix],
    );
  const items = async (kind: string, subjects: readonly string[]) =>
    (
      await world.sql.run<{ count: number }>(
        `SELECT count(*)::int AS count FROM attention_items WHERE kind = $1 AND subject = ANY ($2::text[])`,
        [kind, subjects],
      )
    )[0]!.count;

  test('of a batch whose grants fail', async () => {
    await addItems('grant', 'old-');
    // These have higher numbers than the new grants, so a search by number, newest first, would find them first.
    await world.sql.run(
      `INSERT INTO free_spin_grants (grant_no, request_ref, state, operator_id, provider_id, player_ref, game_id, spins,
         bet_amount_minor, currency, attempt, failure_error, created_at, updated_at)
       OVERRIDING SYSTEM VALUE
       SELECT 1000000 + n, 'old-' || n, 'FAILED', $1, $2, 'p', $3, 1, 1, 'EUR', 1, 'x', ${AN_HOUR_AGO}, ${AN_HOUR_AGO}
         ${OF_OLD}`,
      [OPERATOR, PROVIDER, GAME],
    );
    world.provider.always({ do: 'answer', status: 422, body: {} }, { path: GRANT });
    const order = { operatorId: OPERATOR, gameId: GAME, spins: 5, betAmountMinor: 20, currency: 'EUR' };
    const playerRefs = Array.from({ length: 600 }, (_, n) => `player-${n}`);
    const { batchId } = (await world.admin('POST', '/v1/admin/free-spins/batches', { ...order, playerRefs }))
      .json;
    const failed = await vi.waitFor(async () => {
      const rows = await world.sql.run<{ ref: string }>(
        `SELECT request_ref AS ref FROM free_spin_grants WHERE batch_id = $1 AND state = 'FAILED'`,
        [batchId],
      );
      expect(rows).toHaveLength(playerRefs.length);
      return rows.map(({ ref }) => ref);
    }, 30_000);
    await vi.waitFor(async () => expect(await items('grant', [String(batchId)])).toBe(1), PATIENCE);
    // Without their batch, each needs an item of its own.
    await world.sql.run('UPDATE free_spin_grants SET batch_id = NULL WHERE batch_id = $1', [batchId]);
    await vi.waitFor(async () => expect(await items('grant', failed)).toBe(failed.length), PATIENCE);
  }, 60_000);

  test('of a transaction that has been TIMED_OUT for five minutes', async () => {
    await addItems('transaction', `${PROVIDER}/old-`);
    // The operator is unknown, so the resolver cannot decide these transactions.
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, created_at, updated_at)
       SELECT $1, 'old-' || n, gen_random_uuid(), 'WIN', 'TIMED_OUT', 'a-former-operator', 'REAL', 'p', 'g', 'EUR', 1, 'r', 1,
              ${AN_HOUR_AGO}, ${AN_HOUR_AGO} ${OF_OLD}`,
      [PROVIDER],
    );
    const { transactionId } = await new Transactions(world).timedOut(
      world.transaction(await world.launch(), 'WIN'),
    );
    await world.sql.run(
      `UPDATE transactions SET created_at = created_at - interval '5 minutes' WHERE transaction_id = $1`,
      [transactionId],
    );
    const subject = `${PROVIDER}/${transactionId}`;
    await vi.waitFor(async () => expect(await items('transaction', [subject])).toBe(1), PATIENCE);
  }, 30_000);
});
