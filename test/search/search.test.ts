import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { AttemptIds } from '../../src/wallet/evidence/attempt-ids.js';
import { Background } from '../../src/runtime/background.js';
import { AttemptIdsStore } from '../../src/wallet/evidence/attempt-ids.store.js';
import { GRANT } from '../world/provider.js';
import { GAME, type LaunchedSession, OPERATOR, OTHER_OPERATOR, PROVIDER, useWorld } from '../world/world.js';

let session: LaunchedSession;
const world = useWorld();
beforeEach(async () => (session = await world.launch()));

interface Item {
  readonly type: string;
  readonly id: string;
  readonly href: string;
}

async function search(id: string): Promise<Item[]> {
  const reply = await world.admin('GET', `/v1/admin/search?q=${encodeURIComponent(id)}`);
  expect(reply.status).toBe(200);
  return reply.json['items'] as Item[];
}

/** The records found by an id; the address of each must show it. */
async function shown(id: string): Promise<Item[]> {
  const items = await search(id);
  for (const { href } of items) expect([href, (await world.admin('GET', href)).status]).toEqual([href, 200]);
  return items;
}

describe('an id finds', () => {
  test('a transaction, its round, session and player', async () => {
    const body = world.transaction(session, 'BET');
    const { json } = await world.submit(body);
    const { transactionId, roundId, playerRef } = body;
    const transaction = {
      type: 'transaction',
      id: transactionId,
      operatorId: OPERATOR,
      providerId: PROVIDER,
      playerRef,
      at: expect.stringMatching(/Z$/) as string,
      href: `/v1/admin/transactions/${PROVIDER}/${transactionId}`,
    };
    expect(await shown(transactionId)).toEqual([transaction]);
    expect(await shown(String(json['platformTransactionId']))).toEqual([transaction]);
    expect(await shown(world.wallet.booked(transactionId)!.operatorTransactionId)).toEqual([transaction]);
    expect(await shown(roundId)).toMatchObject([
      { type: 'round', id: roundId, providerId: PROVIDER, playerRef },
    ]);
    expect(await shown(session.sessionId)).toMatchObject([{ type: 'session', id: session.sessionId }]);
    expect(await shown(playerRef)).toMatchObject([{ type: 'player', id: playerRef, operatorId: OPERATOR }]);
  });

  test('an id with characters that an address must encode', async () => {
    const odd = await world.launch({ playerRef: 'a/b?c=d&e#f%41' });
    const body = world.transaction(odd, 'BET', { transactionId: 't/1?#', roundId: 'r/1?&' });
    await world.submit(body);
    for (const id of ['t/1?#', 'r/1?&', odd.playerRef]) expect(await shown(id)).toMatchObject([{ id }]);
  });

  test("the attempts of a request, including failed ones, and the audit entries of an administrator's request", async () => {
    const requestId = `request-${randomUUID()}`;
    const body = world.transaction(session, 'WIN');
    world.wallet.next({ do: 'answer', status: 500 }, { transactionId: body.transactionId });
    const path = '/v1/wallet/transaction';
    await world.signed(PROVIDER, path, body, { headers: { 'X-Request-Id': requestId } });
    const href = `/v1/admin/transactions/${PROVIDER}/${body.transactionId}`;
    expect(await shown(requestId)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'request', id: requestId, href }),
        expect.objectContaining({ type: 'transaction', id: body.transactionId, href }),
      ]),
    );
    const done = await world.admin('GET', '/v1/admin/providers');
    const refused = await world.admin('POST', '/v1/admin/keys', { name: 'Search', role: 'support' });
    expect(done.status).toBe(200);
    const byAudit = String(refused.headers.get('x-request-id'));
    expect(await shown(byAudit)).toMatchObject([
      { type: 'request', id: byAudit, href: `/v1/admin/audit?requestId=${byAudit}` },
    ]);
  });

  test('grants, batches and approvals by each of their ids', async () => {
    const spins = { operatorId: OPERATOR, gameId: GAME, spins: 3, betAmountMinor: 10, currency: 'EUR' };
    const requestRef = `grant-${randomUUID()}`;
    const { playerRef } = session;
    const grant = await world.admin('POST', '/v1/admin/free-spins', { ...spins, playerRef, requestRef });
    const found = [{ type: 'grant', id: requestRef, operatorId: OPERATOR, providerId: PROVIDER, playerRef }];
    expect(await shown(requestRef)).toMatchObject(found);
    expect(await shown(String(grant.json['externalRef']))).toMatchObject(found);
    const batchRef = `batch-${randomUUID()}`;
    const batch = await world.admin('POST', '/v1/admin/free-spins/batches', {
      ...spins,
      playerRefs: ['known-by-a-grant'],
      batchRef,
    });
    const batchId = String(batch.json['batchId']);
    for (const id of [batchId, batchRef])
      expect(await shown(id)).toMatchObject([{ type: 'batch', id: batchId }]);
    expect(await shown('known-by-a-grant')).toMatchObject([{ type: 'player' }]);
    await world.admin('PUT', `/v1/admin/limits/${OPERATOR}/EUR`, { maxAdjustmentMinor: 1 });
    const adjustmentId = `adjust-${randomUUID()}`;
    const adjustment = { adjustmentId, operatorId: OPERATOR, playerRef, currency: 'EUR', amountMinor: 5 };
    const waiting = await world.admin('POST', '/v1/admin/adjustments', { ...adjustment, reason: 'x' });
    await world.sql.run('DELETE FROM limits');
    const approvalId = String(waiting.json['approvalId']);
    for (const id of [approvalId, adjustmentId]) {
      expect(await shown(id)).toMatchObject([{ type: 'approval', id: approvalId }]);
    }
  });

  test('a player at each operator and each round of a shared id, newest first', async () => {
    const elsewhere = await world.launch({ playerRef: session.playerRef }, OTHER_OPERATOR);
    const roundId = `round-${randomUUID()}`;
    for (const each of [session, elsewhere]) await world.submit(world.transaction(each, 'BET', { roundId }));
    const operators = [{ operatorId: OTHER_OPERATOR }, { operatorId: OPERATOR }];
    expect(await shown(session.playerRef)).toMatchObject(operators);
    expect(await shown(roundId)).toMatchObject(operators);
  });

  test('at most fifty', async () => {
    await world.sql.run(
      `INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, mode,
         player_ref, game_id, currency, amount_minor, round_id, attempt, response_body)
       SELECT $1, 'crowd-' || n, gen_random_uuid(), 'BET', 'APPROVED', $2, 'REAL', 'p' || n, 'g', 'EUR', 1, 'crowd', 1, '{}'
         FROM generate_series(1, 60) n`,
      [PROVIDER, OPERATOR],
    );
    expect(await search('crowd')).toHaveLength(50);
  });

  test('a grant by any externalRef that a provider may give', async () => {
    const externalRef = `${'é'.repeat(200)} 🎰 ${'x'.repeat(50)}`;
    const requestRef = `grant-${randomUUID()}`;
    world.provider.next({ do: 'answer', status: 200, body: { externalRef } }, { path: GRANT, requestRef });
    const order = { operatorId: OPERATOR, playerRef: 'ann', gameId: GAME, spins: 5, betAmountMinor: 20 };
    const granted = await world.admin('POST', '/v1/admin/free-spins', {
      ...order,
      currency: 'EUR',
      requestRef,
    });
    expect(granted.json).toMatchObject({ externalRef });
    expect(await shown(externalRef)).toMatchObject([{ type: 'grant', id: requestRef }]);
  });

  test('the callbacks of a request, for seven days', async () => {
    const own = await world.launch();
    const requestId = `revoke-${randomUUID()}`;
    const path = `/v1/operator/sessions/${own.sessionId}/revoke`;
    await world.signed(OPERATOR, path, { reason: 'KICK' }, { headers: { 'X-Request-Id': requestId } });
    const [{ id }] = (await world.sql.run<{ id: number }>(
      'SELECT callback_id AS id FROM callbacks WHERE request_id = $1',
      [requestId],
    )) as [{ id: number }];
    const hrefs = async () => (await shown(requestId)).map(({ href }) => href);
    expect(await hrefs()).toContain(`/v1/admin/callbacks/${id}`);
    await world.sql.run(
      `UPDATE callbacks SET created_at = created_at - interval '8 days', completed_at = completed_at - interval '8 days'
        WHERE request_id = $1`,
      [requestId],
    );
    expect(await hrefs()).not.toContain(`/v1/admin/callbacks/${id}`);
  });

  test.each(['nothing', '00000000-0000-4000-8000-000000000000', 'ünï cödé', "' OR true --"])(
    'nothing: %s',
    async (id) => expect(await search(id)).toEqual([]),
  );

  test('nothing by a part of an id', async () => {
    expect(await search(session.playerRef.slice(0, -1))).toEqual([]);
    expect(await search(session.sessionId.toUpperCase())).toMatchObject([{ id: session.sessionId }]);
  });
});

test.each(['', '?q=', `?q=${'x'.repeat(257)}`, '?q=%00', '?q=a&q=b'])(
  'a search %s is a 400',
  async (query) => {
    expect((await world.admin('GET', `/v1/admin/search${query}`)).status).toBe(400);
  },
);

describe('the ids of attempts', () => {
  test('are dropped and counted if they cannot be written, and the transaction is answered', async () => {
    const dropped = async () =>
      Number(/^croupier_attempt_ids_dropped_total (\d+)$/m.exec(await world.metrics())?.[1]);
    const before = await dropped();
    await world.sql.run('ALTER TABLE attempt_ids RENAME TO attempt_ids_away');
    try {
      expect((await world.submit(world.transaction(session, 'BET'))).status).toBe(200);
      await world.app.get(AttemptIds).flush();
    } finally {
      await world.sql.run('ALTER TABLE attempt_ids_away RENAME TO attempt_ids');
    }
    expect(await dropped()).toBe(before + 1);
  });

  test('are bounded in memory', async () => {
    const ids = {
      providerId: PROVIDER,
      transactionId: 'x',
      platformTransactionId: randomUUID(),
      requestId: undefined,
      operatorTransactionId: undefined,
    };
    const insert = vi.fn(() => Promise.resolve());
    const attemptIdsDropped = vi.fn();
    const attemptIds = new AttemptIds({ insert } as never, { attemptIdsDropped } as never, new Background());
    for (let attempt = 0; attempt < 20_003; attempt += 1) attemptIds.remember(ids);
    expect(attemptIdsDropped).toHaveBeenCalledTimes(3);
    await attemptIds.flush();
    expect(insert).toHaveBeenCalledTimes(20);
  });

  test('are deleted after seven days, a bounded number at once', async () => {
    await world.sql.run(
      `INSERT INTO attempt_ids (provider_id, transaction_id, platform_transaction_id, created_at)
       SELECT $1, 'old', gen_random_uuid(), clock_timestamp() - make_interval(days => 7, secs => n - 2)
         FROM generate_series(0, 4) n`,
      [PROVIDER],
    );
    const store = world.app.get(AttemptIdsStore);
    expect(await store.deleteExpired(7, 2)).toBe(2);
    expect(await store.deleteExpired(7, 2)).toBeLessThan(2);
    const left = await world.sql.run(`SELECT FROM attempt_ids WHERE transaction_id = 'old'`);
    expect(left.length).toBeLessThanOrEqual(2);
  });
});
