import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ending } from '../world/endings.js';
import { type LaunchedSession, OPERATOR, PROVIDER, type Reply, useWorld } from '../world/world.js';
import { type Body, letPass, tick } from './desk.js';

let session: LaunchedSession;
const world = useWorld();
beforeEach(async () => (session = await world.launch()));
afterEach(() => world.wallet.otherwise(() => undefined));

/** An answer with this literal as its balance, whatever was booked. */
const withBalance = (balance: string): Ending => ({
  do: 'answer-call',
  fields: `"status":"APPROVED","balance":${balance}`,
});

/**
 * Literals that are not integers, or that a JSON number cannot represent exactly; JSON.parse reads several as
 * integers.
 */
const UNUSABLE = [
  '9007199254740992',
  '9007199254740993',
  '-9007199254740992',
  '-9007199254740993',
  '9223372036854775808',
  '1e30',
  '-1e30',
  '1e400',
  '9007199254740991.4',
  '100.00000000000000001',
  '1e-400',
];

const EXACT: [string, number][] = [
  ['9007199254740991', 9_007_199_254_740_991],
  ['-9007199254740991', -9_007_199_254_740_991],
  ['9007199254740991.0', 9_007_199_254_740_991],
  ['-250', -250],
  ['1e2', 100],
  ['-0', 0],
];

const unavailable = (reply: Reply) =>
  expect([reply.status, reply.headers.get('x-error-code'), reply.headers.get('x-next-action')]).toEqual([
    500,
    'OPERATOR_UNAVAILABLE',
    'retry-same-request',
  ]);

describe("a balance that a JSON number cannot represent exactly makes the operator's answer invalid:", () => {
  test.each(UNUSABLE)('%s', async (balance) => {
    world.wallet.otherwise(() => ({ do: 'book-then', then: withBalance(balance) }));
    const body = world.transaction(session, 'WIN');
    unavailable(await world.submit(body));
    expect(await world.stateOf(body.transactionId)).toBe('TIMED_OUT');
    unavailable(await world.balance(session));

    world.wallet.otherwise(() => undefined);
    const reply = await world.submit(body);
    expect(reply.json).toMatchObject({
      status: 'APPROVED',
      balance: world.wallet.balanceOf(session.playerRef),
    });
    expect(world.wallet.booked(body.transactionId)?.movements).toBe(1);
  });
});

test.each(EXACT)('the balance %s is passed on as %d', async (balance, value) => {
  world.wallet.otherwise(() => withBalance(balance));
  const reply = await world.submit(world.transaction(session, 'WIN'));
  expect(reply.text).toContain(`"status":"APPROVED","balance":${value},`);
  expect((await world.balance(session)).text).toBe(`{"balance":${value}}`);
});

describe('if a wallet always answers that way,', () => {
  const DAY_SECONDS = 86_400;
  const detail = async (transactionId: string, providerId = PROVIDER) =>
    (await world.admin('GET', `/v1/admin/transactions/${providerId}/${transactionId}`)).json;

  /** Makes a transaction a day old and runs the resolver, then does the same once more after another minute. */
  async function aDayPasses({ transactionId }: Pick<Body, 'transactionId'>): Promise<void> {
    await letPass(world, transactionId, DAY_SECONDS);
    await tick(world);
    await letPass(world, transactionId, 61);
    await tick(world);
  }

  async function parked(): Promise<string[]> {
    const path = `/v1/admin/transactions?state=TIMED_OUT&playerRef=${session.playerRef}`;
    const items = (await world.admin('GET', path)).json['items'] as Record<string, string>[];
    return items.filter((item) => item['parkedAt'] !== undefined).map((item) => item['transactionId']!);
  }

  beforeEach(() =>
    world.wallet.otherwise(({ json }) =>
      json['playerRef'] === session.playerRef
        ? { do: 'book-then', then: withBalance('9007199254740993') }
        : undefined,
    ),
  );

  test('a WIN is parked after a day, seen at the desk, and settles once the wallet answers correctly', async () => {
    const body = world.transaction(session, 'WIN');
    unavailable(await world.submit(body));
    await aDayPasses(body);
    expect(await parked()).toEqual([body.transactionId]);
    const { attempts } = await detail(body.transactionId);
    expect((attempts as { detail: string }[]).map((attempt) => attempt.detail)).toEqual([
      'the answer lacks an integer balance within ±(2^53 − 1)',
      'the answer lacks an integer balance within ±(2^53 − 1)',
    ]);

    world.wallet.otherwise(() => undefined);
    const path = `/v1/admin/transactions/${PROVIDER}/${body.transactionId}/resolve`;
    expect((await world.admin('POST', path)).json).toMatchObject({ state: 'APPROVED' });
    expect(world.wallet.booked(body.transactionId)?.movements).toBe(1);
  });

  test('a BET is parked with the ROLLBACK that ends it', async () => {
    const body = world.transaction(session, 'BET');
    unavailable(await world.submit(body));
    await letPass(world, body.transactionId, 61);
    await tick(world);
    const { rollbackId } = await detail(body.transactionId);
    await aDayPasses({ transactionId: String(rollbackId) });
    expect(await parked()).toEqual([rollbackId]);
    const { state, timeline } = await detail(body.transactionId);
    expect(state).toBe('TIMED_OUT');
    expect(timeline).toContainEqual({
      at: expect.any(String) as string,
      event: 'parked',
      text: `the resolver left the ROLLBACK ${String(rollbackId)} to a person`,
    });

    world.wallet.otherwise(() => undefined);
    const path = `/v1/admin/transactions/${PROVIDER}/${body.transactionId}/resolve`;
    expect((await world.admin('POST', path)).json).toMatchObject({ state: 'ROLLED_BACK' });
    expect(world.wallet.balanceOf(session.playerRef)).toBe(100_000);
  });

  test('an adjustment is parked, too', async () => {
    const adjustmentId = `goodwill-${session.sessionId}`;
    const { playerRef } = session;
    const adjustment = { adjustmentId, operatorId: OPERATOR, playerRef, currency: 'EUR', amountMinor: -5 };
    unavailable(await world.admin('POST', '/v1/admin/adjustments', { ...adjustment, reason: 'a test' }));
    await aDayPasses({ transactionId: adjustmentId });
    expect(await parked()).toEqual([adjustmentId]);
  });
});
