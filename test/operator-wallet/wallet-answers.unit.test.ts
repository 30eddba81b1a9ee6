import { describe, expect, test } from 'vitest';
import { balanceIn, decisionIn } from '../../src/operator-wallet/wallet-answers.js';
import type { MovementRequest } from '../../src/operator-wallet/operator-wallet.js';
import type { CallOutcome } from '../../src/outbound/answer.js';

const ID = 'bet-1';
const MOVEMENT = { transactionId: ID } as MovementRequest;
const PLAYER = { playerRef: 'player-1', currency: 'EUR' };

const answered = (body: unknown, status = 200): CallOutcome => ({
  kind: 'answered',
  status,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});
const decision = (fields: object) =>
  decisionIn(answered({ transactionId: ID, status: 'APPROVED', balance: 1, ...fields }), MOVEMENT);

/** What no wallet may answer as a balance. */
const NO_BALANCES = [undefined, null, '1', 1.5, 2 ** 53, -(2 ** 53), true, [1]];
const NO_BALANCE = 'the answer lacks an integer balance within ±(2^53 − 1)';
const unavailable = (detail: string, outcome: CallOutcome) => ({
  kind: 'unknown',
  cause: 'unavailable',
  detail,
  received: { status: (outcome as { status: number }).status, body: (outcome as { body: Buffer }).body },
});

describe('a decision', () => {
  test('counts if it names its transaction', () => {
    expect(decision({})).toEqual({ kind: 'decided', status: 'APPROVED', balance: 1 });
  });

  test.each([
    ['DECLINED', 0],
    ['APPROVED', -5],
    ['APPROVED', Number.MAX_SAFE_INTEGER],
    ['DECLINED', Number.MIN_SAFE_INTEGER],
  ])('is %s with the balance %d', (status, balance) => {
    expect(decision({ status, balance })).toEqual({ kind: 'decided', status, balance });
  });

  test.each([undefined, null, '', 'approved', 'PENDING', 1])('has no other status: %j', (status) => {
    const outcome = answered({ transactionId: ID, status, balance: 1 });
    expect(decisionIn(outcome, MOVEMENT)).toEqual(
      unavailable('the answer lacks the status APPROVED or DECLINED', outcome),
    );
  });

  test.each(NO_BALANCES)('has a balance, and not %j', (balance) => {
    const outcome = answered({ transactionId: ID, status: 'APPROVED', balance });
    expect(decisionIn(outcome, MOVEMENT)).toEqual(unavailable(NO_BALANCE, outcome));
  });

  test.each<[unknown, string | undefined]>([
    ['card expired', 'card expired'],
    ['a\u0000b', 'a\uFFFDb'],
    ['a\ud800b', 'a\uFFFDb'],
    ['x'.repeat(201), 'x'.repeat(200)],
    ['', undefined],
    [7, undefined],
    [null, undefined],
    [['card expired'], undefined],
  ])('that names the reason %j has the reason %j', (sent, reason) => {
    expect(decision({ status: 'DECLINED', reason: sent })).toEqual({
      kind: 'decided',
      status: 'DECLINED',
      balance: 1,
      ...(reason !== undefined && { reason }),
    });
  });

  test.each(['', 'no JSON', '[]', '"text"', 'null', '{"transactionId":"bet-1"'])(
    'is a JSON object, and not %j',
    (body) => {
      const outcome = answered(body);
      expect(decisionIn(outcome, MOVEMENT)).toEqual({
        ...unavailable('the answer is not a JSON object', outcome),
        unreadable: true,
      });
    },
  );

  test.each([201, 302, 404, 500, 503])('has the status 200, and not %d', (status) => {
    for (const body of [
      '',
      'busy',
      { error: 'busy' },
      { transactionId: ID, status: 'APPROVED', balance: 1 },
    ]) {
      const outcome = answered(body, status);
      expect(decisionIn(outcome, MOVEMENT)).toEqual(unavailable(`the wallet answered ${status}`, outcome));
    }
  });

  test.each<[string, unknown, string]>([
    ['another id', 'bet-2', 'transactionId "bet-2" instead of "bet-1"'],
    ['the id in another case', 'BET-1', 'transactionId "BET-1" instead of "bet-1"'],
    ['the id with a blank', 'bet-1 ', 'transactionId "bet-1 " instead of "bet-1"'],
    ['a number', 1, 'transactionId 1 instead of "bet-1"'],
    ['null', null, 'transactionId null instead of "bet-1"'],
    ['a truth value', true, 'transactionId true instead of "bet-1"'],
    ['a list', ['bet-1'], 'transactionId a list instead of "bet-1"'],
    ['an object', {}, 'transactionId an object instead of "bet-1"'],
    ['nothing', undefined, 'no transactionId instead of "bet-1"'],
  ])('is misdirected if it names %s', (_, transactionId, named) => {
    expect(decision({ transactionId })).toMatchObject({
      kind: 'unknown',
      cause: 'unavailable',
      misdirected: true,
      detail: `the answer does not name this call: ${named}`,
      received: { status: 200 },
    });
  });

  test('is misdirected if it names a value that is nested too deeply to print', () => {
    const nested = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const body = `{"transactionId":${nested},"status":"APPROVED","balance":1}`;
    expect(decisionIn(answered(body), MOVEMENT)).toMatchObject({
      misdirected: true,
      detail: 'the answer does not name this call: transactionId a list instead of "bet-1"',
    });
  });

  test('has a bounded detail without control characters', () => {
    const { detail = '' } = decision({ transactionId: `\u0000\u001b${'x'.repeat(5_000)}` });
    expect(detail.length).toBeLessThan(300);
    expect(detail).not.toMatch(/\p{Cc}/u);
  });

  test('is misdirected with any status if it names another transaction', () => {
    expect(decisionIn(answered({ transactionId: 'bet-2', error: 'busy' }, 503), MOVEMENT)).toMatchObject({
      misdirected: true,
      detail: 'the answer does not name this call: transactionId "bet-2" instead of "bet-1"',
    });
  });

  test('is not misdirected if it is no answer at all', () => {
    expect(decisionIn(answered({}, 503), MOVEMENT)).not.toHaveProperty('misdirected');
    expect(decisionIn(answered({ transactionId: null }, 503), MOVEMENT)).not.toHaveProperty('misdirected');
    expect(decisionIn(answered({ transactionId: ID }, 503), MOVEMENT)).toMatchObject({
      detail: 'the wallet answered 503',
    });
    expect(decisionIn(answered('no JSON'), MOVEMENT)).not.toHaveProperty('misdirected');
  });

  test('with a Content-Encoding is no answer', () => {
    const encoded = { ...answered({ transactionId: ID, status: 'APPROVED', balance: 1 }), encoding: 'br' };
    expect(decisionIn(encoded, MOVEMENT)).toEqual({
      ...unavailable('the answer has the Content-Encoding "br", which is not read', encoded),
      unreadable: true,
    });
    const failed = { ...answered('', 503), encoding: 'br' };
    expect(decisionIn(failed, MOVEMENT)).not.toHaveProperty('unreadable');
  });
});

describe('operatorTransactionId', () => {
  test.each<[string, unknown, string]>([
    ['a text', 'w-1', 'w-1'],
    ['200 characters beyond the basic plane', '😀'.repeat(200), '😀'.repeat(200)],
    ['an integer', 88121, '88121'],
    ['a negative integer', -5, '-5'],
    ['control characters, as they are', 'a\u0007\n\u202eb', 'a\u0007\n\u202eb'],
    ['NUL, which is replaced', 'a\u0000b', 'a\uFFFDb'],
    ['a lone surrogate, which is replaced', 'a\ud800b', 'a\uFFFDb'],
  ])('is %s', (_, sent, kept) => {
    const answer = decision({ operatorTransactionId: sent });
    expect(answer).toMatchObject({ kind: 'decided', operatorTransactionId: kept });
    expect(answer).not.toHaveProperty('detail');
  });

  test.each(['9007199254740993', '18446744073709551615', '-9223372036854775808'])(
    'keeps all digits of %s',
    (digits) => {
      const body = `{"transactionId":"${ID}","status":"APPROVED","balance":1,"operatorTransactionId":${digits}}`;
      expect(decisionIn(answered(body), MOVEMENT)).toMatchObject({ operatorTransactionId: digits });
    },
  );

  test.each<[string, unknown]>([
    ['an empty text', ''],
    ['201 characters', 'x'.repeat(201)],
    ['a fraction', 1.5],
    ['null', null],
    ['an object', {}],
    ['a truth value', true],
  ])('is ignored if it is %s, and the detail says so', (_, operatorTransactionId) => {
    expect(decision({ operatorTransactionId })).toEqual({
      kind: 'decided',
      status: 'APPROVED',
      balance: 1,
      detail: 'operatorTransactionId is ignored: it is neither a text of 1 to 200 characters nor an integer',
    });
  });
});

describe('a balance', () => {
  test.each(NO_BALANCES)('is an integer, and not %j', (balance) => {
    const outcome = answered({ ...PLAYER, balance });
    expect(balanceIn(outcome, PLAYER)).toEqual(unavailable(NO_BALANCE, outcome));
  });

  test('counts if it names its player and currency', () => {
    expect(balanceIn(answered({ ...PLAYER, balance: -7 }), PLAYER)).toEqual({ kind: 'known', balance: -7 });
  });

  test.each<[object, string]>([
    [{ playerRef: 'player-2' }, 'playerRef "player-2" instead of "player-1"'],
    [{ currency: 'USD' }, 'currency "USD" instead of "EUR"'],
    [{ currency: undefined }, 'no currency instead of "EUR"'],
    [
      { playerRef: undefined, currency: undefined },
      'no playerRef instead of "player-1", no currency instead of "EUR"',
    ],
  ])('is misdirected with %o', (fields, named) => {
    expect(balanceIn(answered({ ...PLAYER, balance: 1, ...fields }), PLAYER)).toMatchObject({
      kind: 'unknown',
      misdirected: true,
      detail: `the answer does not name this call: ${named}`,
    });
  });
});

describe.each([
  ['a decision', (outcome: CallOutcome) => decisionIn(outcome, MOVEMENT)],
  ['a balance', (outcome: CallOutcome) => balanceIn(outcome, PLAYER)],
])('%s that did not arrive is unknown', (_, answerIn) => {
  const received = { status: 200, body: Buffer.from('{"trans') };
  const detail = 'ECONNRESET';
  test.each<[CallOutcome, object]>([
    [
      { kind: 'timeout', detail },
      { cause: 'timeout', noHttpAnswer: true, detail },
    ],
    [
      { kind: 'timeout', detail, notSent: true },
      { cause: 'timeout', noHttpAnswer: true, detail, notSent: true },
    ],
    [
      { kind: 'timeout', detail, received },
      { cause: 'timeout', noHttpAnswer: true, detail, received },
    ],
    [
      { kind: 'failed', detail, answered: false },
      { cause: 'unavailable', noHttpAnswer: true, detail },
    ],
    [
      { kind: 'failed', detail, answered: false, notSent: true },
      { cause: 'unavailable', noHttpAnswer: true, detail, notSent: true },
    ],
    [
      { kind: 'failed', detail, answered: false, received },
      { cause: 'unavailable', noHttpAnswer: true, detail, received },
    ],
    [
      { kind: 'failed', detail, answered: true, received },
      { cause: 'unavailable', detail, received },
    ],
  ])('%j', (outcome, unknown) => {
    expect(answerIn(outcome)).toEqual({ kind: 'unknown', ...unknown });
  });
});

test("the system's own message stays apart, because it may name hosts", () => {
  const failed = { kind: 'failed', answered: false, detail: 'ENOTFOUND (getaddrinfo)' } as const;
  const unknown = { kind: 'unknown', cause: 'unavailable', detail: failed.detail, noHttpAnswer: true };
  const systemMessage = 'getaddrinfo ENOTFOUND wallet.example';
  expect(decisionIn({ ...failed, systemMessage }, MOVEMENT)).toEqual({ ...unknown, systemMessage });
  expect(decisionIn(failed, MOVEMENT)).toEqual(unknown);
});
