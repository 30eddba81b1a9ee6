import {
  InvalidRequestError,
  NotConfiguredError,
  PlatformUnavailableError,
  ProviderClient,
  SessionInvalidError,
  SessionOfAnotherProviderError,
  SignatureRejectedError,
  TransactionInFlightError,
} from '@croupier/provider-sdk';
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FOREIGN_GAME, GAME, type LaunchedSession, PROVIDER, useWorld } from '../../test/world/world.js';

let client: ProviderClient;
let session: LaunchedSession;
const world = useWorld();
beforeAll(async () => {
  client = clientOf();
});
beforeEach(async () => {
  session = await world.launch();
});

function clientOf(changes: { secret?: string } = {}): ProviderClient {
  const secret = changes.secret ?? world.secrets.get(PROVIDER) ?? '';
  const clock = () => world.clock.now().getTime();
  return new ProviderClient({
    baseUrl: world.url,
    tenantId: PROVIDER,
    secret,
    clock,
    backoff: { baseDelayMs: 10 },
  });
}

const transaction = (changes: object = {}) => {
  const { sessionToken, playerRef, gameId, currency } = session;
  const ids = { transactionId: `t-${randomUUID()}`, roundId: `r-${randomUUID()}` };
  return { sessionToken, playerRef, gameId, currency, ...ids, amountMinor: 100, ...changes };
};

test('a session is verified', async () => {
  const { sessionId, playerRef } = session;
  expect(await client.verifySession(session)).toMatchObject({
    sessionId,
    playerRef,
    gameId: GAME,
    mode: 'REAL',
  });
});

test('a round is played: BET, WIN, another BET and its ROLLBACK', async () => {
  const { balance } = await client.getBalance(session);
  const bet = transaction();
  expect(await client.bet(bet)).toMatchObject({ status: 'APPROVED', balance: balance - 100 });
  const win = transaction({ roundId: bet.roundId, amountMinor: 250, roundClosed: true });
  expect(await client.win(win)).toMatchObject({ status: 'APPROVED', balance: balance + 150 });
  const undone = transaction();
  await client.bet(undone);
  const rollback = {
    ...transaction({ roundId: undone.roundId }),
    originalTransactionId: undone.transactionId,
  };
  expect(await client.rollback({ ...rollback, amountMinor: undefined })).toMatchObject({
    status: 'APPROVED',
  });
  expect(await client.getBalance(session)).toEqual({ balance: balance + 150 });
});

test('a DECLINED is an answer', async () => {
  world.wallet.next({ do: 'decline', reason: 'INSUFFICIENT_FUNDS' });
  expect(await client.bet(transaction())).toMatchObject({
    status: 'DECLINED',
    declineReason: 'INSUFFICIENT_FUNDS',
  });
});

describe('a refusal of the platform', () => {
  test('has the class of its error', async () => {
    const foreign = await world.launch({ gameId: FOREIGN_GAME });
    await expect(client.getBalance({ sessionToken: 'unknown' })).rejects.toBeInstanceOf(SessionInvalidError);
    await expect(client.getBalance(foreign)).rejects.toBeInstanceOf(SessionOfAnotherProviderError);
    await expect(client.verifySession({ sessionToken: '' })).rejects.toBeInstanceOf(InvalidRequestError);
    await expect(clientOf({ secret: 'wrong' }).getBalance(session)).rejects.toBeInstanceOf(
      SignatureRejectedError,
    );
    const mismatch = client.bet(transaction({ currency: 'USD' }));
    await expect(mismatch).rejects.toMatchObject({
      status: 400,
      code: 'SESSION_MISMATCH',
      nextAction: 'fix-request',
    });
    await expect(mismatch).rejects.toHaveProperty('requestId', expect.stringMatching(/^[0-9a-f-]{36}$/));
  });

  test('is a game that is disabled', async () => {
    const game = (status: string) =>
      world.admin('PUT', `/v1/admin/games/${GAME}`, { providerId: PROVIDER, name: GAME, status });
    await game('DISABLED');
    await expect(client.bet(transaction())).rejects.toBeInstanceOf(NotConfiguredError);
    await game('ACTIVE');
  });

  test('is another attempt while one is in flight; with retries it waits for the decision', async () => {
    const held = world.wallet.next({ do: 'hold' });
    const bet = transaction();
    const first = client.bet(bet);
    await held.arrived;
    await expect(client.bet(bet)).rejects.toBeInstanceOf(TransactionInFlightError);
    const waiting = client.bet(bet, { retry: true });
    held.release();
    expect(await first).toMatchObject({ status: 'APPROVED' });
    expect(await waiting).toEqual(await first);
  });
});

test('an operator’s wallet that fails once: a transaction is sent again, and booked once', async () => {
  const bet = transaction();
  world.wallet.next({ do: 'answer', status: 500 });
  await expect(client.bet(bet)).rejects.toBeInstanceOf(PlatformUnavailableError);
  world.wallet.next({ do: 'book-then', then: { do: 'drop' } });
  const { balance } = await client.bet(bet, { retry: true });
  expect(await client.getBalance(session)).toEqual({ balance });
});
