import { beforeEach, describe, expect, test } from 'vitest';
import { type LaunchedSession, useWorld } from '../world/world.js';

let session: LaunchedSession;
const world = useWorld({ DEMO_START_BALANCE_MINOR: '5000' });
beforeEach(async () => (session = await world.launch({ mode: 'DEMO' })));

const play = async (kind: string, fields = {}) => {
  const body = world.transaction(session, kind, fields);
  return { body, reply: await world.submit(body) };
};

describe('a DEMO session', () => {
  test('has its own initial balance, and never calls an operator', async () => {
    const calls = world.wallet.received.length;
    expect((await world.balance(session)).json).toEqual({ balance: 5000 });
    expect((await play('BET', { amountMinor: 1500 })).reply.json).toMatchObject({ balance: 3500 });
    expect((await play('WIN', { amountMinor: 700 })).reply.json).toMatchObject({ balance: 4200 });
    expect((await world.balance(session)).json).toEqual({ balance: 4200 });
    const { playerRef } = session;
    expect((await world.balance(await world.launch({ mode: 'DEMO', playerRef }))).json).toEqual({
      balance: 5000,
    });
    expect(world.wallet.received.length).toBe(calls);
  });

  test('declines a BET above the balance', async () => {
    const { reply } = await play('BET', { amountMinor: 5001 });
    expect(reply.json).toMatchObject({
      status: 'DECLINED',
      declineReason: 'INSUFFICIENT_FUNDS',
      balance: 5000,
    });
  });

  test('declines a movement beyond 2^53-1', async () => {
    const { reply } = await play('WIN', { amountMinor: Number.MAX_SAFE_INTEGER });
    expect(reply.json).toMatchObject({ status: 'DECLINED', declineReason: 'LIMIT_REACHED', balance: 5000 });
  });

  test('reverses a BET once, and knows tombstones', async () => {
    const { body } = await play('BET', { amountMinor: 100 });
    const { transactionId, roundId } = body;
    const undo = { originalTransactionId: transactionId, roundId };
    expect((await play('ROLLBACK', undo)).reply.json).toMatchObject({ status: 'APPROVED', balance: 5000 });
    expect((await play('ROLLBACK', undo)).reply.json).toMatchObject({ status: 'APPROVED', balance: 5000 });
    const never = world.transaction(session, 'BET');
    await play('ROLLBACK', { originalTransactionId: never.transactionId, roundId: never.roundId });
    expect((await world.submit(never)).json).toMatchObject({ declineReason: 'TRANSACTION_ROLLED_BACK' });
  });

  test('treats an originalTransactionId as a reversal only in a ROLLBACK', async () => {
    const { body } = await play('BET', { amountMinor: 500 });
    const { transactionId, roundId } = body;
    await play('BET', { amountMinor: 0, originalTransactionId: transactionId });
    const undo = { originalTransactionId: transactionId, roundId };
    expect((await play('ROLLBACK', undo)).reply.json).toMatchObject({ balance: 5000 });
  });

  test('replays like any other session', async () => {
    const { body, reply } = await play('BET');
    const again = await world.submit(body);
    expect(again.text).toBe(reply.text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('books fifty BETs at once without losing one', async () => {
    await Promise.all(Array.from({ length: 50 }, () => play('BET', { amountMinor: 100 })));
    expect((await world.balance(session)).json).toEqual({ balance: 0 });
  });

  test('is marked as DEMO', async () => {
    const { body } = await play('BET');
    const rows = await world.sql.run('SELECT mode FROM transactions WHERE transaction_id = $1', [
      body.transactionId,
    ]);
    expect(rows).toEqual([{ mode: 'DEMO' }]);
  });
});
