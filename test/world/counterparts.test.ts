import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PlatformClient } from '../../src/sandbox/platform-client.js';
import { OperatorWalletCounterpart } from './operator-wallet.js';
import { GRANT, ProviderCounterpart, STATUS } from './provider.js';
import { PATIENCE } from './patience.js';

const OPERATOR = { id: 'operator', secret: 'secret' };
let wallet: OperatorWalletCounterpart;
let provider: ProviderCounterpart;

beforeAll(async () => {
  wallet = await OperatorWalletCounterpart.start({ startBalance: 1000 });
  wallet.setSecret(OPERATOR.id, OPERATOR.secret);
  provider = await ProviderCounterpart.start();
});

afterAll(async () => {
  await Promise.all([wallet.stop(), provider.stop()]);
});

const PLAYER = { playerRef: 'player', gameId: 'game', roundId: 'round', currency: 'EUR' };

function book(transactionId: string, change: object = {}) {
  const bet = { transactionId, providerId: 'provider', kind: 'BET', amountMinor: 100, ...PLAYER };
  const platform = new PlatformClient(new URL(wallet.baseUrl).origin);
  return platform.signed(OPERATOR, '/wallet/transaction', { ...bet, ...change });
}

test('a wallet without a set behaviour carries out calls and records them', async () => {
  wallet.setBalance('player', 500);
  expect((await book('plain')).json).toMatchObject({ status: 'APPROVED', balance: 400 });
  expect(wallet.booked('plain')).toMatchObject({ status: 'APPROVED', movements: 1, reversed: false });
  await book('plain-undone', { kind: 'ROLLBACK', originalTransactionId: 'plain' });
  expect(wallet.booked('plain')).toMatchObject({ movements: 1, reversed: true });
  expect(wallet.balanceOf('player')).toBe(500);
  expect(wallet.movements.map(({ movedMinor }) => movedMinor)).toEqual([-100, 100]);
  expect(wallet.calls('plain')).toMatchObject([
    { path: '/transaction', target: '/wallet/transaction', signatureOk: true, nonceFresh: true },
  ]);
});

const BOOK_THEN = 'book-then';

test.each([
  { behaviour: { do: 'drop' }, answer: 'none', booked: false },
  { behaviour: { do: 'garbage' }, answer: '200 undefined', booked: false },
  { behaviour: { do: BOOK_THEN, then: { do: 'drop' } }, answer: 'none', booked: true },
  { behaviour: { do: BOOK_THEN, then: { do: 'truncate' } }, answer: 'none', booked: true },
  {
    behaviour: { do: BOOK_THEN, then: { do: 'answer', status: 500 } },
    answer: '500 undefined',
    booked: true,
  },
  { behaviour: { do: BOOK_THEN, then: { do: 'drip', everyMs: 1 } }, answer: '200 APPROVED', booked: true },
] as const)(
  'a wallet with the behaviour $behaviour applies it once',
  async ({ behaviour, answer, booked }) => {
    const transactionId = JSON.stringify(behaviour);
    const scripted = wallet.next(behaviour, { transactionId });
    const another = { playerRef: transactionId };
    expect((await book(`not ${transactionId}`, another)).json['status']).toBe('APPROVED');
    const answered = await book(transactionId, another).then(
      ({ status, json }) => `${status} ${String(json['status'])}`,
      () => 'none',
    );
    expect(answered).toBe(answer);
    expect(await scripted.arrived).toBe(wallet.calls(transactionId)[0]);
    expect(wallet.booked(transactionId) !== undefined).toBe(booked);
    expect((await book(transactionId, another)).json).toMatchObject({ status: 'APPROVED', balance: 800 });
  },
);

test('a held call is booked when it is released', async () => {
  const held = wallet.next({ do: 'hold' }, { kind: 'WIN' });
  const answer = book('held', { kind: 'WIN' });
  await held.arrived;
  expect(wallet.booked('held')).toBeUndefined();
  held.release();
  expect((await answer).json['status']).toBe('APPROVED');
  expect(wallet.booked('held')).toMatchObject({ movements: 1 });
});

test('a permanent behaviour ends when it is withdrawn, and one for the next call comes before it', async () => {
  const outage = wallet.always({ do: 'answer', status: 503 });
  wallet.next({ do: 'decline', reason: 'LIMIT_REACHED' }, { transactionId: 'refused' });
  expect((await book('outage')).status).toBe(503);
  expect((await book('refused')).json).toMatchObject({ status: 'DECLINED', reason: 'LIMIT_REACHED' });
  outage.withdraw();
  expect((await book('outage')).status).toBe(200);
  expect((await book('refused')).json).toMatchObject({ status: 'DECLINED' });
});

test('the answers of two calls change places', async () => {
  wallet.next({ do: 'book-then', then: { do: 'swap' } }, { transactionId: 'swapped' });
  const swapped = book('swapped');
  await vi.waitFor(() => expect(wallet.booked('swapped')).toBeDefined(), PATIENCE);
  expect((await book('its-successor')).json).toMatchObject({ transactionId: 'swapped' });
  expect((await swapped).json).toMatchObject({ transactionId: 'its-successor' });
  expect((await book('another')).json).toMatchObject({ transactionId: 'another' });
});

test.each([
  { ending: 'when the next call has arrived', afterMs: undefined, named: ['first', 'first', 'second'] },
  { ending: 'after a time', afterMs: 1, named: ['first', 'first'] },
])('an answer is sent once more, $ending', async ({ afterMs, named }) => {
  const then = { do: 'reply-twice', ...(afterMs !== undefined && { afterMs }) } as const;
  wallet.next({ do: 'book-then', then }, { transactionId: 'first' });
  const { hostname, port } = new URL(wallet.baseUrl);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  await once(socket, 'connect');
  const names = () => [...received.matchAll(/"transactionId":"(\w+)"/g)].map(([, name]) => name);
  const send = (transactionId: string) => {
    const bet = { transactionId, providerId: 'a socket', kind: 'BET', amountMinor: 0, ...PLAYER };
    const body = JSON.stringify(bet);
    socket.write(
      `POST /wallet/transaction HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  };
  send('first');
  await vi.waitFor(() => expect(names()[0]).toBe('first'), PATIENCE);
  if (afterMs === undefined) send('second');
  await vi.waitFor(() => expect(names()).toEqual(named), PATIENCE);
  socket.destroy();
});

test('a provider grants, reports the remaining spins, and misbehaves if a test sets that', async () => {
  const platform = new PlatformClient(new URL(provider.baseUrl).origin);
  const call = (path: string, body: object) => platform.signed(OPERATOR, `/callbacks${path}`, body);
  provider.next({ do: 'answer', status: 422, body: { error: 'no' } }, { path: GRANT, requestRef: 'request' });
  expect((await call(GRANT, { requestRef: 'request', spins: 5 })).status).toBe(422);
  const { externalRef } = (await call(GRANT, { requestRef: 'request', spins: 5 })).json;
  expect((await call(STATUS, { externalRef })).json).toEqual({ remainingSpins: 5, completed: false });
  expect(provider.received.map(({ signatureOk }) => signatureOk)).toEqual([null, null, null]);
});
