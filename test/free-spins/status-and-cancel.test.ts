import { describe, expect, test } from 'vitest';
import { CANCEL, STATUS } from '../world/provider.js';
import { GAME, useWorld } from '../world/world.js';
import { Tool } from './tool.js';

const world = useWorld();
const tool = new Tool(world);

describe('a status', () => {
  test('is pulled, kept on the record, and changes no state', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    const batch = world.provider.batches.get(String(externalRef));
    if (batch) batch.remainingSpins = 2;
    const reply = await tool.act(requestRef, 'status');
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({ requestRef, externalRef, remainingSpins: 2, completed: false });
    expect(tool.calls(STATUS, requestRef).map(({ json }) => json)).toEqual([
      { externalRef, playerRef, gameId: GAME },
    ]);
    expect((await tool.read(requestRef)).json).toMatchObject({
      state: 'GRANTED',
      remainingSpins: 2,
      completed: false,
      statusCheckedAt: expect.any(String) as string,
    });
    await tool.act(requestRef, 'cancel');
    expect((await tool.act(requestRef, 'status')).json).toMatchObject({ remainingSpins: 0, completed: true });
    expect(await tool.state(requestRef)).toBe('CANCELLED');
  });

  test('that reports spins of a CANCELLED grant does not make its record show them', async () => {
    const { requestRef, externalRef } = await tool.granted();
    await tool.act(requestRef, 'status');
    await tool.act(requestRef, 'cancel');
    world.provider.batches.get(String(externalRef))!.remainingSpins = 3;
    expect((await tool.act(requestRef, 'status')).json).toMatchObject({ remainingSpins: 3 });
    expect((await tool.read(requestRef)).json).toMatchObject({ state: 'CANCELLED', remainingSpins: 0 });
  });

  test('that is answered before the last spin, and recorded after it, does not make the grant live again', async () => {
    const { requestRef, externalRef } = await tool.granted();
    const body = { remainingSpins: 1, completed: false };
    const held = world.provider.next(
      { do: 'hold', then: { do: 'answer', status: 200, body } },
      { path: STATUS, externalRef: String(externalRef) },
    );
    const slow = tool.act(requestRef, 'status');
    await held.arrived;
    world.provider.batches.get(String(externalRef))!.remainingSpins = 0;
    expect((await tool.act(requestRef, 'status')).json).toMatchObject({ remainingSpins: 0, completed: true });
    const { statusCheckedAt } = (await tool.read(requestRef)).json;
    held.release();
    expect((await slow).json).toMatchObject(body);
    const { json } = await tool.read(requestRef);
    expect(json).toMatchObject({ remainingSpins: 0, completed: true });
    expect(String(json['statusCheckedAt']) > String(statusCheckedAt)).toBe(true);
  });

  test('of a FAILED grant is a 409, of an unknown one a 404', async () => {
    const order = tool.order();
    world.provider.next({ do: 'drop' }, { requestRef: order.requestRef });
    await tool.post(order);
    expect((await tool.act(order.requestRef, 'status')).status).toBe(409);
    expect((await tool.act(order.requestRef, 'cancel')).status).toBe(409);
    expect((await tool.act('unknown', 'status')).status).toBe(404);
    expect((await tool.read('unknown')).status).toBe(404);
  });
});

describe('a cancel', () => {
  test('is sent once; a CANCELLED grant is returned unchanged', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    const reply = await tool.act(requestRef, 'cancel');
    expect([reply.status, reply.json['state'], reply.json['externalRef']]).toEqual([
      200,
      'CANCELLED',
      externalRef,
    ]);
    expect((await tool.act(requestRef, 'cancel')).status).toBe(200);
    expect(tool.calls(CANCEL, requestRef).map(({ json }) => json)).toEqual([
      { externalRef, playerRef, gameId: GAME },
    ]);
  });

  test('that the provider did not answer with 200 leaves the spins live, and may be tried again', async () => {
    const { requestRef, externalRef } = await tool.granted();
    world.provider.next({ do: 'answer', status: 204 }, { path: CANCEL, externalRef: String(externalRef) });
    expect((await tool.act(requestRef, 'cancel')).status).toBe(502);
    const { json } = await tool.read(requestRef);
    expect(json).toMatchObject({ state: 'GRANTED', lastCancelError: 'the provider answered 204' });
    const cancelled = (await tool.act(requestRef, 'cancel')).json;
    expect([cancelled['state'], cancelled['lastCancelError']]).toEqual(['CANCELLED', undefined]);
  });

  test('that is requested many times at once sends one callback; a second one gets wait-then-retry', async () => {
    const { requestRef, externalRef } = await tool.granted();
    const held = world.provider.next({ do: 'hold' }, { path: CANCEL, externalRef: String(externalRef) });
    const cancels = Array.from({ length: 20 }, () => tool.act(requestRef, 'cancel'));
    await held.arrived;
    const second = await tool.act(requestRef, 'cancel');
    expect([second.status, second.headers.get('x-next-action')]).toEqual([409, 'wait-then-retry']);
    expect(second.headers.get('x-error-code')).toBe('CONFLICT');
    held.release();
    const replies = await Promise.all(cancels);
    expect(replies.filter(({ status }) => status === 409).length).toBeGreaterThan(0);
    expect(replies.every(({ status }) => status === 409 || status === 200)).toBe(true);
    expect(tool.calls(CANCEL, requestRef)).toHaveLength(1);
  });

  test('that fails late does not end a later one', async () => {
    const { requestRef, externalRef } = await tool.granted();
    const ofGrant = { path: CANCEL, externalRef: String(externalRef) } as const;
    const first = world.provider.next({ do: 'hold', then: { do: 'answer', status: 503 } }, ofGrant);
    const failing = tool.act(requestRef, 'cancel');
    await first.arrived;
    await tool.endLease(requestRef);
    const second = world.provider.next({ do: 'hold' }, ofGrant);
    const later = tool.act(requestRef, 'cancel');
    await second.arrived;
    first.release();
    await failing;
    expect((await tool.act(requestRef, 'cancel')).status).toBe(409);
    second.release();
    expect((await later).json).toMatchObject({ state: 'CANCELLED' });
    expect(tool.calls(CANCEL, requestRef)).toHaveLength(2);
  });

  test('that a crash interrupted can be repeated', async () => {
    const { requestRef, externalRef } = await tool.granted();
    const held = world.provider.next({ do: 'hold' }, { path: CANCEL, externalRef: String(externalRef) });
    const lost = tool.act(requestRef, 'cancel');
    await held.arrived;
    await tool.endLease(requestRef);
    expect((await tool.act(requestRef, 'cancel')).json['state']).toBe('CANCELLED');
    held.release();
    expect((await lost).json['state']).toBe('CANCELLED');
  });
});
