import { Logger } from '@nestjs/common';
import { describe, expect, test, vi } from 'vitest';
import { bearer, CSV, GAME, OPERATOR, PROVIDER, type Reply, useWorld } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

const world = useWorld();

type Item = Record<string, unknown>;

/** The recorded entries, oldest first. */
async function recorded(filter: Record<string, string>): Promise<Item[]> {
  const query = new URLSearchParams({ limit: '500', ...filter }).toString();
  const { json } = await world.admin('GET', `/v1/admin/audit?${query}`);
  return (json['items'] as Item[]).reverse();
}

function requestIdOf({ headers }: Reply): string | null {
  return headers.get('x-request-id');
}

const GRANT = {
  operatorId: OPERATOR,
  playerRef: 'ann',
  gameId: GAME,
  spins: 3,
  betAmountMinor: 10,
  currency: 'EUR',
};
const ADJUSTMENT = { operatorId: OPERATOR, playerRef: 'ann', currency: 'EUR', reason: 'ticket 1' };

describe('a refusal is recorded with its code, its target and the name of the key:', () => {
  test.each([
    { role: 'support', call: ['POST', '/v1/admin/free-spins', { ...GRANT, requestRef: 'wish-1' }] },
    { role: 'operations', call: ['POST', '/v1/admin/free-spins/wish-1/cancel'] },
  ] as const)('$role lacks promotions: $call', async ({ role, call: [method, path, body] }) => {
    const { actor, call } = await world.administrator(role, `Night ${role}`);
    const reply = await call(method, path, body);
    expect([reply.status, reply.text]).toEqual([403, '{"error":"this needs the role promotions"}']);
    expect(await recorded({ actor })).toMatchObject([
      {
        actorName: `Night ${role}`,
        role,
        target: 'grant:wish-1',
        outcome: 'FORBIDDEN',
        after: { error: 'this needs the role promotions' },
        requestId: reply.headers.get('x-request-id'),
      },
    ]);
  });

  test('promotions lacks operations', async () => {
    const { actor, call } = await world.administrator('promotions');
    const request = { ...ADJUSTMENT, adjustmentId: 'wish-2', amountMinor: 1_000_000 };
    expect(await call('POST', '/v1/admin/adjustments', request)).toMatchObject({
      status: 403,
      text: '{"error":"this needs the role operations"}',
    });
    expect(await recorded({ actor })).toMatchObject([
      { action: 'adjustment.create', target: 'adjustment:wish-2', outcome: 'FORBIDDEN' },
    ]);
  });

  test('a route that names no target of its own', async () => {
    const { actor, call } = await world.administrator('support');
    expect((await call('GET', '/v1/admin/keys')).status).toBe(403);
    expect(await recorded({ actor })).toMatchObject([{ action: 'key.list', target: 'keys' }]);
  });

  test('a conflict', async () => {
    const { actor, call } = await world.administrator('operations', 'Night shift');
    const request = { ...ADJUSTMENT, adjustmentId: 'once', amountMinor: 5 };
    expect((await call('POST', '/v1/admin/adjustments', request)).status).toBe(201);
    expect((await call('POST', '/v1/admin/adjustments', { ...request, amountMinor: 6 })).status).toBe(409);
    expect(await recorded({ actor })).toMatchObject([
      {
        action: 'adjustment.create',
        target: 'adjustment:once',
        outcome: 'done',
        actorName: 'Night shift',
      },
      { action: 'adjustment.create', target: 'adjustment:once', outcome: 'CONFLICT' },
    ]);
    expect(await recorded({ actor, outcome: 'CONFLICT' })).toHaveLength(1);
  });

  test('but neither a wrong key nor a wrong body', async () => {
    const before = (await recorded({})).length;
    expect((await world.admin('GET', '/v1/admin/keys', undefined, bearer('x'))).status).toBe(401);
    expect((await world.admin('POST', '/v1/admin/adjustments', {})).status).toBe(400);
    // The only new entry is the read of the log itself.
    expect((await recorded({})).length).toBe(before + 1);
  });
});

test('the role operations permits the work of the night shift', async () => {
  const { call } = await world.administrator('operations');
  const session = await world.launch();
  const bet = world.transaction(session, 'BET');
  world.wallet.next({ do: 'drop' }, { transactionId: bet.transactionId });
  await world.submit(bet);
  const path = `/v1/admin/transactions/${PROVIDER}/${bet.transactionId}`;
  expect((await call('GET', '/v1/admin/transactions?state=TIMED_OUT')).status).toBe(200);
  expect((await call('GET', path)).status).toBe(200);
  expect((await call('POST', `${path}/resolve`)).status).toBe(200);
  expect((await call('POST', '/v1/admin/providers', {})).status).toBe(403);
});

describe('every refused call is an entry of its own, with its request id, at once:', () => {
  test('a missing role', async () => {
    const { actor, call } = await world.administrator('support');
    const replies = [];
    for (let n = 0; n < 3; n += 1) {
      replies.push(await call('POST', `/v1/admin/operators/${OPERATOR}/pause`, { reason: 'no' }));
      replies.push(await call('GET', '/v1/admin/keys'));
    }
    expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(403));
    expect((await recorded({ actor })).map(({ requestId }) => requestId)).toEqual(replies.map(requestIdOf));
  });

  test('a conflict, also with concurrent calls', async () => {
    const { actor, call } = await world.administrator('operations');
    const request = { ...ADJUSTMENT, adjustmentId: 'conflicting', amountMinor: 5 };
    await call('POST', '/v1/admin/adjustments', request);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => call('POST', '/v1/admin/adjustments', { ...request, amountMinor: 6 })),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(409));
    const entries = await recorded({ actor, outcome: 'CONFLICT' });
    expect(entries.map(({ requestId }) => requestId).sort()).toEqual(replies.map(requestIdOf).sort());
    world.clock.advance(61);
    expect(await recorded({ actor, outcome: 'CONFLICT' })).toHaveLength(10);
  });
});

describe('a repetition within a minute, on a route that clients poll,', () => {
  test('is recorded at once the first time, then as one entry with a count', async () => {
    const requestRef = 'polled';
    await world.admin('POST', '/v1/admin/free-spins', { ...GRANT, requestRef });
    const { actor, call } = await world.administrator('support');
    for (let poll = 0; poll < 5; poll += 1) {
      expect((await call('POST', `/v1/admin/free-spins/${requestRef}/status`)).status).toBe(200);
      expect((await call('GET', `/v1/admin/free-spins/${requestRef}`)).status).toBe(200);
    }
    const target = `grant:${requestRef}`;
    const first = [
      { action: 'free-spins.status', target },
      { action: 'free-spins.read', target },
    ];
    expect(await recorded({ actor })).toMatchObject(first);
    world.clock.advance(60);
    const repeats = { after: { repeats: 4, from: expect.any(String), to: expect.any(String) } };
    await vi.waitFor(
      async () =>
        expect(await recorded({ actor })).toMatchObject([
          ...first,
          { action: 'free-spins.status', target, ...repeats },
          { action: 'free-spins.read', target, ...repeats },
        ]),
      PATIENCE,
    );
    await call('GET', `/v1/admin/free-spins/${requestRef}`);
    expect((await recorded({ actor })).at(-1)).toMatchObject({ action: 'free-spins.read', after: {} });
  });

  test('is counted on each route that the console reads again by itself', async () => {
    const session = await world.launch();
    const bet = world.transaction(session, 'BET');
    await world.submit(bet);
    const { actor, call } = await world.administrator('auditor');
    const reads = {
      'approvals.list': '/v1/admin/approvals',
      'free-spins.batches-list': '/v1/admin/free-spins/batches',
      'free-spins.list': '/v1/admin/free-spins',
      'transactions.list': '/v1/admin/transactions',
      'transaction.read': `/v1/admin/transactions/${PROVIDER}/${bet.transactionId}`,
      'callbacks.list': '/v1/admin/callbacks',
      'round.read': `/v1/admin/rounds/${PROVIDER}/${bet.roundId}`,
      'session.read': `/v1/admin/sessions/${session.sessionId}`,
    };
    for (const path of Object.values(reads).flatMap((path) => [path, path, path]))
      expect((await call('GET', path)).status, path).toBe(200);
    const first = Object.keys(reads).map((action) => ({ action }));
    expect(await recorded({ actor })).toMatchObject(first);
    world.clock.advance(60);
    const repeated = first.map(({ action }) => ({ action, after: { repeats: 2 } }));
    await vi.waitFor(
      async () => expect(await recorded({ actor })).toMatchObject([...first, ...repeated]),
      PATIENCE,
    );
  });

  test('is recorded at once if it is the whole list as CSV', async () => {
    const { actor, call } = await world.administrator('auditor');
    await call('GET', '/v1/admin/callbacks');
    await call('GET', '/v1/admin/callbacks', undefined, CSV);
    expect(await recorded({ actor })).toMatchObject([
      { action: 'callbacks.list' },
      { action: 'callbacks.list' },
    ]);
  });

  test('is counted when it is refused, too', async () => {
    const requestRef = 'never-granted';
    world.provider.next({ do: 'answer', status: 500 }, { requestRef });
    expect((await world.admin('POST', '/v1/admin/free-spins', { ...GRANT, requestRef })).status).toBe(502);
    const { actor, call } = await world.administrator('support');
    for (let poll = 0; poll < 3; poll += 1) {
      expect((await call('POST', `/v1/admin/free-spins/${requestRef}/status`)).status).toBe(409);
    }
    const refusal = { action: 'free-spins.status', target: `grant:${requestRef}`, outcome: 'CONFLICT' };
    expect(await recorded({ actor })).toMatchObject([refusal]);
    world.clock.advance(60);
    await vi.waitFor(
      async () =>
        expect(await recorded({ actor })).toMatchObject([refusal, { ...refusal, after: { repeats: 2 } }]),
      PATIENCE,
    );
  });

  test('is recorded later if the database refuses it at first', async () => {
    const { actor, call } = await world.administrator('support');
    for (let poll = 0; poll < 3; poll += 1) await call('GET', '/v1/admin/attention');
    const errors = vi.spyOn(Logger.prototype, 'error');
    await world.sql.run(
      `ALTER TABLE audit_entries ADD CONSTRAINT no_repeats CHECK (after::text NOT LIKE '%repeats%') NOT VALID`,
    );
    world.clock.advance(60);
    const failed = expect.objectContaining({ msg: 'repeated audit entries cannot be recorded' }) as object;
    await vi.waitFor(() => expect(errors).toHaveBeenCalledWith(failed), PATIENCE);
    expect(await recorded({ actor })).toHaveLength(1);
    await world.sql.run('ALTER TABLE audit_entries DROP CONSTRAINT no_repeats');
    await vi.waitFor(
      async () => expect(await recorded({ actor })).toMatchObject([{}, { after: { repeats: 2 } }]),
      PATIENCE,
    );
    errors.mockRestore();
  });

  test('is recorded before the instance stops', async () => {
    const another = await world.another(world.clock);
    const { call } = await another.administrator('support', 'Stop');
    for (let poll = 0; poll < 3; poll += 1) await call('GET', '/v1/admin/attention');
    await another.app.close();
    const entries = (await recorded({ action: 'attention.list' })).filter(
      (entry) => entry['actorName'] === 'Stop',
    );
    expect(entries).toMatchObject([{ outcome: 'done' }, { outcome: 'done', after: { repeats: 2 } }]);
  });
});
