import { beforeEach, describe, expect, test, vi } from 'vitest';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Metrics } from '../../src/observability/metrics.js';
import type { Ending } from '../world/endings.js';
import { type LaunchedSession, OPERATOR, PROVIDER, useWorld } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

let session: LaunchedSession;
const lines: Record<string, unknown>[] = [];

const world = useWorld(
  { LOG_LEVEL: 'info' },
  { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
);
beforeEach(async () => {
  lines.length = 0;
  session = await world.launch();
});

const detailOf = async (transactionId: string) =>
  (await world.admin('GET', `/v1/admin/transactions/${PROVIDER}/${transactionId}`)).json;

async function misdirectedCalls(operation: string): Promise<number> {
  const text = await world.app.get(Metrics, { strict: false }).text();
  const labels = [`operator="${OPERATOR}"`, `operation="${operation}"`, 'outcome="misdirected"'];
  const line = text
    .split('\n')
    .find(
      (each) =>
        each.startsWith('croupier_operator_calls_total{') && labels.every((label) => each.includes(label)),
    );
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** The warning about a misdirected answer, once it is written. */
async function warning(): Promise<Record<string, unknown>> {
  const found = () => lines.filter(({ msg }) => String(msg).includes('names another call'));
  await vi.waitFor(() => expect(found()).toHaveLength(1), PATIENCE);
  return found()[0]!;
}

describe('section 4: an answer names its call', () => {
  test('a decision that names another transaction is no answer', async () => {
    const before = await misdirectedCalls('BET');
    const bet = world.transaction(session, 'BET');
    const { transactionId } = bet;
    const stranger = { transactionId: 'win-of-a-stranger', status: 'APPROVED', balance: 1 };
    world.wallet.next({ do: 'answer', status: 200, body: stranger }, { transactionId });
    const reply = await world.submit(bet);
    expect(reply.status).toBe(500);
    expect(reply.headers.get('x-error-code')).toBe('OPERATOR_UNAVAILABLE');
    const { attempts } = await detailOf(transactionId);
    expect(attempts).toMatchObject([
      {
        outcome: 'OPERATOR_UNAVAILABLE',
        detail: expect.stringContaining('"win-of-a-stranger"') as string,
        operatorBody: JSON.stringify(stranger),
      },
    ]);
    expect(await misdirectedCalls('BET')).toBe(before + 1);
    expect(await warning()).toMatchObject({
      transactionId,
      detail: expect.stringContaining('win-of-a-stranger') as string,
    });
  });

  test('a balance of another player is no answer', async () => {
    const before = await misdirectedCalls('BALANCE');
    const stranger = { playerRef: 'a-stranger', currency: 'EUR', balance: 1 };
    world.wallet.next({ do: 'answer', status: 200, body: stranger }, { playerRef: session.playerRef });
    const reply = await world.balance(session);
    expect(reply.headers.get('x-error-code')).toBe('OPERATOR_UNAVAILABLE');
    expect(await misdirectedCalls('BALANCE')).toBe(before + 1);
    const { detail } = await warning();
    expect(detail).toContain('a-stranger');
    expect(detail).toContain(session.playerRef);
  });
});

test.each<[string, Ending]>([
  ['is not JSON', { do: 'garbage' }],
  ['is a list', { do: 'answer', status: 200, body: '[]' }],
  ['is encoded', { do: 'answer', status: 200, headers: { 'Content-Encoding': 'gzip' }, body: '{}' }],
])('section 4: the connection of a 200 that %s carries no further call', async (_, ending) => {
  const ask = async () => (await world.balance(session)).headers.get('x-error-code');
  expect(await ask()).toBeNull();
  const { connections } = world.wallet;
  const misdirected = await misdirectedCalls('BALANCE');
  world.wallet.next(ending, { playerRef: session.playerRef });
  expect(await ask()).toBe('OPERATOR_UNAVAILABLE');
  expect(world.wallet.connections).toBe(connections);
  expect(await ask()).toBeNull();
  expect(world.wallet.connections).toBe(connections + 1);
  expect(await misdirectedCalls('BALANCE')).toBe(misdirected);
});

describe('section 4: operatorTransactionId', () => {
  test.each([
    ['88121', '88121'],
    ['"w-1"', 'w-1'],
  ])('%s is kept as %j', async (sent, kept) => {
    const bet = world.transaction(session, 'BET');
    const { transactionId } = bet;
    const fields = `"status":"APPROVED","balance":1,"operatorTransactionId":${sent}`;
    world.wallet.next({ do: 'answer-call', fields }, { transactionId });
    expect((await world.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
    expect((await detailOf(transactionId))['attempts']).toMatchObject([{ operatorTransactionId: kept }]);
  });

  test('is ignored if it is something else, and the attempt says so', async () => {
    const bet = world.transaction(session, 'BET');
    const { transactionId } = bet;
    const fields = '"status":"APPROVED","balance":1,"operatorTransactionId":{"id":1}';
    world.wallet.next({ do: 'answer-call', fields }, { transactionId });
    expect((await world.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
    const { attempts, timeline } = await detailOf(transactionId);
    const detail = expect.stringContaining('operatorTransactionId is ignored') as string;
    expect(attempts).toMatchObject([{ outcome: 'APPROVED', detail }]);
    expect((attempts as object[])[0]).not.toHaveProperty('operatorTransactionId');
    expect(timeline).toContainEqual(expect.objectContaining({ event: 'operator-answered', text: detail }));
  });
});

test('section 4: an attempt that could not be sent says so, and no sentence doubts it', async () => {
  const unused = createServer().listen(0, '127.0.0.1');
  await once(unused, 'listening');
  const { port } = unused.address() as AddressInfo;
  await new Promise((resolve) => unused.close(resolve));
  const setAddress = (walletBaseUrl: string) =>
    world.admin('PATCH', `/v1/admin/operators/${OPERATOR}`, { walletBaseUrl });
  await setAddress(`http://127.0.0.1:${port}`);
  const bet = world.transaction(session, 'BET');
  expect((await world.submit(bet)).headers.get('x-error-code')).toBe('OPERATOR_UNAVAILABLE');
  await setAddress(world.wallet.baseUrl);
  const { attempts, advice } = await detailOf(bet.transactionId);
  expect(attempts).toMatchObject([{ outcome: 'OPERATOR_UNAVAILABLE', notSent: true }]);
  expect(advice).toMatchObject({
    text: expect.stringMatching(/^No money moved: nothing was sent/) as string,
  });
  expect((await world.submit(bet)).json).toMatchObject({ status: 'APPROVED' });
  expect((await detailOf(bet.transactionId))['attempts']).toMatchObject([
    { notSent: true },
    { outcome: 'APPROVED' },
  ]);
});
