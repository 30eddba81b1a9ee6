import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { GrantStore } from '../../src/free-spins/grants/grant.store.js';
import { QueueRunner } from '../../src/free-spins/queue/queue.runner.js';
import { GRANT } from '../world/provider.js';
import {
  FOREIGN_GAME,
  GAME,
  OPERATOR,
  OTHER_OPERATOR,
  OTHER_PROVIDER,
  PROVIDER,
  useWorld,
} from '../world/world.js';
import { Tool } from './tool.js';

const world = useWorld();
const tool = new Tool(world);

describe('a grant', () => {
  test('is recorded, sent once with its provider’s signature, and answered 201 with all its fields', async () => {
    const order = tool.order();
    const reply = await tool.post(order);
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      ...order,
      stakeMinor: 100,
      state: 'GRANTED',
      providerId: PROVIDER,
      externalRef: `batch-of-${order.requestRef}`,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      updatedAt: expect.any(String) as string,
    });
    const { operatorId: _, ...sent } = order;
    const [call, ...more] = tool.calls(GRANT, order.requestRef);
    expect(more).toEqual([]);
    expect(call).toMatchObject({
      json: sent,
      signatureOk: true,
      nonceFresh: true,
      target: `/callbacks${GRANT}`,
    });
    expect(Object.keys(call?.json ?? {}).sort()).toEqual(Object.keys(sent).sort());
    expect(call?.headers).toMatchObject({
      'x-tenant-id': PROVIDER,
      'x-request-id': reply.headers.get('x-request-id'),
      'content-type': 'application/json',
    });
    expect(await tool.callbacks(order.requestRef)).toMatchObject([
      { route: GRANT, provider_id: PROVIDER, body: call?.rawBody.toString(), status: 200, error: null },
    ]);
  });

  test('without a requestRef gets one, and is not idempotent', async () => {
    const { requestRef: _, ...order } = tool.order();
    const [first, second] = [await tool.post(order), await tool.post(order)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.json['requestRef']).not.toBe(second.json['requestRef']);
  });

  test('goes to the provider of its game', async () => {
    const order = tool.order({ gameId: FOREIGN_GAME });
    expect((await tool.post(order)).json['providerId']).toBe(OTHER_PROVIDER);
    expect(tool.calls(GRANT, order.requestRef)[0]?.headers['x-tenant-id']).toBe(OTHER_PROVIDER);
  });

  test('that is repeated is the stored one, in any state, without a callback', async () => {
    const order = tool.order();
    const first = await tool.post(order);
    const again = await tool.post(order);
    expect([again.status, again.json]).toEqual([200, first.json]);
    await tool.act(order.requestRef, 'cancel');
    expect((await tool.post(order)).json['state']).toBe('CANCELLED');

    const unlucky = tool.order();
    world.provider.next({ do: 'answer', status: 500 }, { requestRef: unlucky.requestRef });
    expect((await tool.post(unlucky)).status).toBe(502);
    const stored = await tool.post(unlucky);
    expect([stored.status, stored.json['state']]).toEqual([200, 'FAILED']);
    expect(tool.calls(GRANT, order.requestRef).length + tool.calls(GRANT, unlucky.requestRef).length).toBe(2);
  });

  test.each([
    { spins: 6 },
    { betAmountMinor: 21 },
    { currency: 'USD' },
    { playerRef: 'another' },
    { gameId: FOREIGN_GAME },
    { operatorId: OTHER_OPERATOR },
  ])('that is repeated with another body (%o) is a 409', async (change) => {
    const order = tool.order();
    await tool.post(order);
    const reply = await tool.post({ ...order, ...change });
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([409, 'CONFLICT']);
    expect(tool.calls(GRANT, order.requestRef)).toHaveLength(1);
  });

  test('that is requested many times at once is sent once', async () => {
    const order = tool.order();
    const held = world.provider.next({ do: 'hold' }, { requestRef: order.requestRef });
    const replies = Array.from({ length: 20 }, () => tool.post(order));
    await held.arrived;
    held.release();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 200)).toHaveLength(19);
    expect(tool.calls(GRANT, order.requestRef)).toHaveLength(1);
    expect(await tool.callbacks(order.requestRef)).toHaveLength(1);
  });

  test('that is being sent is not claimed again', async () => {
    const order = tool.order();
    const held = world.provider.next({ do: 'hold' }, { requestRef: order.requestRef });
    const reply = tool.post(order);
    await held.arrived;
    expect(await world.app.get(GrantStore).claim(order.requestRef)).toBeUndefined();
    held.release();
    expect((await reply).status).toBe(201);
  });

  test.each([
    [{ spins: 0 }],
    [{ spins: 1001 }],
    [{ spins: 1.5 }],
    [{ betAmountMinor: -1 }],
    [{ betAmountMinor: '1' }],
    [{ currency: 'eur' }],
    [{ playerRef: 'two words' }],
    [{ requestRef: '..' }],
    [{ operatorId: 'nobody' }],
    [{ operatorId: PROVIDER }],
    [{ gameId: 'no-such-game' }],
    [{ surprise: true }],
  ])('with %o is a 400 and is not stored', async (change) => {
    const order = tool.order(change);
    const reply = await tool.post(order);
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, 'INVALID_REQUEST']);
    expect(tool.calls(GRANT, order.requestRef)).toEqual([]);
    const rows = 'SELECT FROM free_spin_grants WHERE request_ref = $1';
    expect(await world.sql.run(rows, [order.requestRef])).toEqual([]);
  });

  test('in a disabled game is a 503, while a stored one is still answered', async () => {
    const order = tool.order({ gameId: 'closing' });
    const game = (status: string) =>
      world.admin('PUT', '/v1/admin/games/closing', { providerId: PROVIDER, name: 'closing', status });
    await game('ACTIVE');
    expect((await tool.post(order)).status).toBe(201);
    await game('DISABLED');
    const refused = await tool.post(tool.order({ gameId: 'closing' }));
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([503, 'GAME_NOT_CONFIGURED']);
    expect((await tool.post(order)).status).toBe(200);
    expect((await tool.act(order.requestRef, 'cancel')).status).toBe(200);
  });

  test('that the provider refused is a 502 whose Location names the FAILED record', async () => {
    const order = tool.order({ requestRef: 'spring/50%?' });
    world.provider.next({ do: 'answer', status: 422, body: { error: 'no such player' } }, { path: GRANT });
    const reply = await tool.post(order);
    expect(reply.status).toBe(502);
    expect(reply.json).toEqual({ error: 'the provider answered 422' });
    expect(reply.headers.get('x-error-code')).toBe('PROVIDER_FAILED');
    expect(reply.headers.get('x-next-action')).toBe('contact-platform');
    const location = reply.headers.get('location') ?? '';
    expect(location).toBe('/v1/admin/free-spins/spring%2F50%25%3F');
    expect((await world.admin('GET', location)).json).toMatchObject({
      state: 'FAILED',
      failure: { status: 422, error: 'the provider answered 422', outcomeUnknown: false },
    });
    const [row] = await tool.callbacks(order.requestRef);
    expect(row).toMatchObject({ status: 422, answer: '{"error":"no such player"}' });
  });

  test('whose instance died becomes FAILED with outcomeUnknown, and a later 200 still grants it', async () => {
    const order = tool.order();
    const held = world.provider.next({ do: 'hold' }, { requestRef: order.requestRef });
    const reply = tool.post(order);
    await held.arrived;
    expect(await tool.state(order.requestRef)).toBe('PENDING');
    expect((await tool.post(order)).json).toMatchObject({ state: 'PENDING' });
    for (const action of ['status', 'cancel', 'resend'] as const) {
      expect((await tool.act(order.requestRef, action)).status).toBe(409);
    }
    await tool.endLease(order.requestRef);
    expect((await tool.read(order.requestRef)).json).toMatchObject({
      state: 'FAILED',
      failure: { outcomeUnknown: true },
    });
    held.release();
    expect((await reply).status).toBe(201);
    const { json } = await tool.read(order.requestRef);
    expect(json).toMatchObject({ state: 'GRANTED', externalRef: `batch-of-${order.requestRef}` });
    expect(json['failure']).toBeUndefined();
  });
});

describe('a resend', () => {
  test('is for a FAILED grant only, and sends the same requestRef once more', async () => {
    const order = tool.order();
    world.provider.next({ do: 'book-then', then: { do: 'drop' } }, { requestRef: order.requestRef });
    expect((await tool.post(order)).status).toBe(502);
    expect((await tool.read(order.requestRef)).json['failure']).toMatchObject({ outcomeUnknown: true });
    const reply = await tool.act(order.requestRef, 'resend');
    expect([reply.status, reply.json['state']]).toEqual([200, 'GRANTED']);
    expect(tool.calls(GRANT, order.requestRef).map(({ rawBody }) => rawBody.toString())).toHaveLength(2);
    const [first, second] = tool.calls(GRANT, order.requestRef);
    expect(second?.rawBody).toEqual(first?.rawBody);
    expect((await tool.act(order.requestRef, 'resend')).status).toBe(409);
  });

  test('that fails is a 502, and an unknown outcome of an earlier attempt stays unknown until the provider refuses', async () => {
    const order = tool.order();
    const failure = async () => (await tool.read(order.requestRef)).json['failure'];
    world.provider.next({ do: 'hang' }, { requestRef: order.requestRef });
    const hasty = await world.another(world.clock, { CALLBACK_TIMEOUT_MS: '1500' });
    await new Tool(hasty).post(order);
    await hasty.app.close();
    expect(await failure()).toMatchObject({ outcomeUnknown: true });
    await world.sql.run(`UPDATE tenants SET webhook_base_url = 'http://127.0.0.1:9' WHERE id = $1`, [
      PROVIDER,
    ]);
    await world.advance(0);
    const refused = await tool.act(order.requestRef, 'resend');
    expect([refused.status, refused.headers.get('location')]).toEqual([
      502,
      `/v1/admin/free-spins/${order.requestRef}`,
    ]);
    expect(await failure()).toEqual({
      error: 'no connection to the provider could be made (ECONNREFUSED)',
      outcomeUnknown: true,
    });
    await world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { webhookBaseUrl: world.provider.baseUrl });
    world.provider.next({ do: 'answer', status: 404 }, { requestRef: order.requestRef });
    await tool.act(order.requestRef, 'resend');
    expect(await failure()).toEqual({
      status: 404,
      error: 'the provider answered 404',
      outcomeUnknown: false,
    });
  });

  test.each([
    { statuses: [302, 401, 403, 408, 409, 425, 429, 500, 503], unknown: true },
    { statuses: [400, 404, 410, 422], unknown: false },
  ])('that is answered with one of $statuses leaves the outcome unknown: $unknown', async (row) => {
    for (const status of row.statuses) {
      const order = tool.order();
      world.provider.next({ do: 'book-then', then: { do: 'drop' } }, { requestRef: order.requestRef });
      await tool.post(order);
      world.provider.next({ do: 'answer', status }, { requestRef: order.requestRef });
      expect((await tool.act(order.requestRef, 'resend')).status).toBe(502);
      expect((await tool.read(order.requestRef)).json).toMatchObject({
        state: 'FAILED',
        failure: { status, outcomeUnknown: row.unknown },
      });
    }
  });

  test('is not needed to know the outcome if the only attempt fails after its lease has expired', async () => {
    const countedAsFailed = async () => {
      const line = new RegExp(`grants_total{.*provider="${PROVIDER}",state="FAILED"} (\\d+)`);
      return Number(line.exec(await world.metrics())?.[1] ?? 0);
    };
    const before = await countedAsFailed();
    const order = tool.order();
    const held = world.provider.next(
      { do: 'hold', booking: 'on-arrival', then: { do: 'answer', status: 503 } },
      { requestRef: order.requestRef },
    );
    const reply = tool.post(order);
    await held.arrived;
    await tool.endLease(order.requestRef);
    expect((await tool.read(order.requestRef)).json['failure']).toMatchObject({ outcomeUnknown: true });
    held.release();
    expect((await reply).status).toBe(502);
    expect((await tool.read(order.requestRef)).json['failure']).toMatchObject({
      status: 503,
      outcomeUnknown: false,
    });
    expect(await countedAsFailed()).toBe(before + 1);
  });

  test('is not ended by the late failure of an earlier attempt', async () => {
    const order = tool.order();
    const { requestRef } = order;
    const first = world.provider.next({ do: 'hold', then: { do: 'answer', status: 503 } }, { requestRef });
    const failing = tool.post(order);
    await first.arrived;
    await tool.endLease(requestRef);
    expect(await tool.state(requestRef)).toBe('FAILED');
    const second = world.provider.next({ do: 'hold' }, { requestRef });
    const resent = tool.act(requestRef, 'resend');
    await second.arrived;
    first.release();
    await failing;
    expect(await tool.state(requestRef)).toBe('PENDING');
    second.release();
    expect((await resent).json).toMatchObject({ state: 'GRANTED' });
  });

  test('of a grant whose game has moved is a 503 for everybody, while a void still reaches its provider', async () => {
    const place = (providerId: string) =>
      world.admin('PUT', '/v1/admin/games/moving', { providerId, name: 'moving' });
    const providerIs = (status: string) =>
      world.admin('PATCH', `/v1/admin/providers/${PROVIDER}`, { status });
    expect((await place(PROVIDER)).status).toBe(200);
    onTestFinished(async () => {
      await providerIs('ACTIVE');
    });
    const order = tool.order({ gameId: 'moving' });
    const { requestRef } = order;
    world.provider.next({ do: 'book-then', then: { do: 'drop' } }, { requestRef });
    expect((await tool.post(order)).status).toBe(502);
    expect((await place(OTHER_PROVIDER)).status).toBe(200);
    for (const status of ['ACTIVE', 'DISABLED']) {
      expect((await providerIs(status)).status).toBe(200);
      for (const refused of [
        await tool.act(requestRef, 'resend'),
        await world.signed(OPERATOR, `/v1/operator/free-spins/${requestRef}/resend`, ''),
      ])
        expect([refused.status, refused.headers.get('x-error-code')]).toEqual([503, 'GAME_NOT_CONFIGURED']);
    }
    expect(tool.calls(GRANT, requestRef)).toHaveLength(1);
    expect(await tool.state(requestRef)).toBe('FAILED');
    expect((await world.admin('POST', `/v1/admin/free-spins/${requestRef}/void`)).json).toMatchObject({
      state: 'CANCELLED',
      providerId: PROVIDER,
    });
  });

  test('that is requested many times at once, together with the grant, sends one callback', async () => {
    const order = tool.order();
    world.provider.next({ do: 'answer', status: 500 }, { requestRef: order.requestRef });
    await tool.post(order);
    const held = world.provider.next({ do: 'hold' }, { requestRef: order.requestRef });
    const resends = Array.from({ length: 10 }, () => tool.act(order.requestRef, 'resend'));
    await held.arrived;
    const again = await tool.post(order);
    expect([again.status, again.json['state']]).toEqual([200, 'PENDING']);
    held.release();
    const statuses = (await Promise.all(resends)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(9);
    expect(tool.calls(GRANT, order.requestRef)).toHaveLength(2);
  });
});

test('abandoned PENDING grants are failed in the background', async () => {
  const order = tool.order();
  const held = world.provider.next({ do: 'hold' }, { requestRef: order.requestRef });
  const reply = tool.post(order);
  await held.arrived;
  await tool.endLease(order.requestRef);
  await world.app.get(QueueRunner)['loop'].run();
  const rows = await world.sql.run('SELECT state FROM free_spin_grants WHERE request_ref = $1', [
    order.requestRef,
  ]);
  expect(rows).toEqual([{ state: 'FAILED' }]);
  held.release();
  await reply;
});

test('a list is restricted by the time of creation', async () => {
  const playerRef = `player-${randomUUID()}`;
  const order = {
    operatorId: OPERATOR,
    playerRef,
    gameId: GAME,
    spins: 5,
    betAmountMinor: 20,
    currency: 'EUR',
  };
  const { createdAt } = (await world.admin('POST', '/v1/admin/free-spins', order)).json;
  const found = async (query: string) => {
    const path = `/v1/admin/free-spins?playerRef=${playerRef}&${query}`;
    return ((await world.admin('GET', path)).json['items'] as object[]).length;
  };
  const later = new Date(Date.parse(String(createdAt)) + 1_000).toISOString();
  expect(await found(`from=${String(createdAt)}&to=${later}`)).toBe(1);
  expect(await found(`to=${String(createdAt)}`)).toBe(0);
  expect(await found(`from=${later}`)).toBe(0);
  expect(await found('from=0100-01-01T00:00:00Z&to=9999-12-31T23:59:59Z')).toBe(1);
});

test('a list by time is complete although the numbers of grants are in another order', async () => {
  const playerRef = `player-${randomUUID()}`;
  const now = Date.now();
  const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
  for (const minutes of [4, -4, 2, -2, 0]) {
    const { requestRef } = await tool.granted({ playerRef });
    await world.sql.run('UPDATE free_spin_grants SET created_at = $2 WHERE request_ref = $1', [
      requestRef,
      at(minutes),
    ]);
  }
  const created = async (query: string) => {
    const { json } = await world.admin('GET', `/v1/admin/free-spins?playerRef=${playerRef}&${query}`);
    return (json['items'] as { createdAt: string }[]).map(({ createdAt }) => createdAt).sort();
  };
  expect(await created(`from=${at(-2)}&to=${at(4)}`)).toEqual([-2, 0, 2].map(at));
  expect(await created(`from=${at(0)}`)).toEqual([0, 2, 4].map(at));
  expect(await created(`to=${at(0)}`)).toEqual([-4, -2].map(at));
});
