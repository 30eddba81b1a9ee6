import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { Database } from '../../src/database/database.js';
import { waitingForLocks } from '../world/locks.js';
import { PATIENCE } from '../world/patience.js';
import { useWorld } from '../world/world.js';
import { named } from '../../src/database/statement.js';

/** As many as the connections of the database pool. */
const HOLDERS = 20;
/** Longer than the margin by which the lease must outlive a call. */
const HELD_MS = 1_300;

const world = useWorld({ OPERATOR_TIMEOUT_MS: '1000', TRANSACTION_LEASE_SECONDS: '2' });

test('a claim that waited for a connection longer than the margin is still sent to the operator', async () => {
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  expect((await world.submit(bet)).json['status']).toBe('APPROVED');
  const database = world.app.get(Database);
  const pause = named('test_pause', 'SELECT pg_sleep(:seconds)');
  const held = Array.from({ length: HOLDERS }, () => database.query(pause, { seconds: HELD_MS / 1000 }));
  // A ROLLBACK is claimed in a transaction, on a connection of that pool.
  const rollback = world.transaction(session, 'ROLLBACK', {
    roundId: bet.roundId,
    originalTransactionId: bet.transactionId,
  });
  const reply = await world.submit(rollback);
  await Promise.all(held);
  expect(reply.json['status']).toBe('APPROVED');
  expect(world.wallet.calls(rollback.transactionId)).toHaveLength(1);
});

test('the operator is not called if the claim took so long that its lease would expire before the call times out', async () => {
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  world.wallet.next({ do: 'hang' }, { transactionId: bet.transactionId });
  expect((await world.submit(bet)).status).toBe(500);
  // The retry is claimed by an UPDATE, which waits for this lock after it was sent.
  const holder = new pg.Client({ connectionString: world.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM transactions WHERE transaction_id = $1 FOR UPDATE', [bet.transactionId]);
  const answered = world.submit(bet);
  await vi.waitUntil(async () => (await waitingForLocks(world.sql)) > 0, PATIENCE);
  await holder.query('SELECT pg_sleep($1)', [HELD_MS / 1000]);
  await holder.query('COMMIT');
  await holder.end();
  const reply = await answered;
  expect(reply.status).toBe(500);
  expect(reply.headers.get('X-Error-Code')).toBe('OPERATOR_TIMED_OUT');
  expect(world.wallet.calls(bet.transactionId)).toHaveLength(1);
  expect(await world.stateOf(bet.transactionId)).toBe('TIMED_OUT');
  expect((await world.submit(bet)).json['status']).toBe('APPROVED');
  expect(world.wallet.booked(bet.transactionId)?.movements).toBe(1);
});
