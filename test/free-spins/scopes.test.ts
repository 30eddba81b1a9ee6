import { describe, expect, test } from 'vitest';
import { GAME, OPERATOR, OTHER_OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { Tool } from './tool.js';

const world = useWorld();
const tool = new Tool(world);

describe('the list', () => {
  test('is newest first, filtered and paged', async () => {
    const playerRef = 'the-listed-player';
    const refs = [];
    for (let grant = 0; grant < 3; grant += 1) refs.unshift((await tool.granted({ playerRef })).requestRef);
    await tool.granted();
    const list = async (query: string) => (await world.admin('GET', `/v1/admin/free-spins?${query}`)).json;
    const refsIn = ({ items }: Record<string, unknown>) =>
      (items as { requestRef: string }[]).map(({ requestRef }) => requestRef);
    const first = await list(`playerRef=${playerRef}&limit=2`);
    expect(refsIn(first)).toEqual(refs.slice(0, 2));
    const second = await list(`playerRef=${playerRef}&limit=2&cursor=${String(first['nextCursor'])}`);
    expect([refsIn(second), second['nextCursor']]).toEqual([refs.slice(2), undefined]);
    const filter = `state=GRANTED&providerId=${PROVIDER}&operatorId=${OPERATOR}&gameId=${GAME}&playerRef=${playerRef}`;
    expect(refsIn(await list(filter))).toEqual(refs);
    expect(refsIn(await list(`${filter}&state=FAILED`.replace('state=GRANTED&', '')))).toEqual([]);
    for (const query of ['limit=0', 'state=LIVE', 'cursor=!', 'surprise=1', 'limit=501']) {
      expect((await world.admin('GET', `/v1/admin/free-spins?${query}`)).status).toBe(400);
    }
  });
});

describe('an operator', () => {
  const path = '/v1/operator/free-spins';
  const own = () => {
    const { operatorId: _, ...order } = tool.order();
    return order;
  };

  test('grants, reads, pulls, cancels and resends its own grants', async () => {
    const order = own();
    world.provider.next({ do: 'answer', status: 500 }, { requestRef: order.requestRef });
    const failed = await world.signed(OPERATOR, path, order);
    expect([failed.status, failed.headers.get('location')]).toEqual([502, `${path}/${order.requestRef}`]);
    const act = (action: string) => world.signed(OPERATOR, `${path}/${order.requestRef}/${action}`, '');
    expect((await act('resend')).json['state']).toBe('GRANTED');
    expect((await world.signed(OPERATOR, path, order)).status).toBe(200);
    expect((await act('status')).json).toMatchObject({ remainingSpins: 5 });
    expect((await world.signedGet(OPERATOR, `${path}/${order.requestRef}`)).json).toMatchObject({
      operatorId: OPERATOR,
      state: 'GRANTED',
      winnings: { count: 0, totalMinor: 0 },
    });
    expect((await act('cancel')).json['state']).toBe('CANCELLED');
    const listed = await world.signedGet(OPERATOR, `${path}?playerRef=${order.playerRef}`);
    expect(listed.json['items']).toMatchObject([{ requestRef: order.requestRef }]);
  });

  test('reads its grants page by page', async () => {
    const playerRef = 'the-player-of-two-pages';
    const orders = [own(), own()].map((order) => ({ ...order, playerRef }));
    for (const order of orders) await world.signed(OPERATOR, path, order);
    const pageOf = async (query: string) =>
      (await world.signedGet(OPERATOR, `${path}?playerRef=${playerRef}&limit=1${query}`)).json;
    const first = await pageOf('');
    expect(first['items']).toMatchObject([{ requestRef: orders[1]!.requestRef }]);
    const second = await pageOf(`&cursor=${String(first['nextCursor'])}`);
    expect(second['items']).toMatchObject([{ requestRef: orders[0]!.requestRef }]);
    expect(second).not.toHaveProperty('nextCursor');
  });

  test.each([path, `${path}/batches`])('has no CSV of %s, so no parameter bom', async (list) => {
    expect((await world.signedGet(OPERATOR, `${list}?bom=true`)).status).toBe(400);
  });

  test("does not see another operator's grants, nor which operator uses a requestRef", async () => {
    const order = own();
    await world.signed(OPERATOR, path, order);
    const taken = await world.signed(OTHER_OPERATOR, path, order);
    expect([taken.status, taken.headers.get('x-error-code')]).toEqual([409, 'CONFLICT']);
    for (const action of ['status', 'cancel', 'resend']) {
      expect((await world.signed(OTHER_OPERATOR, `${path}/${order.requestRef}/${action}`, '')).status).toBe(
        404,
      );
    }
    expect((await world.signedGet(OTHER_OPERATOR, `${path}/${order.requestRef}`)).status).toBe(404);
    expect((await world.signedGet(OTHER_OPERATOR, path)).json['items']).toEqual([]);
    expect((await world.signedGet(OTHER_OPERATOR, `${path}?operatorId=${OPERATOR}`)).status).toBe(400);
  });

  test.each(['', '/batches'])('uses only its own cursors of the list %j', async (list) => {
    const create = (operator: string) => {
      const grant = own();
      const { requestRef, playerRef, ...terms } = grant;
      const batch = { ...terms, batchRef: requestRef, playerRefs: [playerRef] };
      return world.signed(operator, `${path}${list}`, list === '' ? grant : batch);
    };
    const cursorOf = async (operator: string) => {
      for (let created = 0; created < 2; created += 1) await create(operator);
      return (await world.signedGet(operator, `${path}${list}?limit=1`)).json['nextCursor'];
    };
    const [foreign, cursor] = [await cursorOf(OTHER_OPERATOR), await cursorOf(OPERATOR)];
    const ofAdmin = await world.admin('GET', `/v1/admin/free-spins${list}?operatorId=${OPERATOR}&limit=1`);
    const statusWith = async (used: unknown) =>
      (await world.signedGet(OPERATOR, `${path}${list}?cursor=${String(used)}`)).status;
    expect(await statusWith(cursor)).toBe(200);
    expect(await statusWith(foreign)).toBe(400);
    expect(await statusWith(ofAdmin.json['nextCursor'])).toBe(400);
  });

  test('must send a requestRef, name an existing game, and sign as an operator', async () => {
    const { requestRef: _, ...order } = own();
    expect((await world.signed(OPERATOR, path, order)).status).toBe(400);
    expect((await world.signed(OPERATOR, path, { ...own(), gameId: 'no-such-game' })).status).toBe(503);
    expect((await world.signed(OPERATOR, path, { ...own(), operatorId: OPERATOR })).status).toBe(400);
    expect((await world.signed(PROVIDER, path, own())).text).toBe('invalid signature');
    expect((await world.request('/v1/admin/free-spins')).status).toBe(401);
  });
});
