import { describe, expect, test } from 'vitest';
import { adviceForRound } from '../../src/desk/rounds/round-advice.js';
import type { BetsAndWinsResponse } from '../../src/desk/rounds/round.admin.response.js';
import { isOpen, type RoundTransaction, sumsOf } from '../../src/desk/rounds/round-sums.js';

const APPROVED: RoundTransaction = {
  transactionId: 'bet',
  kind: 'BET',
  winKind: null,
  state: 'APPROVED',
  amountMinor: 100,
  currency: 'EUR',
  roundClosed: null,
  originalTransactionId: null,
  ownVerdict: false,
  reported: 'APPROVED',
};
const bet = (fields: Partial<RoundTransaction> = {}) => ({ ...APPROVED, ...fields });
const win = (fields: Partial<RoundTransaction> = {}) =>
  bet({ transactionId: 'win', kind: 'WIN', amountMinor: 30, ...fields });
const undo = (fields: Partial<RoundTransaction> = {}) =>
  bet({ transactionId: 'undo', kind: 'ROLLBACK', originalTransactionId: 'bet', ...fields });
const TIMED_OUT = { state: 'TIMED_OUT', reported: 'OPERATOR_TIMED_OUT' } as const;
const tombstone = bet({ kind: null, state: 'ROLLED_BACK', reported: null });

const NOTHING = sums(0, 0);

function sums(betMinor: number, winMinor: number): BetsAndWinsResponse {
  return { betMinor, winMinor, netMinor: winMinor - betMinor };
}

describe('the sums of', () => {
  test.each<[string, RoundTransaction[], BetsAndWinsResponse, BetsAndWinsResponse, BetsAndWinsResponse]>([
    ['a BET', [bet()], sums(100, 0), sums(100, 0), NOTHING],
    [
      'BETs and WINs',
      [bet(), bet({ transactionId: 'b', amountMinor: 5 }), win()],
      sums(105, 30),
      sums(105, 30),
      NOTHING,
    ],
    ['a DECLINED BET', [bet({ state: 'DECLINED', reported: 'DECLINED' })], NOTHING, NOTHING, NOTHING],
    ['an undecided BET', [bet(TIMED_OUT)], NOTHING, NOTHING, sums(100, 0)],
    ['a BET under way', [bet({ state: 'PENDING', reported: null })], NOTHING, NOTHING, sums(100, 0)],
    ['an undecided WIN', [bet(), win(TIMED_OUT)], sums(100, 0), sums(100, 0), sums(0, 30)],
    [
      'a WIN that the resolver decided',
      [bet(), win({ reported: 'OPERATOR_UNAVAILABLE' })],
      sums(100, 0),
      sums(100, 30),
      NOTHING,
    ],
    ['a BET that is rolled back', [bet({ state: 'ROLLED_BACK' }), undo()], NOTHING, NOTHING, NOTHING],
    [
      'a BET whose ROLLBACK is undecided',
      [bet(), undo(TIMED_OUT)],
      sums(100, 0),
      sums(100, 0),
      sums(-100, 0),
    ],
    [
      'an undecided BET whose ROLLBACK is undecided',
      [bet(TIMED_OUT), undo(TIMED_OUT)],
      NOTHING,
      NOTHING,
      sums(100, 0),
    ],
    [
      'a BET whose ROLLBACK the resolver decided',
      [bet({ state: 'ROLLED_BACK' }), undo({ reported: 'OPERATOR_TIMED_OUT' })],
      sums(100, 0),
      NOTHING,
      NOTHING,
    ],
    [
      'a BET that the platform ended, of which the provider received a 500',
      [bet({ state: 'ROLLED_BACK', reported: 'OPERATOR_TIMED_OUT' }), undo({ reported: null })],
      NOTHING,
      NOTHING,
      NOTHING,
    ],
    [
      'a verdict of our own whose balance is not read',
      [bet(), undo({ ...TIMED_OUT, ownVerdict: true })],
      sums(100, 0),
      sums(100, 0),
      NOTHING,
    ],
    ['a tombstone', [tombstone, undo()], NOTHING, NOTHING, NOTHING],
  ])('%s', (_, transactions, told, operator, unknown) => {
    expect(sumsOf(transactions)).toEqual([{ currency: 'EUR', told, operator, unknown }]);
  });

  test('several currencies are kept apart', () => {
    expect(sumsOf([bet({ currency: 'USD' }), win()])).toMatchObject([
      { currency: 'EUR', operator: sums(0, 30) },
      { currency: 'USD', operator: sums(100, 0) },
    ]);
  });

  test('amounts are left out if a number cannot represent them exactly', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const bets = [bet({ amountMinor: most }), bet({ transactionId: 'b', amountMinor: most })];
    expect(sumsOf(bets)[0]?.operator).toEqual({ winMinor: 0 });
    const wins = [win({ amountMinor: most }), win({ transactionId: 'w', amountMinor: most - 1 })];
    expect(sumsOf([...bets, ...wins])[0]?.operator).toEqual({ netMinor: -1 });
  });
});

test.each<[boolean, string, RoundTransaction[]]>([
  [true, 'an APPROVED BET', [bet()]],
  [true, 'an undecided WIN', [bet(), win(TIMED_OUT)]],
  [
    true,
    'one of two BETs that is rolled back',
    [bet({ state: 'ROLLED_BACK' }), undo(), bet({ transactionId: 'b' })],
  ],
  [true, 'a PROMOTION', [bet(), win({ winKind: 'PROMOTION' })]],
  [false, 'a WIN', [bet(), win()]],
  [false, 'a JACKPOT', [bet(), win({ winKind: 'JACKPOT' })]],
  [false, 'a BET that closes it', [bet({ roundClosed: true })]],
  [false, 'only an undecided BET', [bet(TIMED_OUT)]],
  [false, 'its only BET rolled back', [bet({ state: 'ROLLED_BACK' }), undo()]],
  [false, 'a DECLINED BET', [bet({ state: 'DECLINED' })]],
])('open is %s for a round with %s', (open, _, transactions) => {
  expect(isOpen(transactions)).toBe(open);
});

describe('the advice for a round', () => {
  const advised = (transactionId: string, action: 'none' | 'wait' | 'resolve' | 'contact-operator') => ({
    transactionId,
    kind: 'WIN',
    advice: { action, text: 'Doubt.' },
  });

  test('is that of the transaction that needs a person most', () => {
    const transactions = [
      advised('a', 'wait'),
      advised('b', 'none'),
      advised('c', 'resolve'),
      advised('d', 'resolve'),
    ];
    expect(adviceForRound(transactions, [], true)).toEqual({
      action: 'resolve',
      text: 'WIN c: Doubt. Other transactions of the round that need attention: 2.',
    });
    expect(adviceForRound([...transactions, advised('e', 'contact-operator')], [], true).action).toBe(
      'contact-operator',
    );
  });

  test('shows the moved amounts as money if there is nothing to do', () => {
    const settled = sumsOf([bet({ amountMinor: 250 }), win({ amountMinor: 1000, currency: 'JPY' })]);
    expect(adviceForRound([advised('a', 'none')], settled, false)).toEqual({
      action: 'none',
      text: 'The operator debited 2.50 EUR, credited 1000 JPY. All transactions are decided.',
    });
    expect(adviceForRound([], sumsOf([tombstone]), false).text).toBe(
      'No money moved. All transactions are decided.',
    );
  });

  test.each([
    ['a BET', [bet()], 'The operator debited 1.00 EUR.'],
    [
      'a PROMOTION, which settles no round',
      [bet(), win({ winKind: 'PROMOTION' })],
      'The operator debited 1.00 EUR, credited 0.30 EUR.',
    ],
  ])('says why a round with %s is open', (_, transactions, movements) => {
    expect(adviceForRound([], sumsOf(transactions), isOpen(transactions)).text).toBe(
      `${movements} The round is open: no WIN that settles it is APPROVED, and the provider has not closed the round.`,
    );
  });
});
