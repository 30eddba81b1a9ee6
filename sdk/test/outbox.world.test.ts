import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/world/database.js';
import { type LaunchedSession, PROVIDER, startWorld, type World } from '../../test/world/world.js';
import { Outbox, OUTBOX_TABLE, type OutboxOptions } from '../examples/outbox.js';
// The copy of the SDK that the example imports.
import { ProviderClient } from '@croupier/provider-sdk';

let world: World;
let database: TestDatabase;
let pool: Pool;
let session: LaunchedSession;
beforeAll(async () => {
  [world, database] = await Promise.all([startWorld(), createTestDatabase()]);
  pool = new Pool({ connectionString: database.url });
  await pool.query(OUTBOX_TABLE);
});
afterAll(async () => {
  await pool.end();
  await Promise.all([world.stop(), database.drop()]);
});
beforeEach(async () => {
  session = await world.launch();
});

/** One process of a provider. Postponed rows are due at once unless the options say otherwise. */
function processOf(
  options: OutboxOptions = {},
  signal?: AbortSignal,
  secret = world.secrets.get(PROVIDER) ?? '',
): Outbox {
  const platform = new ProviderClient({
    baseUrl: world.url,
    tenantId: PROVIDER,
    secret,
    clock: () => world.clock.now().getTime(),
    signal,
    // Each attempt of the outbox sends once, whatever the client's defaults.
    retry: true,
  });
  return new Outbox(pool, platform, { pauseMs: () => 0, ...options });
}

const transaction = (changes: object = {}) => {
  const { sessionToken, playerRef, gameId, currency } = session;
  const ids = { transactionId: randomUUID(), roundId: randomUUID() };
  return { sessionToken, playerRef, gameId, currency, ...ids, amountMinor: 100, ...changes };
};
const bet = (changes: object = {}) => ({ ...transaction(changes), kind: 'BET' as const });
const win = (changes: object = {}) => ({ ...transaction(changes), kind: 'WIN' as const });

test('a transaction is stored, sent and decided; the decision is kept', async () => {
  const outbox = processOf();
  const request = bet();
  await outbox.place(request);
  expect(await outbox.find(request.transactionId)).toMatchObject({ state: 'OPEN', attempts: 0 });
  const decided = { state: 'DECIDED', attempts: 1, answer: { status: 'APPROVED' } };
  expect(await outbox.deliver(request.transactionId)).toMatchObject(decided);
  await outbox.place(request);
  expect(await outbox.deliver(request.transactionId)).toMatchObject(decided);
  expect(await outbox.find('unknown')).toBeUndefined();
});

test('a WIN whose answers are lost is sent until it is decided, and booked once', async () => {
  const outbox = processOf();
  const request = win();
  await outbox.place(request);
  world.wallet.next({ do: 'book-then', then: { do: 'drop' } });
  world.wallet.next({ do: 'answer', status: 500 });
  expect(await outbox.deliver(request.transactionId)).toMatchObject({ state: 'OPEN', attempts: 1 });
  expect(await outbox.deliver(request.transactionId)).toMatchObject({ state: 'OPEN', attempts: 2 });
  await outbox.deliverDue();
  expect(await outbox.find(request.transactionId)).toMatchObject({ state: 'DECIDED', attempts: 3 });
  expect(world.wallet.booked(request.transactionId)).toMatchObject({ movements: 1 });
});

test('a process that dies while it waits for the answer is continued by the next one', async () => {
  const death = new AbortController();
  const dying = processOf({ leaseMs: 300 }, death.signal);
  const request = bet();
  await dying.place(request);
  const held = world.wallet.next({ do: 'hold' });
  const delivery = dying.deliver(request.transactionId);
  await held.arrived;
  death.abort(new Error('killed'));
  await expect(delivery).rejects.toThrow('killed');
  held.release();
  // No other process sends it until the lease expires; then the next one does.
  const next = processOf();
  await expect
    .poll(async () => {
      await next.deliverDue();
      return (await next.find(request.transactionId))?.state;
    })
    .toBe('DECIDED');
  expect(world.wallet.booked(request.transactionId)).toMatchObject({ movements: 1 });
});

test('an abandoned BET is rolled back, whether or not it was booked', async () => {
  const before = world.wallet.balanceOf(session.playerRef);
  const outbox = processOf();
  const request = bet();
  await outbox.place(request);
  world.wallet.next({ do: 'book-then', then: { do: 'drop' } });
  expect(await outbox.deliver(request.transactionId)).toMatchObject({ state: 'OPEN' });
  expect(world.wallet.balanceOf(session.playerRef)).toBe(before - 100);
  const later = processOf({ betExpiresMs: 0 });
  expect(await later.deliver(request.transactionId)).toMatchObject({ state: 'ROLLED_BACK' });
  await later.deliverDue();
  expect(await later.find(`${request.transactionId}-rollback`)).toMatchObject({
    state: 'DECIDED',
    answer: { status: 'APPROVED' },
  });
  expect(world.wallet.balanceOf(session.playerRef)).toBe(before);
});

test('an abandoned BET with the longest possible id is rolled back', async () => {
  const before = world.wallet.balanceOf(session.playerRef);
  const request = bet({ transactionId: randomUUID().padEnd(128, 'x') });
  await processOf().place(request);
  world.wallet.next({ do: 'book-then', then: { do: 'drop' } });
  await processOf().deliver(request.transactionId);
  const later = processOf({ betExpiresMs: 0 });
  await later.deliverDue();
  expect(await later.find(request.transactionId)).toMatchObject({ state: 'ROLLED_BACK' });
  expect(world.wallet.balanceOf(session.playerRef)).toBe(before);
});

test('another request with the same id is not stored', async () => {
  const outbox = processOf();
  const request = bet();
  await outbox.place(request);
  await expect(outbox.place({ ...request, amountMinor: 200 })).rejects.toThrow('stored with another request');
  await outbox.place({ ...request });
  expect(await outbox.deliver(request.transactionId)).toMatchObject({ state: 'DECIDED', attempts: 1 });
});

test('a BET whose id the platform knows from another request is parked, and the other one is not taken back', async () => {
  const request = bet();
  const before = world.wallet.balanceOf(session.playerRef);
  await world.submit({ ...request, amountMinor: 70 });
  const outbox = processOf();
  await outbox.place(request);
  expect(await outbox.deliver(request.transactionId)).toMatchObject({ state: 'PARKED' });
  expect(world.wallet.balanceOf(session.playerRef)).toBe(before - 70);
});

test('a WIN or ROLLBACK that is refused for its signature stays open until the secret is corrected', async () => {
  const undone = bet();
  await world.submit(undone);
  const { amountMinor: _, ...fields } = transaction({ roundId: undone.roundId });
  const rollback = { ...fields, kind: 'ROLLBACK' as const, originalTransactionId: undone.transactionId };
  const misconfigured = processOf({}, undefined, 'another secret');
  for (const request of [win(), rollback]) {
    await misconfigured.place(request);
    const entry = await misconfigured.deliver(request.transactionId);
    expect(entry).toMatchObject({
      state: 'OPEN',
      attempts: 1,
      error: expect.stringContaining('invalid signature') as string,
    });
    expect(await processOf().deliver(request.transactionId)).toMatchObject({
      state: 'DECIDED',
      answer: { status: 'APPROVED' },
    });
  }
});

test('a BET that is refused for its signature at its first attempt was not booked', async () => {
  const request = bet();
  const misconfigured = processOf({}, undefined, 'another secret');
  await misconfigured.place(request);
  expect(await misconfigured.deliver(request.transactionId)).toMatchObject({ state: 'NOT_BOOKED' });
});

test('a WIN refused after its session is reopened once late settlement is set, and booked once', async () => {
  const outbox = processOf();
  const stake = bet();
  await outbox.place(stake);
  await outbox.deliver(stake.transactionId);
  await world.ageSession(session, 1_000_000);
  const request = win({ roundId: stake.roundId });
  await outbox.place(request);
  const parked = await outbox.deliver(request.transactionId);
  expect(parked).toMatchObject({ state: 'PARKED', attempts: 1 });
  expect(parked?.error).toContain('ask the platform to set lateSettlementSeconds for you now');
  await outbox.deliverDue();
  expect(await outbox.find(request.transactionId)).toMatchObject({ state: 'PARKED', attempts: 1 });

  const late = (lateSettlementSeconds: number) =>
    world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { lateSettlementSeconds });
  await late(2_000_000);
  try {
    expect(await outbox.reopen(request.transactionId)).toBe(true);
    expect(await outbox.deliver(request.transactionId)).toMatchObject({
      state: 'DECIDED',
      attempts: 2,
      answer: { status: 'APPROVED' },
    });
    expect(world.wallet.booked(request.transactionId)).toMatchObject({ movements: 1 });
    expect(await outbox.reopen(request.transactionId)).toBe(false);
  } finally {
    await late(0);
  }
});

test('what is not parked, or is a BET, is not reopened', async () => {
  const outbox = processOf();
  const open = win();
  await outbox.place(open);
  const reused = bet();
  await world.submit({ ...reused, amountMinor: 70 });
  await outbox.place(reused);
  expect(await outbox.deliver(reused.transactionId)).toMatchObject({ state: 'PARKED' });
  for (const id of [open.transactionId, reused.transactionId, 'unknown']) {
    expect(await outbox.reopen(id)).toBe(false);
  }
  expect(await outbox.find(reused.transactionId)).toMatchObject({ state: 'PARKED' });
});

test('a BET that was never sent in time is not sent at all', async () => {
  const outbox = processOf({ betExpiresMs: 0 });
  const request = bet();
  await outbox.place(request);
  expect(await outbox.deliver(request.transactionId)).toMatchObject({ state: 'NOT_BOOKED' });
  expect(world.wallet.calls(request.transactionId)).toEqual([]);
});

test('a transaction refused at its first attempt was not booked; a refusal after an unknown attempt proves nothing', async () => {
  const outbox = processOf();
  const wrong = bet({ currency: 'USD' });
  await outbox.place(wrong);
  expect(await outbox.deliver(wrong.transactionId)).toMatchObject({ state: 'NOT_BOOKED', attempts: 1 });

  const open = [bet(), win()];
  for (const request of open) {
    await outbox.place(request);
    world.wallet.next({ do: 'book-then', then: { do: 'drop' } });
    expect(await outbox.deliver(request.transactionId)).toMatchObject({ state: 'OPEN' });
  }
  await world.ageSession(session, 1_000_000);
  await outbox.deliverDue();
  expect(await outbox.find(open[0]!.transactionId)).toMatchObject({ state: 'ROLLED_BACK' });
  expect(await outbox.find(`${open[0]!.transactionId}-rollback`)).toMatchObject({ state: 'PARKED' });
  expect(await outbox.find(open[1]!.transactionId)).toMatchObject({
    state: 'PARKED',
    error: expect.stringContaining('an earlier attempt may have been booked') as string,
  });
});

test('many processes send each row once', async () => {
  const requests = Array.from({ length: 20 }, () => win());
  const processes = Array.from({ length: 5 }, () => processOf());
  for (const request of requests) await processes[0]!.place(request);
  await Promise.all(processes.map((each) => each.deliverDue()));
  for (const { transactionId } of requests) {
    expect(await processes[0]!.find(transactionId)).toMatchObject({ state: 'DECIDED', attempts: 1 });
    expect(world.wallet.calls(transactionId)).toHaveLength(1);
  }
});
