import { describe, expect, test } from 'vitest';
import { FOREIGN_GAME, OTHER_OPERATOR, OTHER_PROVIDER, PROVIDER, useWorld } from '../world/world.js';
import { Tool, until } from './tool.js';

const world = useWorld();
const tool = new Tool(world);

/** A WIN in a session of its own, as a provider books it for a spin. */
async function win(playerRef: unknown, freeSpinsRef: unknown, fields: Record<string, unknown> = {}) {
  const { operator, provider, launch, ...body } = fields as Record<string, never>;
  const session = await world.launch({ playerRef, ...(launch as object | undefined) }, operator);
  const transaction = world.transaction(session, 'WIN', { freeSpinsRef, amountMinor: 150, ...body });
  const reply = await world.submit(transaction, provider);
  expect([reply.status, reply.json['status']]).toEqual([200, 'APPROVED']);
  return transaction;
}

const winnings = async (requestRef: string) => (await tool.read(requestRef)).json['winnings'];

const flagOf = async (transactionId: string) => {
  const { json } = await world.admin('GET', '/v1/admin/free-spins-winnings/flagged?limit=500');
  const items = json['items'] as { transactionId: string; flag: string }[];
  return items.find((item) => item.transactionId === transactionId)?.flag;
};

const counted = async (flag: string) => {
  const counter = new RegExp(`croupier_flagged_winnings_total{flag="${flag}"} (\\d+)`);
  return Number(counter.exec(await world.metrics())?.[1] ?? 0);
};

describe('the winnings of a grant', () => {
  test('are the booked WINs that name its batch, each counted once', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    expect(await winnings(requestRef)).toEqual({ count: 0, totalMinor: 0 });
    const first = await win(playerRef, externalRef);
    await world.submit(first);
    await win(playerRef, externalRef, { amountMinor: 50 });
    await win(playerRef, externalRef, { amountMinor: 0 });
    await win(playerRef, undefined);
    expect(await winnings(requestRef)).toEqual({ count: 3, totalMinor: 200 });
    expect(await flagOf(first.transactionId)).toBeUndefined();
  });

  test('have no total if a number cannot represent it exactly', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    const largest = { amountMinor: Number.MAX_SAFE_INTEGER };
    world.wallet.always(
      { do: 'answer-call', fields: '"status":"APPROVED","balance":1' },
      { playerRef: String(playerRef) },
    );
    await win(playerRef, externalRef, largest);
    expect(await winnings(requestRef)).toEqual({ count: 1, totalMinor: Number.MAX_SAFE_INTEGER });
    await win(playerRef, externalRef, largest);
    expect(await winnings(requestRef)).toEqual({ count: 2 });
  });

  test('are booked real money: no DEMO, nothing DECLINED or undecided', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    await win(playerRef, externalRef, { launch: { mode: 'DEMO' } });
    const session = await world.launch({ playerRef });
    for (const behaviour of [{ do: 'decline', reason: 'LIMIT_REACHED' }, { do: 'drop' }] as const) {
      world.wallet.next(behaviour, { playerRef: String(playerRef) });
      await world.submit(world.transaction(session, 'WIN', { freeSpinsRef: externalRef }));
    }
    expect(await winnings(requestRef)).toEqual({ count: 0, totalMinor: 0 });
  });
});

describe('winnings without a live grant are booked and flagged', () => {
  test('of an unknown batch', async () => {
    const before = await counted('UNKNOWN_BATCH');
    const { transactionId } = await win('somebody', 'no-such-batch');
    expect(await flagOf(transactionId)).toBe('UNKNOWN_BATCH');
    await until('the metric tells', async () => (await counted('UNKNOWN_BATCH')) === before + 1);
  });

  test('of another provider’s batch', async () => {
    const { externalRef, playerRef, requestRef } = await tool.granted();
    const options = { provider: OTHER_PROVIDER, launch: { gameId: FOREIGN_GAME } };
    const { transactionId } = await win(playerRef, externalRef, options);
    expect(await flagOf(transactionId)).toBe('UNKNOWN_BATCH');
    expect(await winnings(requestRef)).toEqual({ count: 0, totalMinor: 0 });
  });

  test('of another player, or of another operator’s player of that name', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    const another = await win('another-player', externalRef);
    const elsewhere = await win(playerRef, externalRef, { operator: OTHER_OPERATOR });
    expect([await flagOf(another.transactionId), await flagOf(elsewhere.transactionId)]).toEqual([
      'OTHER_PLAYER',
      'OTHER_PLAYER',
    ]);
    expect(await winnings(requestRef)).toEqual({ count: 0, totalMinor: 0, flagged: 2 });
  });

  test('in another currency', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    const { transactionId } = await win(playerRef, externalRef, { launch: { currency: 'USD' } });
    expect(await flagOf(transactionId)).toBe('OTHER_CURRENCY');
    expect(await winnings(requestRef)).toEqual({ count: 0, totalMinor: 0, flagged: 1 });
  });

  test('after the cancel; those before it are valid', async () => {
    const { requestRef, externalRef, playerRef } = await tool.granted();
    const early = await win(playerRef, externalRef);
    await tool.act(requestRef, 'cancel');
    const late = await win(playerRef, externalRef, { amountMinor: 30 });
    expect([await flagOf(early.transactionId), await flagOf(late.transactionId)]).toEqual([
      undefined,
      'CANCELLED',
    ]);
    expect(await winnings(requestRef)).toEqual({ count: 2, totalMinor: 180, flagged: 1 });
  });

  test('and are listed newest first, page by page', async () => {
    const list = async (query: string) =>
      (await world.admin('GET', `/v1/admin/free-spins-winnings/flagged?${query}`)).json as {
        items: { transactionId: string; providerId: string; flag: string }[];
        nextCursor?: string;
      };
    const wins = [];
    for (let index = 0; index < 3; index += 1) wins.unshift(await win('somebody', `nowhere-${index}`));
    const first = await list('limit=2');
    const second = await list(`limit=1&cursor=${String(first.nextCursor)}`);
    expect([...first.items, ...second.items].map(({ transactionId }) => transactionId)).toEqual(
      wins.map(({ transactionId }) => transactionId),
    );
    expect(first.items[0]).toMatchObject({ providerId: PROVIDER, flag: 'UNKNOWN_BATCH', amountMinor: 150 });
    expect((await world.admin('GET', '/v1/admin/free-spins-winnings/flagged?cursor=x')).status).toBe(400);
  });
});
