import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { ADJUSTMENTS, adjustmentOrder, APPROVALS } from '../approvals/desk.js';
import { parked, tick } from '../desk/desk.js';
import { AttentionWatcher } from '../../src/attention/attention.watcher.js';
import { PATIENCE } from '../world/patience.js';
import { CANCEL, GRANT } from '../world/provider.js';
import { Transactions } from '../world/transactions.js';
import {
  CSV,
  GAME,
  OPERATOR,
  OTHER_OPERATOR,
  type Administrator,
  PROVIDER,
  useWorld,
} from '../world/world.js';

const ATTENTION = '/v1/admin/attention';

interface Item {
  readonly id: string;
  readonly subject: string;
  readonly state: string;
  readonly [field: string]: unknown;
}

let support: Administrator;
let operations: Administrator;
const world = useWorld();
const transactions = new Transactions(world);
beforeAll(async () => {
  support = await world.administrator('support');
  operations = await world.administrator('operations', 'Night shift');
});

const list = async (query: string): Promise<Item[]> =>
  (await support.call('GET', `${ATTENTION}?${query}`)).json['items'] as Item[];

/** The only item of a cause, as soon as it is in this state. */
async function itemOf(kind: string, subject: string, state = 'OPEN'): Promise<Item> {
  return vi.waitFor(async () => {
    await pass();
    const items = (await list(`kind=${kind}&limit=500`)).filter((item) => item.subject === subject);
    expect(items.map((item) => item.state)).toEqual([state]);
    return items[0]!;
  }, PATIENCE);
}

/** Looks for causes now, even if an instance has just done so. */
async function pass(): Promise<void> {
  await world.sql.run(`DELETE FROM attention_scans WHERE name = 'causes'`);
  await world.app.get(AttentionWatcher).tick();
}

const act = (item: Item, verb: string, body: object, by = operations) =>
  by.call('POST', `${ATTENTION}/${item.id}/${verb}`, body);

describe('an item is opened and closed with its cause:', () => {
  test('a transaction that is parked, at once', async () => {
    const win = await parked(world, world.transaction(await world.launch({ playerRef: 'ann' }), 'WIN'));
    const subject = `${PROVIDER}/${win.transactionId}`;
    const item = await itemOf('transaction', subject);
    expect(item).toMatchObject({
      summary: `WIN ${win.transactionId} of 1.00 EUR for ann: the resolver has given up`,
      operatorId: OPERATOR,
      providerId: PROVIDER,
      href: `/v1/admin/transactions/${PROVIDER}/${win.transactionId}`,
    });
    expect((await support.call('GET', String(item['href']))).status).toBe(200);
    await world.submit(win);
    expect(await itemOf('transaction', subject, 'CLOSED')).toMatchObject({
      id: item.id,
      closedBy: 'croupier',
      reason: 'its cause is gone',
    });
  });

  test('a transaction that is TIMED_OUT for more than five minutes, not before', async () => {
    const session = await world.launch();
    const young = await transactions.timedOut(world.transaction(session, 'BET'));
    const old = await transactions.timedOut(world.transaction(session, 'WIN'));
    await world.sql.run(
      `UPDATE transactions SET created_at = created_at - interval '6 minutes' WHERE transaction_id = $1`,
      [old.transactionId],
    );
    await itemOf('transaction', `${PROVIDER}/${old.transactionId}`);
    expect((await list('kind=transaction')).map(({ subject }) => subject)).not.toContain(
      `${PROVIDER}/${young.transactionId}`,
    );
  });

  test('a transaction that is parked later: its item says so, and is OPEN again', async () => {
    const win = world.transaction(await world.launch({ playerRef: 'eve' }), 'WIN');
    await transactions.timedOut(win);
    const age = (hours: number, idleMinutes: number) =>
      world.sql.run(
        `UPDATE transactions SET created_at = now() - make_interval(hours => $2), updated_at = now() - make_interval(mins => $3)
          WHERE transaction_id = $1`,
        [win.transactionId, hours, idleMinutes],
      );
    await age(1, 0);
    const subject = `${PROVIDER}/${win.transactionId}`;
    const item = await itemOf('transaction', subject);
    expect(item['summary']).toMatch(/: undecided for more than five minutes$/);
    await act(item, 'snooze', { until: '2099-01-01' });
    await age(25, 2);
    await tick(world);
    expect(await itemOf('transaction', subject)).toMatchObject({
      id: item.id,
      summary: `WIN ${win.transactionId} of 1.00 EUR for eve: the resolver has given up`,
    });
    const { history } = (await support.call('GET', `${ATTENTION}/${item.id}`)).json;
    expect((history as object[]).at(-1)).toMatchObject({
      event: 'woken',
      by: 'croupier',
      text: 'its transaction was parked',
    });
    // It is reopened only once: if a person snoozes it again, it stays SNOOZED.
    await act(item, 'snooze', { until: '2099-01-01' });
    await pass();
    await itemOf('transaction', subject, 'SNOOZED');
    await act(item, 'close', { reason: 'done' });
  });

  test('a grant that FAILED, until it is granted', async () => {
    const requestRef = `grant/${randomUUID()}`;
    const order = { operatorId: OPERATOR, playerRef: 'ben', gameId: GAME, spins: 5, betAmountMinor: 20 };
    world.provider.next({ do: 'answer', status: 422, body: {} }, { path: GRANT, requestRef });
    await world.admin('POST', '/v1/admin/free-spins', { ...order, currency: 'EUR', requestRef });
    const item = await itemOf('grant', requestRef);
    expect(item['summary']).toBe(
      `grant of 5 spins of 0.20 EUR to ben in ${GAME} failed: the provider answered 422; it was not granted`,
    );
    await world.admin('POST', `/v1/admin/free-spins/${encodeURIComponent(requestRef)}/resend`);
    await itemOf('grant', requestRef, 'CLOSED');
  });

  test('a grant that is being voided, until it is cancelled', async () => {
    const requestRef = `grant-${randomUUID()}`;
    const order = { operatorId: OPERATOR, playerRef: 'ben', gameId: GAME, spins: 5, betAmountMinor: 20 };
    world.provider.next({ do: 'drop' }, { path: GRANT, requestRef });
    await world.admin('POST', '/v1/admin/free-spins', { ...order, currency: 'EUR', requestRef });
    await itemOf('grant', requestRef);
    world.provider.next({ do: 'answer', status: 503, body: {} }, { path: CANCEL });
    expect((await world.admin('POST', `/v1/admin/free-spins/${requestRef}/void`)).status).toBe(502);
    await pass();
    await itemOf('grant', requestRef, 'OPEN');
    await world.admin('POST', `/v1/admin/free-spins/${requestRef}/cancel`);
    await itemOf('grant', requestRef, 'CLOSED');
  });

  test('winnings that are flagged', async () => {
    const session = await world.launch({ playerRef: 'cleo' });
    const win = await transactions.approved(
      world.transaction(session, 'WIN', { freeSpinsRef: 'no-such-batch' }),
    );
    expect(await itemOf('winnings', `${PROVIDER}/${win.transactionId}`)).toMatchObject({
      summary: `WIN ${win.transactionId} of 1.00 EUR for cleo is flagged UNKNOWN_BATCH`,
    });
  });

  test('flagged winnings whose instance died before it opened their item', async () => {
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, response_body, free_spins_ref)
       VALUES ($1, 'just-booked', gen_random_uuid(), 'WIN', 'APPROVED', $2, 'REAL', 'cleo', 'g', 'EUR', 1, 'r', 1, '{}',
               'no-such-batch')`,
      [PROVIDER, OPERATOR],
    );
    await world.sql.run(`DELETE FROM attention_scans WHERE name = 'winnings'`);
    await world.app.get(AttentionWatcher).openMissingWinnings();
    await itemOf('winnings', `${PROVIDER}/just-booked`);
  });

  test('a revocation that was not delivered, until it is sent once more', async () => {
    const { sessionId } = await world.launch();
    world.provider.next({ do: 'answer', status: 500 }, { sessionId });
    await world.revoke(sessionId);
    expect(await itemOf('revocation', sessionId)).toMatchObject({ href: `/v1/admin/sessions/${sessionId}` });
    await world.admin('POST', `/v1/admin/sessions/${sessionId}/notify`);
    await itemOf('revocation', sessionId, 'CLOSED');
  });

  test('an action that waits for approval, until it is decided', async () => {
    await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/EUR`, { maxAdjustmentMinor: 10 });
    const order = adjustmentOrder({ amountMinor: 250 });
    const approvalId = String((await operations.call('POST', ADJUSTMENTS, order)).json['approvalId']);
    expect(await itemOf('approval', approvalId)).toMatchObject({
      summary: 'waits for approval: adjustment of 2.50 EUR for ann: ticket 1',
      operatorId: OPERATOR,
    });
    await operations.call('POST', `${APPROVALS}/${approvalId}/reject`, { reason: 'withdrawn' });
    await itemOf('approval', approvalId, 'CLOSED');
  });
});

describe('a person', () => {
  let item: Item;
  beforeAll(async () => {
    const win = await parked(world, world.transaction(await world.launch(), 'WIN'));
    item = await itemOf('transaction', `${PROVIDER}/${win.transactionId}`);
  });

  test('assigns, snoozes, comments on and closes an item, and each is in its history', async () => {
    expect((await act(item, 'assign', { assignee: 'Ada Lovelace' })).json).toMatchObject({
      id: item.id,
      assignee: 'Ada Lovelace',
    });
    expect((await list('assignee=Ada%20Lovelace')).map(({ id }) => id)).toEqual([item.id]);
    expect((await act(item, 'assign', {})).status).toBe(400);
    expect((await act(item, 'assign', { assignee: null })).json).not.toHaveProperty('assignee');
    expect((await act(item, 'snooze', { until: '9999-12-31T23:59-23:59' })).json).toMatchObject({
      state: 'SNOOZED',
      snoozedUntil: '9999-12-31T23:59:59.999Z',
    });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect((await act(item, 'snooze', { until })).json).toMatchObject({
      state: 'SNOOZED',
      snoozedUntil: until,
    });
    expect((await list('state=SNOOZED')).map(({ id }) => id)).toEqual([item.id]);
    expect(await world.metrics()).toContain('croupier_attention_items{kind="transaction",state="SNOOZED"} 1');
    await world.sql.run(`UPDATE attention_items SET snoozed_until = clock_timestamp() WHERE item_id = $1`, [
      item.id,
    ]);
    expect((await support.call('GET', `${ATTENTION}/${item.id}`)).json).toMatchObject({ state: 'OPEN' });
    const text = 'asked the operator:\nticket 4711';
    const commented = await act(item, 'comments', { text });
    expect([commented.status, commented.json['comments']]).toMatchObject([
      201,
      [{ by: operations.actor, byName: 'Night shift', text }],
    ]);
    expect((await act(item, 'close', { reason: 'the operator corrects it' })).json).toMatchObject({
      state: 'CLOSED',
      closedBy: operations.actor,
      closedByName: 'Night shift',
      reason: 'the operator corrects it',
    });
    expect((await act(item, 'comments', { text: 'done' })).status).toBe(201);
    const { history, comments } = (await support.call('GET', `${ATTENTION}/${item.id}`)).json as {
      history: { event: string; text?: string; by: string }[];
      comments: object[];
    };
    expect(comments).toHaveLength(2);
    expect(history.map(({ event, text }) => [event, text])).toEqual([
      ['opened', undefined],
      ['assigned', 'Ada Lovelace'],
      ['unassigned', undefined],
      ['snoozed', 'until 9999-12-31T23:59:59Z'],
      ['snoozed', `until ${until.slice(0, 19)}Z`],
      ['woken', undefined],
      ['commented', text],
      ['closed', 'the operator corrects it'],
      ['commented', 'done'],
    ]);
    const { items } = (await world.admin('GET', `/v1/admin/audit?target=attention:${item.id}&outcome=done`))
      .json;
    expect((items as { action: string }[]).map(({ action }) => action)).toEqual(
      expect.arrayContaining([
        'attention.assign',
        'attention.snooze',
        'attention.comment',
        'attention.close',
      ]),
    );
  });

  test('closes it for good, although its cause is still present', async () => {
    await pass();
    expect((await itemOf('transaction', item.subject, 'CLOSED')).id).toBe(item.id);
  });

  test('cannot change closed or unknown items, make invalid changes, or act without the role', async () => {
    for (const [verb, body] of [
      ['assign', { assignee: 'Ada' }],
      ['snooze', { until: '2099-01-01' }],
      ['close', { reason: 'again' }],
    ] as const) {
      expect([verb, (await act(item, verb, body)).status]).toEqual([verb, 409]);
      expect((await act({ ...item, id: randomUUID() }, verb, body)).status).toBe(404);
      expect((await act(item, verb, body, support)).json['error']).toBe('this needs the role operations');
      expect((await act(item, verb, { ...body, more: 1 })).status).toBe(400);
    }
    expect((await act(item, 'snooze', { until: '2020-01-01' })).status).toBe(400);
    for (const text of [' ', '\n', 'a\rb', 'a\tb', 'a'.repeat(2_001)])
      expect((await act(item, 'comments', { text })).status).toBe(400);
    expect((await support.call('GET', `${ATTENTION}/${randomUUID()}`)).status).toBe(404);
  });
});

test('the list is filtered, and exported as CSV', async () => {
  const open = await list('state=OPEN&limit=500');
  expect(open.length).toBeGreaterThan(1);
  expect(open.every(({ state }) => state === 'OPEN')).toBe(true);
  expect(await list(`state=OPEN&operatorId=${OTHER_OPERATOR}`)).toEqual([]);
  expect(await list(`operatorId=${OPERATOR}&providerId=${PROVIDER}&state=OPEN&kind=winnings`)).toHaveLength(
    2,
  );
  expect(await list('kind=winnings&to=2020-01-01')).toEqual([]);
  const first = (await support.call('GET', `${ATTENTION}?limit=1`)).json;
  const rest = (await support.call('GET', `${ATTENTION}?limit=500&cursor=${String(first['nextCursor'])}`))
    .json;
  const all = await list('limit=500');
  expect([...(first['items'] as Item[]), ...(rest['items'] as Item[])].map(({ id }) => id)).toEqual(
    all.map(({ id }) => id),
  );
  const { text } = await support.call('GET', `${ATTENTION}?state=OPEN`, undefined, CSV);
  expect(text.split('\r\n')[0]).toMatch(
    /^id,kind,subject,state,summary,operatorId,providerId,count,href,assignee/,
  );
  expect(text.trimEnd().split('\r\n')).toHaveLength(open.length + 1);
});
