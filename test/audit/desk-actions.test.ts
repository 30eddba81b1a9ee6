import { expect, test } from 'vitest';
import { GAME, OPERATOR, PROVIDER, useWorld } from '../world/world.js';

const world = useWorld();

interface Item {
  actor: string;
  action: string;
  target: string;
  after?: Record<string, unknown>;
}

async function recorded(target: string): Promise<Item[]> {
  const { json } = await world.admin('GET', `/v1/admin/audit?target=${encodeURIComponent(target)}`);
  return (json['items'] as Item[]).reverse();
}

const GRANT = { playerRef: 'ann', gameId: GAME, spins: 3, betAmountMinor: 10, currency: 'EUR' };

test('an adjustment is recorded with its claim, once', async () => {
  const adjustmentId = 'goodwill-1';
  const request = { adjustmentId, operatorId: OPERATOR, playerRef: 'ann', currency: 'EUR', amountMinor: 500 };
  const reason = 'a lost round';
  expect((await world.admin('POST', '/v1/admin/adjustments', { ...request, reason })).status).toBe(201);
  expect((await world.admin('POST', '/v1/admin/adjustments', { ...request, reason })).status).toBe(200);
  expect(await recorded(`adjustment:${adjustmentId}`)).toMatchObject([
    { actor: 'root', action: 'adjustment.create', after: { amountMinor: 500, reason } },
  ]);
});

test('a repeated adjustment is recorded with its actor if it calls the operator again', async () => {
  const adjustmentId = 'goodwill-2';
  const request = { adjustmentId, operatorId: OPERATOR, playerRef: 'ann', currency: 'EUR', amountMinor: 500 };
  const body = { ...request, reason: 'a lost round' };
  const [first, second] = [await world.administrator('operations'), await world.administrator('operations')];
  world.wallet.next({ do: 'drop' }, { transactionId: adjustmentId });
  expect((await first.call('POST', '/v1/admin/adjustments', body)).status).toBe(500);
  expect((await second.call('POST', '/v1/admin/adjustments', body)).status).toBe(201);
  expect((await first.call('POST', '/v1/admin/adjustments', body)).status).toBe(200);
  expect(await recorded(`adjustment:${adjustmentId}`)).toMatchObject([
    { actor: first.actor, action: 'adjustment.create' },
    { actor: second.actor, action: 'adjustment.retry' },
  ]);
});

test('a resolution and the reads of a transaction are recorded', async () => {
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  world.wallet.next({ do: 'drop' }, { transactionId: bet.transactionId });
  await world.submit(bet);
  const path = `/v1/admin/transactions/${PROVIDER}/${bet.transactionId}`;
  await world.admin('GET', path);
  await world.admin('POST', `${path}/resolve`);
  await world.admin('GET', `/v1/admin/transactions?playerRef=${session.playerRef}`);
  expect(await recorded(`transaction:${PROVIDER}/${bet.transactionId}`)).toMatchObject([
    { action: 'transaction.read' },
    { action: 'transaction.resolve' },
  ]);
  expect(await recorded('transactions')).toMatchObject([
    { action: 'transactions.list', after: { playerRef: session.playerRef } },
  ]);
});

test('what administrators and operators do to free spins is recorded under their names', async () => {
  const requestRef = 'promotion-1';
  const path = `/v1/operator/free-spins`;
  await world.signed(OPERATOR, path, { ...GRANT, requestRef });
  await world.signed(OPERATOR, path, { ...GRANT, requestRef });
  await world.admin('POST', `/v1/admin/free-spins/${requestRef}/status`);
  await world.admin('POST', `/v1/admin/free-spins/${requestRef}/cancel`);
  await world.admin('POST', `/v1/admin/free-spins/${requestRef}/cancel`);
  expect(await recorded(`grant:${requestRef}`)).toMatchObject([
    { actor: `operator:${OPERATOR}`, action: 'free-spins.grant', after: { spins: 3 } },
    { actor: 'root', action: 'free-spins.status' },
    { actor: 'root', action: 'free-spins.cancel' },
  ]);
});
