import { Logger } from '@nestjs/common';
import { afterEach, expect, test, vi } from 'vitest';
import { limit } from '../approvals/desk.js';
import { CSV, OPERATOR, OTHER_OPERATOR, useWorld } from '../world/world.js';

const world = useWorld();
afterEach(async () => {
  await world.sql.run('DELETE FROM limits');
  await world.sql.run('DELETE FROM traded_currencies');
});

const MISSING = '/v1/admin/limits/missing';
const missing = async (query = '') => {
  const { call } = await world.administrator('support');
  const { items } = (await call('GET', MISSING + query)).json;
  return (items as { operatorId: string; currency: string }[]).map(
    (one) => `${one.operatorId}/${one.currency}`,
  );
};
const trade = async (where = world, currency = 'EUR') => {
  const session = await where.launch({ currency });
  await where.submit(where.transaction(session, 'BET', { currency }));
};
const declare = (currencies: string[] | null, status = 'ACTIVE') =>
  world.admin('PATCH', `/v1/admin/operators/${OTHER_OPERATOR}`, { currencies, status });

test('currencies are missing that an active operator has traded in or declares, until a limit applies', async () => {
  expect(await missing()).toEqual([]);
  await trade();
  expect(await missing()).toEqual([`${OPERATOR}/EUR`]);
  expect(await world.metrics()).toMatch(/^croupier_currencies_without_limits 1$/m);
  // A limit on WINs limits neither grants nor adjustments, and one of another currency does not apply.
  await limit(world, { maxWinMinor: 1 });
  await limit(world, { maxGrantMinor: 1 }, 'USD');
  expect(await missing()).toEqual([`${OPERATOR}/EUR`]);
  await declare(['CHF', 'EUR']);
  expect(await missing()).toEqual(
    [`${OTHER_OPERATOR}/CHF`, `${OTHER_OPERATOR}/EUR`, `${OPERATOR}/EUR`].sort(),
  );
  await limit(world, { maxAdjustmentMinor: 0 });
  expect(await missing()).toEqual([`${OTHER_OPERATOR}/CHF`, `${OTHER_OPERATOR}/EUR`]);
  await limit(world, { dailyMinor: 1 }, 'CHF', '*');
  expect(await missing()).toEqual([`${OTHER_OPERATOR}/EUR`]);
  await declare(['CHF', 'EUR'], 'DISABLED');
  expect(await missing()).toEqual([]);
  await declare(null);
});

test('trades count for 30 days, of all instances, and only those that were approved with real money', async () => {
  const other = await world.another(world.clock);
  world.wallet.next({ do: 'decline', reason: 'PLAYER_BLOCKED' });
  await trade(world, 'SEK');
  const demo = await world.launch({ currency: 'NOK', mode: 'DEMO' });
  await world.submit(world.transaction(demo, 'BET', { currency: 'NOK' }));
  await trade(other, 'DKK');
  await expect.poll(() => missing()).toEqual([`${OPERATOR}/DKK`]);
  await world.sql.run(`UPDATE traded_currencies SET last_traded_at = last_traded_at - interval '30 days'`);
  expect(await missing()).toEqual([]);
  await other.app.close();
});

test('an operator comes before those whose ids continue its own', async () => {
  const longer = `${OTHER_OPERATOR}-2`;
  const created = { id: longer, name: 'Longer', walletBaseUrl: world.wallet.baseUrl, currencies: ['EUR'] };
  expect((await world.admin('POST', '/v1/admin/operators', created)).status).toBe(201);
  await declare(['EUR']);
  expect(await missing()).toEqual([`${OTHER_OPERATOR}/EUR`, `${longer}/EUR`]);
  await world.admin('PATCH', `/v1/admin/operators/${longer}`, { status: 'DISABLED' });
  await declare(null);
});

test('is a list in pages and CSV for support', async () => {
  await declare(['CHF', 'EUR', 'USD']);
  const { call } = await world.administrator('support');
  const first = (await call('GET', `${MISSING}?limit=2`)).json;
  expect(first['items']).toHaveLength(2);
  expect(await missing(`?limit=2&cursor=${String(first['nextCursor'])}`)).toEqual([`${OTHER_OPERATOR}/USD`]);
  expect((await call('GET', `${MISSING}?limit=0`)).status).toBe(400);
  expect((await call('GET', MISSING, undefined, CSV)).text.split('\r\n').slice(0, 2)).toEqual([
    'operatorId,currency',
    `${OTHER_OPERATOR}/CHF`.replace('/', ','),
  ]);
  await declare(null);
});

test('a start warns once of their number, and not without any', async () => {
  const warn = vi.spyOn(Logger.prototype, 'warn');
  const warnings = () =>
    warn.mock.calls
      .map(([line]) => line as { msg?: string; count?: number })
      .filter(({ msg }) => msg?.includes('no limit'));
  await (await world.another(world.clock)).app.close();
  expect(warnings()).toEqual([]);
  await declare(['CHF', 'EUR']);
  await (await world.another(world.clock)).app.close();
  expect(warnings()).toEqual([
    {
      msg: '2 currencies of operators have no limit on grants or adjustments: GET /v1/admin/limits/missing lists them',
      count: 2,
    },
  ]);
  await declare(null);
  warn.mockRestore();
});
