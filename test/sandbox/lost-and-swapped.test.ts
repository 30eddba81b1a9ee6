import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { rulesOf, setRules, startCounterparts } from './counterparts.js';
import { PATIENCE } from '../world/patience.js';

const START_MINOR = 100_000;
/** How long a caller waits for an answer that does not come, in milliseconds: long enough for its call to arrive. */
const TIMEOUT_MS = 1_500;

let counterparts: Awaited<ReturnType<typeof startCounterparts>>;

beforeEach(async () => {
  counterparts = await startCounterparts('the secret');
});
afterEach(() => counterparts.stop());

const fault = (rule: object) => setRules(counterparts.walletOrigin, rule);
const bet = (transactionId: string, fields: Record<string, unknown> = {}) =>
  counterparts.bet(transactionId, fields);
const timedOut = expect.objectContaining({ name: 'TimeoutError' });
const approved = { status: 200, text: expect.stringContaining('APPROVED') };

describe('lose-the-call', () => {
  test('neither books a transaction nor answers it', async () => {
    await fault({ fault: 'lose-the-call', on: 'BET' });
    await expect(bet('one', { timeoutMs: TIMEOUT_MS })).rejects.toEqual(timedOut);
    expect(await counterparts.balance()).toBe(START_MINOR);
    expect(await bet('one')).toMatchObject(approved);
    expect(await counterparts.balance()).toBe(START_MINOR - 100);
  });

  test('loses a call for the balance', async () => {
    await fault({ fault: 'lose-the-call', on: 'balance' });
    await expect(counterparts.balance('player', TIMEOUT_MS)).rejects.toEqual(timedOut);
    expect(await counterparts.balance()).toBe(START_MINOR);
  });
});

describe('book-late', () => {
  const late = () => bet('one', { timeoutMs: TIMEOUT_MS });
  const bookedLate = () =>
    vi.waitFor(async () => expect(await counterparts.balance()).toBe(START_MINOR - 100), PATIENCE);

  test('books after the caller has given up', async () => {
    await fault({ fault: 'book-late', ms: 50 });
    // Long enough to read the balance before the caller gives up.
    const call = bet('one', { timeoutMs: 3_000 });
    await vi.waitFor(
      async () => expect(await rulesOf(counterparts.walletOrigin)).toMatchObject([{ applied: 1 }]),
      PATIENCE,
    );
    expect(await counterparts.balance()).toBe(START_MINOR);
    await expect(call).rejects.toEqual(timedOut);
    await bookedLate();
    expect(await bet('one')).toMatchObject(approved);
    expect(await counterparts.balance()).toBe(START_MINOR - 100);
  });

  test('declines what was rolled back in the meantime', async () => {
    await fault({ fault: 'book-late', on: 'BET', ms: 2_000 });
    await expect(late()).rejects.toEqual(timedOut);
    const rollback = { kind: 'ROLLBACK', originalTransactionId: 'one' };
    expect(await bet('undo', rollback)).toMatchObject(approved);
    await vi.waitFor(async () => expect(await statementLines('one')).toHaveLength(1), PATIENCE);
    expect(await statementLines('one')).toEqual([expect.stringContaining(',DECLINED,')]);
    expect(await counterparts.balance()).toBe(START_MINOR);
  });

  test('is dropped if the wallet stops before it', async () => {
    await fault({ fault: 'book-late', ms: 60_000 });
    await expect(late()).rejects.toEqual(timedOut);
    await counterparts.wallet.stop();
  });
});

/** The lines of the statement with this transaction id. */
async function statementLines(transactionId: string): Promise<string[]> {
  const response = await fetch(`${counterparts.walletOrigin}/sandbox/statement`);
  return (await response.text())
    .split('\r\n')
    .filter((line) => line.startsWith(`provider,${transactionId},`));
}

describe('answers-swapped', () => {
  const named = ({ text }: { text: string }) => (JSON.parse(text) as { transactionId: string }).transactionId;

  test('swaps the answers of two calls under way; both are booked', async () => {
    await fault({ fault: 'answers-swapped', on: 'BET', times: 2 });
    expect((await Promise.all([bet('one'), bet('two')])).map(named)).toEqual(['two', 'one']);
    expect(await counterparts.balance()).toBe(START_MINOR - 200);
    expect(named(await bet('one'))).toBe('one');
  });

  test('follows the answer to a single call with one of an earlier call', async () => {
    expect(named(await bet('one'))).toBe('one');
    await fault({ fault: 'answers-swapped', on: 'BET' });
    const socket = connect(Number(new URL(counterparts.walletOrigin).port), '127.0.0.1');
    socket.write(counterparts.rawBet('two'));
    let received = '';
    for await (const chunk of socket.setEncoding('utf8')) {
      received += String(chunk);
      if ((received.match(/"transactionId"/g) ?? []).length === 2) break;
    }
    expect(received.match(/"transactionId":"\w+"/g)).toEqual([
      '"transactionId":"two"',
      '"transactionId":"one"',
    ]);
  });
});
