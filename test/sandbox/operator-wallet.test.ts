import { signRequest } from '@croupier/provider-sdk';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CounterpartServer } from '../../src/sandbox/counterpart.server.js';
import { OperatorWalletServer } from '../../src/sandbox/operator-wallet.server.js';
import { PlatformClient } from '../../src/sandbox/platform-client.js';
import { temporaryFolder } from '../world/temporary-folder.js';

const OPERATOR = { id: 'operator', secret: 'the operator’s secret' };
const BET = {
  transactionId: 'bet',
  providerId: 'provider',
  kind: 'BET',
  playerRef: 'player',
  gameId: 'game',
  roundId: 'round',
  currency: 'EUR',
  amountMinor: 300,
};
const ROLLBACK = { ...BET, transactionId: 'rollback', kind: 'ROLLBACK', originalTransactionId: 'bet' };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let wallet: CounterpartServer;

async function startWallet(): Promise<void> {
  const log = () => undefined;
  wallet = await OperatorWalletServer.start({ tenantId: OPERATOR.id, folder: folder.path, port: 0, log });
  wallet.trust(OPERATOR.secret);
}

beforeEach(async () => {
  folder = await temporaryFolder();
  await startWallet();
});

afterEach(async () => {
  await wallet.stop();
  await folder.remove();
});

async function book(order: object): Promise<Record<string, unknown>> {
  const { status, json } = await call('/wallet/transaction', order);
  expect(status).toBe(200);
  return json;
}

async function balance(playerRef = 'player'): Promise<unknown> {
  return (await call('/wallet/balance', { playerRef, currency: 'EUR' })).json['balance'];
}

function call(path: string, body: object, secret = OPERATOR.secret) {
  return new PlatformClient(new URL(wallet.baseUrl).origin).signed({ ...OPERATOR, secret }, path, body);
}

describe('authentication', () => {
  test('a call that is signed with another secret is a 401 in plain text and books nothing', async () => {
    const answer = await call('/wallet/transaction', BET, 'another secret');
    expect([answer.status, answer.text]).toEqual([401, 'invalid signature']);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await balance()).toBe(100_000);
  });

  test('a nonce is accepted once', async () => {
    const body = JSON.stringify({ playerRef: 'player', currency: 'EUR' });
    const signature = signRequest({
      method: 'POST',
      path: '/wallet/balance',
      body,
      tenantId: OPERATOR.id,
      secret: OPERATOR.secret,
      nonce: 'a-nonce-of-its-own',
      now: Date.now() / 1000,
    });
    const request = { method: 'POST', headers: { ...signature }, body };
    expect((await fetch(`${wallet.baseUrl}/balance`, request)).status).toBe(200);
    expect((await fetch(`${wallet.baseUrl}/balance`, request)).status).toBe(401);
  });

  test('without a secret, every call is refused', async () => {
    await wallet.stop();
    const log = () => undefined;
    wallet = await OperatorWalletServer.start({ tenantId: OPERATOR.id, folder: folder.path, port: 0, log });
    expect((await call('/wallet/balance', { playerRef: 'player', currency: 'EUR' })).status).toBe(401);
  });
});

describe('the ledger', () => {
  test('a BET debits, a WIN credits, an ADJUSTMENT does either', async () => {
    expect(await book(BET)).toMatchObject({ status: 'APPROVED', balance: 99_700 });
    const win = { ...BET, transactionId: 'win', kind: 'WIN', amountMinor: 1000 };
    expect(await book(win)).toMatchObject({ status: 'APPROVED', balance: 100_700 });
    const ofNoGame = { gameId: undefined, roundId: undefined, providerId: 'platform' };
    const adjustment = { ...BET, ...ofNoGame, transactionId: 'adjustment', kind: 'ADJUSTMENT' };
    expect(await book({ ...adjustment, amountMinor: -100_701 })).toMatchObject({ balance: -1 });
  });

  test('the same id is booked once, also if it arrives a hundred times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => book(BET)));
    expect(new Set(answers.map((answer) => answer['operatorTransactionId'])).size).toBe(1);
    expect(answers.every((answer) => answer['status'] === 'APPROVED')).toBe(true);
    expect(await balance()).toBe(99_700);
  });

  test('the same id of another provider is another transaction', async () => {
    await book(BET);
    expect(await book({ ...BET, providerId: 'another' })).toMatchObject({ balance: 99_400 });
  });

  test('a declined transaction stays declined', async () => {
    const tooMuch = { ...BET, amountMinor: 100_001 };
    const refusal = { status: 'DECLINED', reason: 'INSUFFICIENT_FUNDS', balance: 100_000 };
    expect(await book(tooMuch)).toMatchObject(refusal);
    await book({ ...BET, transactionId: 'win', kind: 'WIN', amountMinor: 1 });
    expect(await book(tooMuch)).toMatchObject({ ...refusal, balance: 100_001 });
  });

  test('a blocked player may not bet, but still receives WINs', async () => {
    const blocked = { ...BET, playerRef: 'blocked-player' };
    expect(await book(blocked)).toMatchObject({ status: 'DECLINED', reason: 'PLAYER_BLOCKED' });
    expect(await book({ ...blocked, transactionId: 'win', kind: 'WIN' })).toMatchObject({
      status: 'APPROVED',
    });
  });

  test('a balance beyond 2^53−1 is refused', async () => {
    const win = { ...BET, kind: 'WIN', amountMinor: Number.MAX_SAFE_INTEGER };
    expect(await book(win)).toMatchObject({ status: 'DECLINED', reason: 'LIMIT_REACHED', balance: 100_000 });
  });

  test.each([
    ['a fraction', { amountMinor: 1.5 }],
    ['a negative BET', { amountMinor: -1 }],
    ['a lower-case currency', { currency: 'eur' }],
    ['an unknown kind', { kind: 'GIFT' }],
    ['a ROLLBACK without a target', { kind: 'ROLLBACK' }],
    ['no player', { playerRef: undefined }],
  ])('%s is a 400', async (_, change) => {
    expect((await call('/wallet/transaction', { ...BET, ...change })).status).toBe(400);
  });
});

test.each(['BET', 'WIN', 'ADJUSTMENT'])(
  'a %s of a player without an account is DECLINED at 0',
  async (kind) => {
    expect(await book({ ...BET, kind, playerRef: 'unknown-1' })).toMatchObject({
      status: 'DECLINED',
      reason: 'PLAYER_UNKNOWN',
      balance: 0,
    });
  },
);

describe('ROLLBACK', () => {
  test('returns the amount of the BET, whatever amount it names', async () => {
    await book(BET);
    expect(await book({ ...ROLLBACK, amountMinor: 0 })).toMatchObject({
      status: 'APPROVED',
      balance: 100_000,
    });
  });

  test('returns the amount once, whatever ids name the BET, also concurrently', async () => {
    await book(BET);
    const ids = Array.from({ length: 20 }, (_, index) => `rollback-${index}`);
    const answers = await Promise.all(ids.map((transactionId) => book({ ...ROLLBACK, transactionId })));
    expect(answers.every((answer) => answer['status'] === 'APPROVED')).toBe(true);
    expect(await balance()).toBe(100_000);
    expect(await book(BET)).toMatchObject({ status: 'APPROVED', balance: 100_000 });
  });

  test('of an unknown transaction is APPROVED, and a BET after it is DECLINED', async () => {
    expect(await book(ROLLBACK)).toMatchObject({ status: 'APPROVED', balance: 100_000 });
    expect(await book(BET)).toMatchObject({ status: 'DECLINED', reason: 'TRANSACTION_ROLLED_BACK' });
    expect(await balance()).toBe(100_000);
  });

  test('of a BET that was DECLINED moves nothing', async () => {
    await book({ ...BET, amountMinor: 100_001 });
    expect(await book(ROLLBACK)).toMatchObject({ status: 'APPROVED', balance: 100_000 });
  });

  test('of a WIN is DECLINED', async () => {
    await book({ ...BET, kind: 'WIN' });
    expect(await book(ROLLBACK)).toMatchObject({ status: 'DECLINED', reason: 'NOT_ROLLBACKABLE' });
  });
});

describe('a restart', () => {
  async function restart(): Promise<void> {
    await wallet.stop();
    await startWallet();
  }

  test('keeps balances, ids, reversals and tombstones', async () => {
    const kept = await book({ ...BET, transactionId: 'kept' });
    await book(BET);
    await book(ROLLBACK);
    await book({ ...ROLLBACK, transactionId: 'early', originalTransactionId: 'late' });
    await restart();
    expect(await balance()).toBe(99_700);
    expect(await book({ ...BET, transactionId: 'kept' })).toEqual(kept);
    expect(await book({ ...ROLLBACK, transactionId: 'again' })).toMatchObject({ balance: 99_700 });
    expect(await book({ ...BET, transactionId: 'late' })).toMatchObject({ status: 'DECLINED' });
  });

  test.each(['{"providerId":"provider","transactionId":"to', '{"torn":\n'])(
    'cuts off an incomplete last line: %j',
    async (torn) => {
      await book(BET);
      const file = join(folder.path, 'wallet.jsonl');
      const sound = await readFile(file, 'utf8');
      await appendFile(file, torn);
      await restart();
      expect(await readFile(file, 'utf8')).toBe(sound);
      expect(await book({ ...BET, transactionId: 'next' })).toMatchObject({ balance: 99_400 });
      await restart();
      expect(await balance()).toBe(99_400);
    },
  );

  test('refuses to start if a line in the middle cannot be read', async () => {
    await book(BET);
    await wallet.stop();
    const file = join(folder.path, 'wallet.jsonl');
    const sound = await readFile(file, 'utf8');
    await writeFile(file, `{"torn":\n${sound}`);
    await expect(startWallet()).rejects.toThrow('wallet.jsonl: line 1 cannot be read');
    await writeFile(file, sound);
    await startWallet();
  });
});
