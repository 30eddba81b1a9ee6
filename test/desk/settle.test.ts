import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { APPROVALS } from '../approvals/desk.js';
import { CSV, OTHER_OPERATOR, type Administrator, PROVIDER, type Reply, useWorld } from '../world/world.js';
import { Transactions } from '../world/transactions.js';
import { type Body, parked, tick } from './desk.js';
import { waitingForLocks } from '../world/locks.js';
import { PATIENCE } from '../world/patience.js';

/** Number of races of a settlement against a retry; each comes first in half of them. */
const RACES = 4;
/** Statements that wait for a row of `transactions`; others may wait for the lock of the audit log. */
const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                    AND query LIKE '%UPDATE transactions%'`;

let asker: Administrator;
let second: Administrator;
const world = useWorld();
const transactions = new Transactions(world);
beforeAll(async () => {
  asker = await world.administrator('operations', 'Night shift');
  second = await world.administrator('operations', 'Day shift');
});

const pathOf = ({ transactionId }: Pick<Body, 'transactionId'>) =>
  `/v1/admin/transactions/${PROVIDER}/${transactionId}`;
const answer = (fields: Record<string, unknown> = {}) => ({
  status: 'APPROVED',
  balance: 1_250,
  operatorReference: 'ticket 77',
  reason: 'its wallet is gone',
  ...fields,
});
const ask = (body: Body, fields: Record<string, unknown> = {}, by = asker) =>
  by.call('POST', `${pathOf(body)}/settle`, answer(fields));
const approve = (approvalId: unknown, by = second) =>
  by.call('POST', `${APPROVALS}/${String(approvalId)}/approve`);

async function settled(body: Body, fields: Record<string, unknown> = {}): Promise<Reply> {
  const { status, json } = await ask(body, fields);
  expect([status, json['state']]).toEqual([202, 'WAITING']);
  return approve(json['approvalId']);
}

describe('a parked transaction that is settled by hand', () => {
  test("answers, when it is approved, with every attempt and the operator's answers", async () => {
    const bet = world.transaction(await world.launch(), 'BET');
    const { transactionId } = bet;
    world.wallet.next({ do: 'answer', status: 503, body: 'down' }, { transactionId });
    await parked(world, bet);
    const { json } = await approve((await ask(bet)).json['approvalId']);
    const { attempts } = json['result'] as { attempts: object[] };
    expect(attempts[0]).toMatchObject({ operatorStatus: 503, operatorBody: 'down' });
    expect(attempts).toEqual((await world.admin('GET', pathOf(bet))).json['attempts']);
  });

  test('waits for one approval, even if it is asked for many times at once', async () => {
    const bet = await parked(world, world.transaction(await world.launch(), 'BET'));
    const audit = new pg.Client({ connectionString: world.databaseUrl });
    await audit.connect();
    // The first of them appends to the audit log before its commit. Until then, none of the others can see its approval.
    // Two changes of one caller are under way at a time.
    await audit.query('SELECT pg_advisory_lock(7300003)');
    const asked = Array.from({ length: 10 }, () => ask(bet));
    await vi.waitUntil(async () => (await waitingForLocks(world.sql)) === 2, PATIENCE);
    await audit.end();
    const replies = await Promise.all(asked);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 202));
    expect(new Set(replies.map(({ json }) => json['approvalId'])).size).toBe(1);
  });

  test('waits for a second person, sends nothing, and stays marked', async () => {
    const session = await world.launch({ playerRef: 'ann' });
    const bet = await parked(world, world.transaction(session, 'BET', { amountMinor: 250 }));
    const calls = world.wallet.calls(bet.transactionId).length;
    const requested = await ask(bet);
    expect([requested.status, requested.json]).toMatchObject([
      202,
      {
        state: 'WAITING',
        kind: 'settlement',
        amountMinor: 250,
        reference: `${PROVIDER}/${bet.transactionId}`,
        summary: `settling BET ${bet.transactionId} of 2.50 EUR for ann by hand as APPROVED, operator's reference ticket 77: its wallet is gone`,
      },
    ]);
    expect((await ask(bet)).json['approvalId']).toBe(requested.json['approvalId']);
    expect((await ask(bet, { status: 'DECLINED' })).status).toBe(409);
    expect((await approve(requested.json['approvalId'], asker)).status).toBe(403);
    expect(await world.stateOf(bet.transactionId)).toBe('TIMED_OUT');

    const { json } = await approve(requested.json['approvalId']);
    expect(json).toMatchObject({
      state: 'APPROVED',
      result: {
        state: 'APPROVED',
        settledByHand: true,
        attempts: [
          { outcome: 'OPERATOR_UNAVAILABLE' },
          {
            attempt: 2,
            driver: 'administrator',
            outcome: 'APPROVED',
            balance: 1_250,
            settledByHand: { operatorReference: 'ticket 77', reason: 'its wallet is gone' },
          },
        ],
        advice: { action: 'contact-provider' },
      },
    });
    const detail = (await world.admin('GET', pathOf(bet))).json;
    expect(detail['timeline']).toContainEqual({
      at: expect.any(String),
      event: 'settled-by-hand',
      text: "attempt 2: settled by hand as APPROVED, balance 12.50 EUR, operator's reference ticket 77: its wallet is gone",
    });
    expect((detail['attempts'] as object[])[1]).not.toHaveProperty('operatorStatus');
    expect((detail['attempts'] as object[])[1]).not.toHaveProperty('operatorBody');
    const retried = await world.submit(bet);
    expect([retried.status, retried.json]).toMatchObject([200, { status: 'APPROVED', balance: 1_250 }]);
    expect(retried.headers.get('idempotency-replayed')).toBe('true');
    expect(world.wallet.calls(bet.transactionId)).toHaveLength(calls);
    expect((await ask(bet)).json).toEqual({
      error: 'the transaction is decided: there is nothing to settle',
    });

    // The mark survives a later rollback, in lists and in CSV.
    await world.submit(
      world.transaction(session, 'ROLLBACK', {
        originalTransactionId: bet.transactionId,
        roundId: bet.roundId,
      }),
    );
    const list = await second.call('GET', `/v1/admin/transactions?roundId=${bet.roundId}&state=ROLLED_BACK`);
    expect(list.json['items']).toMatchObject([{ transactionId: bet.transactionId, settledByHand: true }]);
    const { call } = await world.administrator('support');
    const csv = await call('GET', `/v1/admin/transactions?roundId=${bet.roundId}`, undefined, CSV);
    const [header, ...records] = csv.text.split('\r\n').map((line) => line.split(','));
    const settledByHand = header!.indexOf('settledByHand');
    expect(records.filter((fields) => fields[settledByHand] === 'true')).toHaveLength(1);
    const target = encodeURIComponent(`transaction:${PROVIDER}/${bet.transactionId}`);
    const { items } = (await world.admin('GET', `/v1/admin/audit?target=${target}&action=transaction.settle`))
      .json;
    expect(items).toMatchObject([
      { outcome: 'CONFLICT' },
      { outcome: 'done', actorName: 'Day shift' },
      { outcome: 'CONFLICT' },
    ]);
  });

  test('has the last balance that the operator reported if none is given, else 0', async () => {
    const session = await world.launch({ playerRef: 'ben' });
    const { balance } = (await world.submit(world.transaction(session, 'BET', { amountMinor: 40 }))).json;
    const others = [
      await world.launch({ playerRef: 'ben', currency: 'USD' }),
      await world.launch({ playerRef: 'ben', mode: 'DEMO' }),
      await world.launch({ playerRef: 'ben' }, OTHER_OPERATOR),
    ];
    for (const other of others)
      await transactions.approved(world.transaction(other, 'BET', { amountMinor: 7 }));
    const [, , elsewhere] = others;
    for (let n = 0; n < 50; n += 1) await transactions.approved(world.transaction(elsewhere!, 'BET'));
    const win = await parked(world, world.transaction(session, 'WIN'));
    const { json } = await settled(win, { balance: undefined });
    expect(json['result']).not.toHaveProperty('attempts.1.balance');
    expect((await world.submit(win)).json).toMatchObject({ status: 'APPROVED', balance });

    const newcomer = await parked(world, world.transaction(await world.launch(), 'WIN'));
    await settled(newcomer, { balance: undefined });
    expect((await world.submit(newcomer)).json).toMatchObject({ status: 'APPROVED', balance: 0 });
  });

  test('has the balance after a ROLLBACK, and not the earlier one of its BET', async () => {
    const session = await world.launch();
    const bet = await transactions.approved(world.transaction(session, 'BET', { amountMinor: 40 }));
    const rollback = world.transaction(session, 'ROLLBACK', {
      roundId: bet.roundId,
      originalTransactionId: bet.transactionId,
    });
    const { balance } = (await world.submit(rollback)).json;
    const win = await parked(world, world.transaction(session, 'WIN'));
    await settled(win, { balance: undefined });
    expect((await world.submit(win)).json).toMatchObject({ status: 'APPROVED', balance });
  });

  test('is settled as DECLINED, with its target if it is a ROLLBACK', async () => {
    const session = await world.launch();
    const bet = await parked(world, world.transaction(session, 'BET'));
    await settled(bet, { status: 'DECLINED' });
    expect((await world.submit(bet)).json).toMatchObject({ status: 'DECLINED', declineReason: 'OTHER' });

    const booked = await transactions.approved(world.transaction(session, 'BET'));
    const { transactionId: originalTransactionId, roundId } = booked;
    const rollback = await parked(
      world,
      world.transaction(session, 'ROLLBACK', { originalTransactionId, roundId }),
    );
    await settled(rollback);
    expect(await world.stateOf(rollback.transactionId)).toBe('APPROVED');
    expect(await world.stateOf(booked.transactionId)).toBe('ROLLED_BACK');
    expect((await world.submit(rollback)).json).toMatchObject({ status: 'APPROVED' });
  });
});

describe('a settlement is refused', () => {
  test('for a transaction that is unknown, decided, not parked or decided by its ROLLBACK, and without the role', async () => {
    const session = await world.launch();
    expect((await ask({ ...world.transaction(session, 'BET') })).status).toBe(404);
    expect((await ask(await transactions.approved(world.transaction(session, 'BET')))).status).toBe(409);
    const bet = await transactions.timedOut(world.transaction(session, 'BET'));
    expect((await ask(bet)).json['error']).toContain('not parked');
    const { transactionId: originalTransactionId, roundId } = bet;
    await parked(world, world.transaction(session, 'ROLLBACK', { originalTransactionId, roundId }));
    expect((await ask(bet)).json['error']).toContain('settle the ROLLBACK');
    expect((await ask(bet, {}, await world.administrator('support'))).status).toBe(403);
    expect((await ask(bet, { operatorReference: ' ' })).status).toBe(400);
  });

  const outdated = {
    state: 'APPROVED',
    result: {
      error:
        'since the request, the transaction was decided or sent to the operator again, or a ROLLBACK of it has begun',
    },
  };

  test('if the transaction was decided while it waited: the approval ends with an error', async () => {
    const win = await parked(world, world.transaction(await world.launch(), 'WIN'));
    const { approvalId } = (await ask(win)).json;
    const decided = await world.submit(win);
    expect((await approve(approvalId)).json).toMatchObject(outdated);
    expect((await approve(approvalId)).json).toMatchObject(outdated);
    expect((await world.submit(win)).text).toBe(decided.text);
    expect((await world.admin('GET', pathOf(win))).json).not.toHaveProperty('settledByHand');
  });

  test('if the wallet may have booked a retry while it waited, until a new one is requested', async () => {
    const session = await world.launch({ playerRef: `retried-${randomUUID()}` });
    const bet = await parked(world, world.transaction(session, 'BET', { amountMinor: 250 }));
    const { approvalId } = (await ask(bet, { status: 'DECLINED' })).json;
    world.wallet.next(
      { do: 'book-then', then: { do: 'answer', status: 500 } },
      { transactionId: bet.transactionId },
    );
    expect((await world.submit(bet)).json).toMatchObject({ error: expect.any(String) });
    expect(world.wallet.balanceOf(session.playerRef)).toBe(99_750);

    expect((await ask(bet, { status: 'DECLINED' })).json['error']).toContain('of an earlier attempt');
    expect((await approve(approvalId)).json).toMatchObject(outdated);
    expect(await world.stateOf(bet.transactionId)).toBe('TIMED_OUT');
    await settled(bet, { balance: 99_750 });
    expect(await world.stateOf(bet.transactionId)).toBe('APPROVED');
  });
});

test.each(
  Array.from({ length: RACES }, (_, race) => ({ first: race % 2 === 0 ? 'settlement' : 'retry', race })),
)(
  'a settlement among retries and resolutions never leads to two outcomes: $first first, race $race',
  async ({ first }) => {
    const session = await world.launch({ playerRef: `racer-${randomUUID()}` });
    const win = await parked(world, world.transaction(session, 'WIN'));
    // Settled as DECLINED, while the wallet would approve: two outcomes would show.
    const { approvalId } = (await ask(win, { status: 'DECLINED' })).json;
    const calls = world.wallet.calls(win.transactionId).length;
    const rowLock = await holdRow(win);
    const settlement = () => approve(approvalId);
    const retry = () => world.submit(win);
    const leading = first === 'settlement' ? settlement() : retry();
    await rowLock.untilWaiting(1);
    const following = first === 'settlement' ? retry() : settlement();
    const others = [retry(), asker.call('POST', `${pathOf(win)}/resolve`), tick(world)];
    await rowLock.untilWaiting(2);
    await rowLock.release();
    const [approved, retried] = await Promise.all(
      first === 'settlement' ? [leading, following] : [following, leading],
    );
    await Promise.all(others);

    const byHand = !('error' in (approved.json['result'] as object));
    const { text, json } = await world.submit(win);
    expect([json['status'], json['balance']]).toEqual(byHand ? ['DECLINED', 1_250] : ['APPROVED', 100_100]);
    expect(world.wallet.calls(win.transactionId).length - calls).toBe(byHand ? 0 : 1);
    expect(world.wallet.balanceOf(session.playerRef)).toBe(byHand ? 100_000 : 100_100);
    if (retried.status === 200) expect(retried.text).toBe(text);
    else expect(retried.status).toBe(409);
    const { attempts } = (await world.admin('GET', pathOf(win))).json as { attempts: { outcome: string }[] };
    expect(attempts.filter(({ outcome }) => outcome === 'APPROVED' || outcome === 'DECLINED')).toHaveLength(
      1,
    );
  },
);

/** Holds the row of a transaction, so that statements sent meanwhile wait for it in their order. */
async function holdRow({ transactionId }: Pick<Body, 'transactionId'>) {
  const client = new pg.Client(world.databaseUrl);
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM transactions WHERE transaction_id = $1 FOR UPDATE', [transactionId]);
  return {
    untilWaiting: (waiting: number) =>
      vi.waitFor(
        async () => expect((await world.sql.run(WAITING)).length).toBeGreaterThanOrEqual(waiting),
        PATIENCE,
      ),
    release: async () => {
      await client.query('COMMIT');
      await client.end();
    },
  };
}
