import { beforeAll, describe, expect, test } from 'vitest';
import { GAME, OPERATOR, useWorld } from '../world/world.js';

const world = useWorld();
beforeAll(async () => {
  const { status, json } = await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, {
    currencies: ['EUR', 'JPY'],
  });
  expect([status, json['currencies']]).toEqual([200, ['EUR', 'JPY']]);
});

const SPINS = { playerRef: 'ann', gameId: GAME, spins: 3, betAmountMinor: 10 };

const actions: Record<string, (currency: string) => Promise<{ status: number; text: string }>> = {
  'a launch': (currency) =>
    world.signed(OPERATOR, '/v1/operator/sessions', { playerRef: 'ann', gameId: GAME, currency }),
  'a grant': (currency) =>
    world.admin('POST', '/v1/admin/free-spins', { ...SPINS, operatorId: OPERATOR, currency }),
  "an operator's own grant": (currency) =>
    world.signed(OPERATOR, '/v1/operator/free-spins', { ...SPINS, requestRef: `own-${currency}`, currency }),
  'a batch': (currency) => {
    const { playerRef, ...spins } = SPINS;
    const batch = { ...spins, playerRefs: [playerRef], operatorId: OPERATOR, currency };
    return world.admin('POST', '/v1/admin/free-spins/batches', batch);
  },
  'an adjustment': (currency) =>
    world.admin('POST', '/v1/admin/adjustments', {
      adjustmentId: `a-${currency}`,
      operatorId: OPERATOR,
      playerRef: 'ann',
      currency,
      amountMinor: 5,
      reason: 'ticket 1',
    }),
};

describe.each(Object.keys(actions))('%s', (name) => {
  test('in a currency of the operator is carried out', async () => {
    expect([201, 202]).toContain((await actions[name]!('JPY')).status);
  });

  test('in another one is a 400', async () => {
    const { status, text } = await actions[name]!('USD');
    expect([status, text]).toEqual([
      400,
      `{"error":"currency USD is not among the operator's currencies: EUR, JPY"}`,
    ]);
  });
});

test('null removes the list, and every currency is accepted again', async () => {
  const operator = { id: 'any-currency', name: 'Any', walletBaseUrl: world.wallet.baseUrl };
  const created = await world.admin('POST', '/v1/admin/operators', { ...operator, currencies: ['EUR'] });
  expect(created.json['currencies']).toEqual(['EUR']);
  world.secrets.set(operator.id, String(created.json['secret']));
  await expect(world.launch({ currency: 'USD' }, operator.id)).rejects.toThrow('400');
  const path = `/v1/admin/operators/${operator.id}`;
  expect((await world.admin('PATCH', path, { name: 'Still' })).json['currencies']).toEqual(['EUR']);
  const changed = await world.admin('PATCH', path, { currencies: null });
  expect(changed.json).not.toHaveProperty('currencies');
  await world.launch({ currency: 'USD' }, operator.id);
});

test.each([[[]], [['EUR', 'EUR']], [['eur']], ['EUR'], [[5]]])(
  '%j is not a list of currencies',
  async (currencies) => {
    const { status } = await world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { currencies });
    expect(status).toBe(400);
  },
);
