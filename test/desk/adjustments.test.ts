import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { OPERATOR, OTHER_OPERATOR, PROVIDER, type Reply, useWorld } from '../world/world.js';
import { letPass, tick } from './desk.js';

let playerRef: string;
const world = useWorld();
beforeEach(() => (playerRef = `player-${randomUUID()}`));

const START = 100_000;
const lost = { do: 'answer', status: 500 } as const;
const adjustment = (fields = {}) => ({
  adjustmentId: `adjustment-${randomUUID()}`,
  operatorId: OPERATOR,
  playerRef,
  currency: 'EUR',
  amountMinor: 250,
  reason: 'refund, ticket 4711',
  ...fields,
});
const adjust = (body: object): Promise<Reply> => world.admin('POST', '/v1/admin/adjustments', body);
const detail = (id: string) => world.admin('GET', `/v1/admin/transactions/platform/${id}`);

test.each([[250], [-250]])(
  'an adjustment of %i is booked by the operator and answered 201',
  async (amountMinor) => {
    const body = adjustment({ amountMinor });
    const reply = await adjust(body);
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      ...body,
      platformTransactionId: expect.any(String) as string,
      status: 'APPROVED',
      balance: START + amountMinor,
    });
    const [call, ...more] = world.wallet.calls(body.adjustmentId);
    expect(more).toEqual([]);
    expect(call?.json).toEqual({
      transactionId: body.adjustmentId,
      providerId: 'platform',
      kind: 'ADJUSTMENT',
      playerRef,
      currency: 'EUR',
      amountMinor,
    });
  },
);

test('an adjustment that the operator declines is a 201 DECLINED, and final', async () => {
  const body = adjustment({ amountMinor: -1 });
  world.wallet.next({ do: 'decline', reason: 'LIMIT_REACHED' }, { transactionId: body.adjustmentId });
  const first = await adjust(body);
  expect(first.status).toBe(201);
  expect(first.json).toMatchObject({ status: 'DECLINED', declineReason: 'LIMIT_REACHED', balance: START });
  expect(await adjust(body)).toMatchObject({ status: 200, json: first.json });
});

describe('an adjustment that is requested again', () => {
  test('is a 200 with the same answer, and no second call', async () => {
    const body = adjustment();
    const first = await adjust(body);
    await adjust(adjustment());
    const again = await adjust(body);
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([
      200,
      first.text,
      'true',
    ]);
    expect(world.wallet.calls(body.adjustmentId)).toHaveLength(1);
  });

  test.each([
    ['amountMinor', { amountMinor: 251 }],
    ['currency', { currency: 'USD' }],
    ['player', { playerRef: 'somebody-else' }],
    ['operator', { operatorId: OTHER_OPERATOR }],
    ['reason', { reason: 'another reason' }],
  ])('with another %s is a 409 CONFLICT', async (_, other) => {
    const body = adjustment();
    await adjust(body);
    const reply = await adjust({ ...body, ...other });
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([409, 'CONFLICT']);
    expect(world.wallet.calls(body.adjustmentId)).toHaveLength(1);
  });

  test('fifty times at once moves money once', async () => {
    const body = adjustment();
    const replies = await Promise.all(Array.from({ length: 50 }, () => adjust(body)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.every(({ status }) => [200, 201, 409].includes(status))).toBe(true);
    expect(world.wallet.balanceOf(playerRef)).toBe(START + 250);
  });
});

describe('an adjustment that the operator does not answer', () => {
  test('is the retryable 500, and is booked once when it is requested again', async () => {
    const body = adjustment();
    world.wallet.next({ do: 'book-then', then: lost }, { transactionId: body.adjustmentId });
    const reply = await adjust(body);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([500, 'OPERATOR_UNAVAILABLE']);
    expect(reply.headers.get('x-next-action')).toBe('retry-same-request');
    expect((await adjust(body)).json).toMatchObject({ status: 'APPROVED', balance: START + 250 });
    const [first, second] = world.wallet.calls(body.adjustmentId);
    expect(second?.rawBody.toString()).toBe(first?.rawBody.toString());
    expect(world.wallet.balanceOf(playerRef)).toBe(START + 250);
  });

  test('is taken up by the resolver, and answered 200 from then on', async () => {
    const body = adjustment();
    world.wallet.next(lost, { transactionId: body.adjustmentId });
    expect((await adjust(body)).status).toBe(500);
    await letPass(world, body.adjustmentId, 61);
    await tick(world);
    expect(await adjust(body)).toMatchObject({
      status: 200,
      json: { status: 'APPROVED', balance: START + 250 },
    });
  });

  test('is resolved at once by a person', async () => {
    const body = adjustment();
    world.wallet.next(lost, { transactionId: body.adjustmentId });
    await adjust(body);
    const { json } = await world.admin(
      'POST',
      `/v1/admin/transactions/platform/${body.adjustmentId}/resolve`,
    );
    expect(json).toMatchObject({ state: 'APPROVED', kind: 'ADJUSTMENT' });
  });
});

test('an adjustment is in the list of transactions, with its reason', async () => {
  const body = adjustment({ amountMinor: -77 });
  await adjust(body);
  const { json } = await world.admin('GET', `/v1/admin/transactions?providerId=platform&limit=1`);
  const { adjustmentId: transactionId, reason } = body;
  const item = { providerId: 'platform', transactionId, reason, kind: 'ADJUSTMENT', amountMinor: -77 };
  expect((json['items'] as object[])[0]).toMatchObject(item);
  expect((await detail(transactionId)).json).toMatchObject({
    ...item,
    attempts: [{ driver: 'administrator', outcome: 'APPROVED' }],
    rollback: null,
  });
});

test('an adjustment is in the audit log with its actor and reason', async () => {
  const body = adjustment();
  await adjust(body);
  await adjust(body);
  const { json } = await world.admin('GET', `/v1/admin/audit?target=adjustment:${body.adjustmentId}`);
  expect(json['items']).toMatchObject([{ actor: 'root', action: 'adjustment.create', after: body }]);
});

test('an adjustment cannot be the target of a provider’s ROLLBACK', async () => {
  const body = adjustment();
  await adjust(body);
  const session = await world.launch({ playerRef });
  const rollback = world.transaction(session, 'ROLLBACK', { originalTransactionId: body.adjustmentId });
  expect((await world.submit(rollback, PROVIDER)).json).toMatchObject({ status: 'APPROVED' });
  expect(world.wallet.balanceOf(playerRef)).toBe(START + 250);
});

test.each([
  ['an amount of 0', { amountMinor: 0 }],
  ['an amount that is not an integer', { amountMinor: 1.5 }],
  ['an amount beyond 2^53-1', { amountMinor: -(2 ** 53) }],
  ['an amount as a string', { amountMinor: '1' }],
  ['no reason', { reason: undefined }],
  ['an empty reason', { reason: '  ' }],
  ['a reason with a control character', { reason: 'a\u0000b' }],
  ['a lower-case currency', { currency: 'eur' }],
  ['an id of the platform’s own', { adjustmentId: 'croupier-1' }],
  ['no id', { adjustmentId: undefined }],
  ['an unknown operator', { operatorId: 'nobody' }],
  ['a provider instead of an operator', { operatorId: PROVIDER }],
  ['an unknown field', { gameId: 'golden-reels' }],
])('an adjustment with %s is a 400', async (_, fields) => {
  const reply = await adjust(adjustment(fields));
  expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
  expect(world.wallet.received.filter(({ json }) => json['playerRef'] === playerRef)).toEqual([]);
});
