import { expect, test } from 'vitest';
import { PROVIDER, useWorld } from '../world/world.js';
import { type Body, endingOf, letPass, parked, tick, timedOut } from './desk.js';

const world = useWorld();

const detail = async ({ transactionId }: Body) =>
  (await world.admin('GET', `/v1/admin/transactions/${PROVIDER}/${transactionId}`)).json as {
    advice: { action: string };
    timeline: { event: string; text: string }[];
  };
const action = async (body: Body) => (await detail(body)).advice.action;
const reports = async (body: Body) =>
  (await detail(body)).timeline.filter(({ event }) => event === 'provider-told').map(({ text }) => text);
/** The sums of the round according to the answers that the provider received. */
const told = async ({ roundId }: Body) => {
  const { json } = await world.admin('GET', `/v1/admin/rounds/${PROVIDER}/${roundId}`);
  return (json['sums'] as { told: object }[])[0]!.told;
};
/** The version of the row, which changes whenever the row is written. */
const written = async ({ transactionId }: Body) =>
  (
    await world.sql.run<{ version: string }>(
      'SELECT xmin::text AS version FROM transactions WHERE transaction_id = $1',
      [transactionId],
    )
  )[0]!.version;

/** Lets the resolver decide a transaction of which the provider received a 500. */
async function decidedByResolver(kind: string, fields = {}): Promise<Body> {
  const body = world.transaction(await world.launch(), kind, fields);
  await timedOut(world, body, true);
  await letPass(world, body.transactionId, 61);
  await tick(world);
  return body;
}

test('a replay after a 500 counts as the last answer to the provider, and is recorded once', async () => {
  const win = await decidedByResolver('WIN', { amountMinor: 250 });
  expect(await action(win)).toBe('contact-provider');
  expect(await told(win)).toMatchObject({ winMinor: 0 });
  const replay = await world.submit(win);
  expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
  expect(await action(win)).toBe('none');
  expect(await told(win)).toMatchObject({ winMinor: 250 });
  expect(await reports(win)).toEqual([
    '500 OPERATOR_UNAVAILABLE',
    '200 APPROVED, balance 1002.50 EUR, when the provider sent the transaction again',
  ]);
  const once = await written(win);
  await world.submit(win);
  expect(await written(win)).toBe(once);
});

test('the refusal of a BET that the platform has rolled back counts as the last answer, too', async () => {
  const bet = await decidedByResolver('BET');
  expect(await endingOf(world, bet.transactionId)).toBeDefined();
  expect(await action(bet)).toBe('contact-provider');
  expect((await world.submit(bet)).json).toMatchObject({
    status: 'DECLINED',
    declineReason: 'TRANSACTION_ROLLED_BACK',
  });
  expect(await action(bet)).toBe('none');
  expect((await reports(bet)).at(-1)).toBe(
    '200 DECLINED TRANSACTION_ROLLED_BACK, when the provider sent the transaction again',
  );
});

test('the replay of an answer that the provider has received writes nothing', async () => {
  const bet = world.transaction(await world.launch(), 'BET', { amountMinor: 250 });
  await world.submit(bet);
  const before = await written(bet);
  await world.submit(bet);
  expect(await written(bet)).toBe(before);
  expect(await reports(bet)).toEqual(['200 APPROVED, balance 997.50 EUR']);
});

test('for a BET whose ROLLBACK is parked, the advice is to contact the operator', async () => {
  const session = await world.launch();
  const bet = await timedOut(world, world.transaction(session, 'BET'), true);
  const { transactionId: originalTransactionId, roundId } = bet;
  await parked(world, world.transaction(session, 'ROLLBACK', { originalTransactionId, roundId }));
  expect(await action(bet)).toBe('contact-operator');
});
