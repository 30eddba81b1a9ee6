import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parked } from '../desk/desk.js';
import { PROVIDER, startWorld, type World } from '../world/world.js';
import { Transactions } from '../world/transactions.js';

let world: World;
let others: World[];
beforeAll(async () => {
  world = await startWorld();
  others = await Promise.all([world.another(world.clock), world.another(world.clock)]);
});
afterAll(async () => {
  await Promise.all(others.map(({ app }) => app.close()));
  await world.stop();
});

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
