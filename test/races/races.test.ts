import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LaunchedSession, type Reply, useWorld, type World } from '../world/world.js';
import { CallsUnderWay } from './calls-under-way.js';

let session: LaunchedSession;
/** Longer than a hundred calls at once take on a busy machine. */
const environment = { OPERATOR_TIMEOUT_MS: '20000' };
const world = useWorld(environment);
let calls: CallsUnderWay;
beforeAll(() => void (calls = CallsUnderWay.observe(world)));
beforeEach(async () => (session = await world.launch()));
afterEach(() => expect(calls.violations.splice(0)).toEqual([]));
afterAll(() => expect(calls.observed).toBeGreaterThan(0));

const MANY = 100;
const START = 100_000;

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const inFlight = ({ status }: Reply) => status === 409;
/** Status, error code and body of the replies that are neither a conflict nor an approval. */
const others = (replies: Reply[]) =>
  replies
    .filter((reply) => !inFlight(reply) && reply.json['status'] !== 'APPROVED')
    .map(({ status, text, headers }) => [status, headers.get('x-error-code'), text]);
const approvals = (replies: Reply[]) => replies.filter(({ json }) => json['status'] === 'APPROVED');

describe('a hundred equal requests at once', () => {
  test.each(['BET', 'WIN'])('%s: one movement; all answers are the same or 409', async (kind) => {
    const body = world.transaction(session, kind);
    const replies = await times(MANY, () => world.submit(body));
    expect(world.wallet.booked(body.transactionId)?.movements).toBe(1);
    expect(world.wallet.calls(body.transactionId)).toHaveLength(1);
    const answers = new Set(replies.filter((reply) => !inFlight(reply)).map(({ text }) => text));
    expect(answers.size).toBe(1);
    const replayed = replies.filter(({ headers }) => headers.has('idempotency-replayed')).length;
    expect(replies.filter(inFlight).length + replayed + 1).toBe(MANY);
  });

  test('ROLLBACK: one movement', async () => {
    const target = world.transaction(session, 'BET');
    await world.submit(target);
    const { transactionId, roundId } = target;
    const body = world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId });
    const replies = await times(MANY, () => world.submit(body));
    expect(world.wallet.calls(body.transactionId)).toHaveLength(1);
    expect(approvals(replies).length).toBeGreaterThan(0);
    expect(others(replies)).toEqual([]);
    expect(world.wallet.balanceOf(session.playerRef)).toBe(START);
  });
});

test('fifty different BETs at once are fifty movements', async () => {
  const replies = await times(50, () => world.submit(world.transaction(session, 'BET')));
  expect(approvals(replies)).toHaveLength(50);
  expect(world.wallet.balanceOf(session.playerRef)).toBe(START - 50 * 100);
});

test('fifty ROLLBACK ids for one target: the operator gets one of them', async () => {
  const target = world.transaction(session, 'BET');
  await world.submit(target);
  const { transactionId, roundId } = target;
  const bodies = Array.from({ length: 50 }, () =>
    world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId }),
  );
  const replies = await Promise.all(bodies.map((body) => world.submit(body)));
  expect(others(replies)).toEqual([]);
  const sent = bodies.filter((body) => world.wallet.calls(body.transactionId).length > 0);
  expect(sent).toHaveLength(1);
  expect(world.wallet.balanceOf(session.playerRef)).toBe(START);
});

test('fifty ROLLBACK ids for an unknown target at once: one tombstone, one call', async () => {
  const target = world.transaction(session, 'BET');
  const { transactionId, roundId } = target;
  const bodies = Array.from({ length: 50 }, () =>
    world.transaction(session, 'ROLLBACK', { originalTransactionId: transactionId, roundId }),
  );
  const [replies] = await Promise.all([
    Promise.all(bodies.map((body) => world.submit(body))),
    world.submit(target),
  ]);
  expect(
    bodies.filter((body) => world.wallet.calls(body.transactionId).length > 0).length,
  ).toBeLessThanOrEqual(1);
  expect(others(replies)).toEqual([]);
  const held = world.wallet.booked(transactionId);
  const rolledBack = (await world.stateOf(transactionId)) === 'ROLLED_BACK';
  expect(world.wallet.balanceOf(session.playerRef)).toBe(
    held?.status === 'APPROVED' && !rolledBack ? START - 100 : START,
  );
});

test('twenty-five WINs in one round at once are all booked', async () => {
  const { roundId } = world.transaction(session, 'BET');
  const replies = await times(25, () =>
    world.submit(world.transaction(session, 'WIN', { roundId, amountMinor: 1 })),
  );
  expect(approvals(replies)).toHaveLength(25);
  expect(world.wallet.balanceOf(session.playerRef)).toBe(START + 25);
});

test('fifteen ROLLBACKs of fifteen BETs in one round at once are all booked', async () => {
  const { roundId } = world.transaction(session, 'BET');
  const bets = Array.from({ length: 15 }, () => world.transaction(session, 'BET', { roundId }));
  await Promise.all(bets.map((bet) => world.submit(bet)));
  const undone = bets.map(({ transactionId }) =>
    world.transaction(session, 'ROLLBACK', { roundId, originalTransactionId: transactionId }),
  );
  expect(approvals(await Promise.all(undone.map((body) => world.submit(body))))).toHaveLength(15);
  expect(world.wallet.balanceOf(session.playerRef)).toBe(START);
});

test('a WIN and a ROLLBACK in one round never both succeed', async () => {
  await times(25, async () => {
    const bet = world.transaction(session, 'BET', { amountMinor: 10 });
    await world.submit(bet);
    const { transactionId, roundId } = bet;
    const win = world.transaction(session, 'WIN', { roundId, amountMinor: 1 });
    const rollback = world.transaction(session, 'ROLLBACK', {
      originalTransactionId: transactionId,
      roundId,
    });
    const submissions = await Promise.all([world.submit(win), world.submit(rollback)]);
    expect(approvals(submissions).length).toBeLessThanOrEqual(1);
    expect(approvals(await Promise.all([world.submit(win), world.submit(rollback)]))).toHaveLength(1);
    const state = await world.stateOf(transactionId);
    const won = world.wallet.booked(win.transactionId)?.status === 'APPROVED';
    expect(state).toBe(won ? 'APPROVED' : 'ROLLED_BACK');
  });
});

test('a retry of a BET and a ROLLBACK of it never both succeed', async () => {
  await times(25, async () => {
    const bet = world.transaction(session, 'BET', { amountMinor: 10 });
    world.wallet.next({ do: 'answer', status: 500 }, { transactionId: bet.transactionId });
    await world.submit(bet);
    const { transactionId, roundId } = bet;
    const rollback = world.transaction(session, 'ROLLBACK', {
      originalTransactionId: transactionId,
      roundId,
    });
    const [retried, undone] = await Promise.all([world.submit(bet), world.submit(rollback)]);
    if (approvals([retried]).length > 0 && approvals([undone]).length > 0) {
      // The retry was decided before the ROLLBACK was claimed: then the ROLLBACK reversed it.
      expect(await world.stateOf(transactionId)).toBe('ROLLED_BACK');
    }
    const last = await world.submit(bet);
    const reversed = (await world.stateOf(transactionId)) === 'ROLLED_BACK';
    expect(last.json['status']).toBe(reversed ? 'DECLINED' : 'APPROVED');
    expect(world.wallet.booked(transactionId)?.movements ?? 0).toBeLessThanOrEqual(1);
  });
  expect(world.wallet.balanceOf(session.playerRef)).toBe(START - 10 * (await approvedBets()));
});

async function approvedBets(): Promise<number> {
  const [row] = await world.sql.run<{ count: string }>(
    `SELECT count(*)::int AS count FROM transactions WHERE player_ref = $1 AND kind = 'BET' AND state = 'APPROVED'`,
    [session.playerRef],
  );
  return Number(row?.count);
}

describe('two instances on one database', () => {
  let other: World;
  beforeAll(async () => (other = await world.another(world.clock, environment)));
  afterAll(() => other.app.close());

  test('book an id once, and both replay the stored answer', async () => {
    const body = world.transaction(session, 'BET');
    await times(MANY, (index) => (index % 2 ? world : other).submit(body));
    expect(world.wallet.calls(body.transactionId)).toHaveLength(1);
    expect((await world.submit(body)).text).toBe((await other.submit(body)).text);
  });

  test('a session revoked at one is refused at the other at once', async () => {
    await world.revoke(session.sessionId);
    const reply = await other.submit(world.transaction(session, 'BET'));
    expect(reply.headers.get('x-error-code')).toBe('SESSION_INVALID');
  });
});

test('after an instance died between claim and settlement, concurrent retries call the operator once', async () => {
  const body = world.transaction(session, 'BET');
  await world.sql.run(
    `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id,
       session_id, mode, player_ref, game_id, currency, amount_minor, round_id, attempt, lease_until)
     SELECT provider_id, $2, gen_random_uuid(), 'BET', 'PENDING', operator_id, session_id, mode, player_ref, game_id,
       currency, 100, $3, 1, clock_timestamp() - interval '1 second'
       FROM sessions WHERE session_id = $1`,
    [session.sessionId, body.transactionId, body.roundId],
  );
  const replies = await times(20, () => world.submit(body));
  expect(world.wallet.calls(body.transactionId)).toHaveLength(1);
  expect(approvals(replies).length).toBeGreaterThan(0);
});
