import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ATTENTION_KINDS } from '../../src/attention/attention.js';
import { VERSION } from '../../src/runtime/build.js';
import { Instance } from '../../src/runtime/instance.js';
import { Resolver } from '../../src/wallet/resolving/resolver.js';
import { Activity } from '../../src/wallet/activity/activity.service.js';
import { APPROVALS } from '../approvals/desk.js';
import { Transactions } from '../world/transactions.js';
import { OPERATOR, OTHER_OPERATOR, PROVIDER, startWorld, type World } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

let here: World;
let there: World;
let transactions: Transactions;

beforeAll(async () => {
  here = await startWorld();
  there = await here.another(here.clock);
  transactions = new Transactions(here);
});
afterAll(async () => {
  await there.app.close();
  await here.stop();
});

interface Overview {
  readonly at: string;
  readonly perMinute: Record<string, number>[];
  readonly amounts: { currency: string; betMinor: number; winMinor: number }[];
  readonly operators: Record<string, unknown>[];
  readonly providers: Record<string, unknown>[];
  readonly parked: number;
  readonly approvalsWaiting: number;
  readonly attention: Record<string, number>;
  readonly instances: { id: string; version: string; ready: boolean }[];
}

async function overview(world = here): Promise<Overview> {
  const reply = await world.admin('GET', '/v1/admin/overview');
  expect(reply.status).toBe(200);
  return reply.json as unknown as Overview;
}

/** Waits until the overviews of both instances satisfy a check. An overview is at most 5 s old. */
async function eventually(check: (overview: Overview) => void): Promise<void> {
  await Promise.all(
    [here, there].map((world) => vi.waitFor(async () => check(await overview(world)), PATIENCE)),
  );
}

const COUNTS = ['bets', 'wins', 'rollbacks', 'declined', 'undecided', 'refused'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

function sums({ perMinute }: Overview): Counts {
  return Object.fromEntries(
    COUNTS.map((name) => [name, perMinute.reduce((sum, minute) => sum + (minute[name] ?? NaN), 0)]),
  ) as Counts;
}

/** What has been counted since a call of `begin`. */
let before: Counts;
async function begin(): Promise<void> {
  for (const world of [here, there]) await world.app.get(Activity).share();
  // Outlives the overview that readers share.
  const from = await overview();
  await vi.waitUntil(async () => (await overview()).at > from.at, PATIENCE);
  before = sums(await overview());
}

async function counted(expected: Partial<Counts>): Promise<void> {
  const all = Object.fromEntries(COUNTS.map((name) => [name, before[name] + (expected[name] ?? 0)]));
  await eventually((one) => expect(sums(one)).toEqual(all));
}

/** Waits until the amounts of a currency, which only one test uses, are these. */
async function amounts(currency: string, betMinor: number, winMinor: number): Promise<void> {
  await eventually((one) =>
    expect(one.amounts.filter((each) => each.currency === currency)).toEqual([
      { currency, betMinor, winMinor },
    ]),
  );
}

describe('the transactions of the last hour', () => {
  test('are 60 minutes, oldest first, up to now', async () => {
    const { at, perMinute } = await overview();
    expect(perMinute).toHaveLength(60);
    const minutes = perMinute.map(({ minute }) => Date.parse(String(minute)));
    for (const [index, minute] of minutes.entries()) expect(minute).toBe(minutes[0]! + index * 60_000);
    expect(Date.parse(at) - minutes.at(-1)!).toBeLessThan(65_000);
  });

  test('are those of all instances, each counted once, and with the approved amounts', async () => {
    await begin();
    const session = await here.launch({ currency: 'AAA' });
    const bet = await transactions.approved(here.transaction(session, 'BET', { amountMinor: 250 }));
    expect((await there.submit(there.transaction(session, 'BET', { amountMinor: 50 }))).status).toBe(200);
    await transactions.approved(here.transaction(session, 'WIN', { roundId: bet.roundId, amountMinor: 400 }));
    expect((await there.submit(bet)).headers.get('Idempotency-Replayed')).toBe('true');
    await transactions.declined(here.transaction(session, 'BET', { amountMinor: 7 }));
    const demo = await here.launch({ mode: 'DEMO', currency: 'AAA' });
    await here.submit(here.transaction(demo, 'BET'));
    await counted({ bets: 3, wins: 1, declined: 1 });
    await amounts('AAA', 300, 400);
  });

  test('count a ROLLBACK, which takes back exactly the amount of its approved BET', async () => {
    await begin();
    const session = await here.launch({ currency: 'BBB' });
    const bet = await transactions.approved(here.transaction(session, 'BET', { amountMinor: 250 }));
    await transactions.approved(here.transaction(session, 'BET', { amountMinor: 10 }));
    const rollback = (of: { transactionId: string; roundId: string }) =>
      here.transaction(session, 'ROLLBACK', { originalTransactionId: of.transactionId, roundId: of.roundId });
    await amounts('BBB', 260, 0);
    const back = rollback(bet);
    await transactions.approved(back);
    expect((await there.submit(back)).status).toBe(200);
    // Neither an unknown BET nor one without an outcome was added.
    await transactions.approved(
      rollback({ transactionId: `unknown-${randomUUID()}`, roundId: randomUUID() }),
    );
    await transactions.approved(rollback(await transactions.timedOut(here.transaction(session, 'BET'))));
    await counted({ bets: 3, rollbacks: 3, undecided: 1 });
    await amounts('BBB', 10, 0);
  });

  test('keep the amount of a BET whose ROLLBACK was DECLINED', async () => {
    const session = await here.launch({ currency: 'CCC' });
    const bet = await transactions.approved(here.transaction(session, 'BET', { amountMinor: 33 }));
    const { transactionId: originalTransactionId, roundId } = bet;
    await transactions.declined(here.transaction(session, 'ROLLBACK', { originalTransactionId, roundId }));
    await amounts('CCC', 33, 0);
  });

  test('subtract a ROLLBACK in the minute of its BET, and not at all if the hour of the BET is over', async () => {
    const session = await here.launch({ currency: 'DDD' });
    const bet = async (minutesAgo: number) => {
      const body = await transactions.approved(here.transaction(session, 'BET', { amountMinor: 100 }));
      await here.sql.run(
        `UPDATE transactions SET attempts = jsonb_set(attempts, '{-1,startedAt}',
           to_jsonb(clock_timestamp() - make_interval(mins => $2))) WHERE transaction_id = $1`,
        [body.transactionId, minutesAgo],
      );
      return body;
    };
    for (const { transactionId: originalTransactionId, roundId } of [await bet(30), await bet(70)]) {
      await transactions.approved(here.transaction(session, 'ROLLBACK', { originalTransactionId, roundId }));
    }
    await amounts('DDD', 100, 0);
    const rows = await here.sql.run<{ ago: number; bet_minor: string }>(
      `SELECT round(extract(epoch FROM clock_timestamp() - minute) / 60)::integer AS ago, bet_minor
         FROM activity_amounts WHERE currency = 'DDD' AND bet_minor < 0`,
    );
    expect(rows).toHaveLength(1);
    expect(Math.abs(rows[0]!.ago - 30)).toBeLessThanOrEqual(1);
  });

  test('count an undecided transaction once, and its amount when it is resolved', async () => {
    await begin();
    const session = await here.launch({ currency: 'EEE' });
    const bet = await transactions.timedOut(here.transaction(session, 'BET', { amountMinor: 60 }), true);
    await transactions.timedOut(bet);
    const { operators, providers } = await vi.waitFor(async () => {
      const one = await overview();
      expect(one.operators.find(({ id }) => id === OPERATOR)).toMatchObject({ undecided: 1 });
      return one;
    }, PATIENCE);
    for (const tenants of [operators, providers]) {
      const undecided = tenants.filter((tenant) => tenant['undecided'] === 1);
      expect(undecided.map(({ id }) => id)).toEqual([tenants === operators ? OPERATOR : PROVIDER]);
      expect(undecided[0]!['oldestUndecidedSeconds']).toBeGreaterThanOrEqual(0);
      expect(undecided[0]!['oldestUndecidedSeconds']).toBeLessThan(60);
    }
    expect((await here.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
    await counted({ bets: 1, undecided: 1 });
    await amounts('EEE', 60, 0);
  });

  test('count what the platform decides: a BET that the resolver ends is no ROLLBACK of a provider', async () => {
    await begin();
    const session = await here.launch({ currency: 'FFF' });
    const bet = await transactions.timedOut(here.transaction(session, 'BET', { amountMinor: 60 }));
    await here.sql.run(
      `UPDATE transactions SET updated_at = updated_at - interval '2 minutes' WHERE transaction_id = $1`,
      [bet.transactionId],
    );
    await here.app.get(Resolver).tick();
    expect(await here.stateOf(bet.transactionId)).toBe('ROLLED_BACK');
    await counted({ bets: 1, undecided: 1 });
    expect((await overview()).amounts.filter(({ currency }) => currency === 'FFF')).toEqual([]);
  });

  test('count what is settled by hand where it is settled', async () => {
    await begin();
    const session = await here.launch({ currency: 'GGG' });
    const win = await transactions.timedOut(here.transaction(session, 'WIN', { amountMinor: 90 }));
    await here.sql.run(`UPDATE transactions SET parked_at = clock_timestamp() WHERE transaction_id = $1`, [
      win.transactionId,
    ]);
    await eventually((one) => expect(one.parked).toBe(1));
    const [asker, second] = [await here.administrator('operations'), await here.administrator('operations')];
    const path = `/v1/admin/transactions/${PROVIDER}/${win.transactionId}/settle`;
    const answer = { status: 'APPROVED', operatorReference: 'ticket 1', reason: 'reported by phone' };
    const { approvalId } = (await asker.call('POST', path, answer)).json;
    await eventually((one) => expect(one.approvalsWaiting).toBe(1));
    const approved = await second.call('POST', `${APPROVALS}/${String(approvalId)}/approve`);
    expect(approved.json).toMatchObject({ result: { state: 'APPROVED' } });
    await eventually((one) => expect([one.parked, one.approvalsWaiting]).toEqual([0, 0]));
    await counted({ wins: 1, undecided: 1 });
    await amounts('GGG', 0, 90);
  });

  test('count a signed request as refused if nothing was stored for it', async () => {
    await begin();
    const session = await here.launch();
    const bet = here.transaction(session, 'BET');
    const refused = [
      { ...bet, amountMinor: -1 },
      { ...bet, kind: 'ADJUSTMENT' },
      { ...bet, sessionToken: 'unknown-unknown-unknown-unknown-unknown-unk' },
      { ...bet, currency: 'SEK' },
    ];
    for (const body of refused) expect((await here.submit(body)).status).toBeGreaterThanOrEqual(400);
    await here.admin('POST', `/v1/admin/operators/${OPERATOR}/pause`, { reason: 'the wallet moves' });
    expect((await here.submit(bet)).status).toBe(503);
    await here.admin('POST', `/v1/admin/operators/${OPERATOR}/resume`);
    // Not signed, so anybody may have sent it.
    expect((await here.signed(PROVIDER, '/v1/wallet/transaction', bet, { secret: 'wrong' })).status).toBe(
      401,
    );
    // Another route.
    expect((await here.signed(PROVIDER, '/v1/wallet/balance', {})).status).toBe(400);
    // Stored, so it is undecided instead.
    await transactions.timedOut(bet);
    await counted({ bets: 1, undecided: 1, refused: 5 });
  });

  test('count the refusals of an open breaker', async () => {
    const session = await there.launch({}, OTHER_OPERATOR);
    const dropping = there.wallet.always({ do: 'drop' }, { playerRef: session.playerRef });
    for (let n = 0; n < 22; n += 1) await there.submit(there.transaction(session, 'BET'));
    dropping.withdraw();
    await begin();
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => there.submit(there.transaction(session, 'BET'))),
    );
    const refused = replies.filter(({ headers }) => headers.has('Retry-After')).length;
    expect(refused).toBeGreaterThanOrEqual(4);
    await counted({ bets: 5 - refused, refused });
    await eventually((one) =>
      expect(one.operators.find(({ id }) => id === OTHER_OPERATOR)).toMatchObject({ state: 'open' }),
    );
  });
});

test('shows every operator and provider, with its pause', async () => {
  const session = await here.launch();
  await transactions.approved(here.transaction(session, 'BET'));
  await here.admin('POST', `/v1/admin/providers/${PROVIDER}/pause`, { reason: 'moved' });
  await eventually(({ operators, providers }) => {
    expect(operators.map(({ id }) => id)).toEqual([OTHER_OPERATOR, OPERATOR].sort());
    const operator = operators.find(({ id }) => id === OPERATOR)!;
    expect(operator).toMatchObject({ name: OPERATOR, p95Ms: expect.any(Number) });
    expect(operator).not.toHaveProperty('pause');
    expect(Number(operator['perMinute'])).toBeGreaterThanOrEqual(1);
    expect(Number(operator['successRate'])).toBeGreaterThan(0);
    const provider = providers.find(({ id }) => id === PROVIDER)!;
    expect(provider).toMatchObject({ state: 'paused', pause: { reason: 'moved', by: 'root' } });
  });
  await here.admin('POST', `/v1/admin/providers/${PROVIDER}/resume`);
  await eventually(({ providers }) =>
    expect(providers.find(({ id }) => id === PROVIDER)).not.toHaveProperty('pause'),
  );
});

test('counts the OPEN items of attention, with every kind', async () => {
  const { attention } = await overview();
  expect(Object.keys(attention)).toEqual([...ATTENTION_KINDS]);
  const [{ id }] = (await here.sql.run<{ id: string }>(
    `INSERT INTO attention_items (item_id, kind, subject, state, summary, created_at)
     VALUES (gen_random_uuid(), 'reconciliation', 'an item', 'OPEN', 'a finding', clock_timestamp()) RETURNING item_id AS id`,
  )) as [{ id: string }];
  await eventually((one) => expect(one.attention['reconciliation']).toBe(attention['reconciliation']! + 1));
  await here.admin('POST', `/v1/admin/attention/${id}/snooze`, { until: '2099-01-01T00:00:00Z' });
  await eventually((one) => expect(one.attention['reconciliation']).toBe(attention['reconciliation']));
});

test('lists the running instances, and no stopped one', async () => {
  const third = await here.another(here.clock);
  const ids = [here, there, third].map(({ app }) => app.get(Instance).id);
  await eventually(({ instances }) => {
    expect(instances.map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const instance of instances) expect(instance).toMatchObject({ version: VERSION, ready: true });
  });
  await third.app.close();
  await eventually(({ instances }) =>
    expect(instances.map(({ id }) => id).sort()).toEqual(ids.slice(0, 2).sort()),
  );
});

test('shows the counts of an instance that has stopped', async () => {
  await begin();
  const third = await here.another(here.clock);
  const session = await here.launch();
  expect((await third.submit(third.transaction(session, 'BET'))).status).toBe(200);
  await third.app.close();
  await counted({ bets: 1 });
});

test('shows the counts of the requests that end while an instance stops, and their ids are found', async () => {
  await begin();
  const third = await here.another(here.clock);
  const bet = third.transaction(await here.launch(), 'BET');
  const held = here.wallet.next({ do: 'hold' }, { transactionId: bet.transactionId });
  const answer = third.submit(bet);
  await held.arrived;
  const closed = third.app.close();
  // Its background work has ended when it no longer says that it runs. Then it waits for the request.
  const runs = `SELECT FROM instances WHERE instance_id = $1`;
  const { id } = third.app.get(Instance);
  await vi.waitUntil(async () => (await here.sql.run(runs, [id])).length === 0, PATIENCE);
  held.release();
  expect((await answer).status).toBe(200);
  await closed;
  await counted({ bets: 1 });
  const ids = `SELECT FROM attempt_ids WHERE transaction_id = $1`;
  expect(await here.sql.run(ids, [bet.transactionId])).toHaveLength(1);
});

test('needs the role', async () => {
  const reply = await here.request('/v1/admin/overview');
  expect(reply.status).toBe(401);
});
