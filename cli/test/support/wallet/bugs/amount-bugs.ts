import { type Body, ok, type Reply } from '../../broken-server.js';
import { approved, type Change, correct, declined, type Order } from '../reference-wallet.js';
import type { WalletBug } from '../wallet-bug.js';

/** A wallet that keeps balances as floating-point numbers of major units. */
function floats(toMinor: (major: number) => number): Change {
  const majors = new Map<string, number>();
  return {
    load(account) {
      return toMinor((majors.get(account) ?? (this.accounts.get(account) ?? 0) / 100) * 100);
    },
    store(account, _, movedMinor) {
      const before = majors.get(account) ?? (this.accounts.get(account) ?? 0) / 100;
      majors.set(account, before + movedMinor / 100);
    },
  };
}

/** A wallet that changes amounts before it books them. */
const amounts =
  (change: (amountMinor: number) => number, kinds = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT']) =>
  (): Change => ({
    orderOf: (body) => {
      const order = body as Order;
      const isChanged = kinds.includes(order.kind);
      return isChanged ? { ...order, amountMinor: change(order.amountMinor) } : order;
    },
  });

/** A wallet without a check of bodies. */
const unchecked = (isUnchecked: (body: Record<string, unknown>) => boolean) => (): Change => ({
  defectOf(body) {
    return isUnchecked(body) ? undefined : correct.defectOf.call(this, body);
  },
});

/** A wallet that answers invalid bodies in its own way, if `answer` returns a reply. */
const invalid = (answer: (body: Body) => Reply | undefined) => (): Change => ({
  async serve(path, raw, request) {
    const reply = await correct.serve.call(this, path, raw, request);
    return (reply.status === 400 ? answer(this.bodyOf(raw) ?? {}) : undefined) ?? reply;
  },
});

/** The cases of transactions with an invalid or missing field. */
const INVALID_ORDERS = [
  'bet-negative-amount',
  'bet-fraction',
  'bet-incomplete',
  'bet-unknown-kind',
  'win-negative-amount',
  'win-amount-text',
];

export const AMOUNT_BUGS: WalletBug[] = [
  {
    bug: 'keeps balances as floating-point numbers and answers fractions',
    change: () => floats((minor) => minor),
    failsCases: ['balance-exact'],
  },
  {
    bug: 'keeps balances as floating-point numbers and cuts fractions',
    change: () => floats(Math.trunc),
    failsCases: ['balance-exact'],
  },
  {
    bug: 'keeps balances as floating-point numbers and rounds up',
    change: () => floats(Math.ceil),
    failsCases: ['balance-exact'],
  },
  {
    bug: 'keeps balances as floating-point numbers and rounds',
    change: () => floats(Math.round),
    failsCases: ['balance-largest'],
  },
  {
    bug: 'keeps balances in 32-bit floating-point numbers',
    change: () => ({
      store(account, beforeMinor, movedMinor) {
        this.accounts.set(account, Math.fround(beforeMinor + movedMinor));
      },
    }),
    failsCases: ['win-beyond-32-bit'],
  },
  {
    bug: 'converts amounts to major units and cuts fractions',
    change: amounts((minor) => Math.trunc((minor / 100) * 100)),
    failsCases: ['amount-exact'],
  },
  {
    bug: 'rounds amounts to tens',
    change: amounts((minor) => Math.round(minor / 10) * 10),
    failsCases: ['bet-booked', 'amount-each-unit'],
  },
  {
    bug: 'rounds amounts to major units',
    change: amounts((minor) => Math.round(minor / 100) * 100),
    failsCases: ['bet-booked', 'win-booked'],
  },
  {
    bug: 'cuts WINs to major units',
    change: amounts((minor) => Math.trunc(minor / 100) * 100, ['WIN']),
    failsCases: ['win-booked', 'amount-exact'],
  },
  {
    bug: 'takes a fee from each WIN',
    change: amounts((minor) => Math.max(0, minor - 1), ['WIN']),
    failsCases: ['win-booked'],
  },
  {
    bug: 'withholds a tax from large WINs',
    change: amounts((minor) => (minor > 1e8 ? Math.floor(minor * 0.8) : minor), ['WIN']),
    failsCases: ['win-beyond-32-bit'],
  },
  {
    bug: 'caps amounts at 2^31 - 1',
    change: amounts((minor) => Math.min(minor, 2 ** 31 - 1)),
    failsCases: ['win-beyond-32-bit'],
  },
  {
    bug: 'wraps at 32 bits',
    change: amounts((minor) => minor | 0),
    failsCases: ['win-beyond-32-bit', 'bet-largest-amount'],
  },
  {
    bug: 'wraps at 32 bits without a sign',
    change: amounts((minor) => minor % 2 ** 32),
    failsCases: ['win-beyond-32-bit'],
  },
  {
    bug: 'fails beyond 32 bits',
    change: () => ({
      book(order, request) {
        if (order.amountMinor > 2 ** 31) return Promise.resolve({ status: 500, body: '' });
        return correct.book.call(this, order, request);
      },
    }),
    failsCases: ['win-beyond-32-bit', 'bet-largest-amount'],
  },
  {
    bug: 'fails if a balance exceeds twelve digits',
    change: () => ({
      book(order, request) {
        if (order.amountMinor > 1e12) return Promise.resolve({ status: 500, body: '' });
        return correct.book.call(this, order, request);
      },
    }),
    failsCases: ['balance-largest', 'bet-largest-amount'],
  },
  {
    bug: 'takes negative BETs',
    change: unchecked(({ kind, amountMinor }) => kind === 'BET' && Number(amountMinor) < 0),
    failsCases: ['bet-negative-amount'],
  },
  {
    bug: 'takes negative WINs',
    change: unchecked(({ kind, amountMinor }) => kind === 'WIN' && Number(amountMinor) < 0),
    failsCases: ['win-negative-amount'],
  },
  {
    bug: 'takes the sign from negative BETs',
    change: () => ({ ...unchecked(() => true)(), ...amounts(Math.abs, ['BET'])() }),
    failsCases: ['bet-negative-amount'],
  },
  {
    bug: 'rounds fractions',
    change: () => ({
      ...unchecked(({ amountMinor }) => typeof amountMinor === 'number')(),
      ...amounts(Math.round)(),
    }),
    failsCases: ['bet-fraction'],
  },
  {
    bug: 'appends an amount that is a text',
    change: () => ({
      ...unchecked(({ amountMinor }) => typeof amountMinor === 'string')(),
      store(account, beforeMinor, movedMinor) {
        this.accounts.set(
          account,
          Number(
            typeof movedMinor === 'string' ? `${beforeMinor}${String(movedMinor)}` : beforeMinor + movedMinor,
          ),
        );
      },
      credit: ({ amountMinor }) => approved(amountMinor),
    }),
    failsCases: ['win-amount-text'],
  },
  {
    bug: 'takes an amount that is a text for its number',
    change: () => ({
      ...unchecked(({ amountMinor }) => typeof amountMinor === 'string')(),
      ...amounts(Number)(),
    }),
    failsCases: ['win-amount-text'],
  },
  {
    bug: 'answers 422 to an invalid body',
    change: invalid(() => ({ status: 422, body: '' })),
    failsCases: [...INVALID_ORDERS, 'balance-malformed', 'bet-malformed'],
  },
  {
    bug: 'fails at an invalid transaction',
    change: invalid(({ transactionId }) =>
      transactionId === undefined ? undefined : { status: 500, body: '' },
    ),
    failsCases: INVALID_ORDERS,
  },
  {
    bug: 'declines an invalid transaction',
    change: invalid(({ transactionId }) =>
      transactionId === undefined ? undefined : ok({ transactionId, status: 'DECLINED', balance: 5_000 }),
    ),
    failsCases: INVALID_ORDERS,
  },
  {
    bug: 'takes a missing amount for 0',
    change: () => ({
      ...unchecked(({ amountMinor }) => amountMinor === undefined)(),
      ...amounts((minor) => minor ?? 0)(),
    }),
    failsCases: ['bet-incomplete'],
  },
  {
    bug: 'takes any kind for a BET',
    change: () => ({
      ...unchecked(({ amountMinor }) => Number(amountMinor) >= 0.5)(),
      orderOf: (body) => ({
        ...(body as Order),
        kind: ['WIN', 'ROLLBACK', 'ADJUSTMENT'].includes(String(body['kind'])) ? String(body['kind']) : 'BET',
      }),
    }),
    failsCases: ['bet-unknown-kind'],
  },
  {
    bug: 'takes at least 0.10 for a BET',
    change: () => ({
      judgeBet(order) {
        return order.amountMinor > 0 && order.amountMinor < 10
          ? declined('LIMIT_REACHED')
          : correct.judgeBet.call(this, order);
      },
    }),
    failsCases: ['amount-each-unit'],
  },
  {
    bug: 'answers the balance as a text',
    change: () => ({ readBalance: (account) => account }),
    failsCases: ['balance-answered'],
  },
  {
    bug: 'answers the balance in major units',
    change: () => ({
      readBalance(account) {
        return this.load(account) / 100;
      },
    }),
    failsCases: ['balance-after-booking'],
  },
  {
    bug: 'answers no balance if it is negative',
    change: () => ({
      answerBalance(body, request) {
        const isNegative = this.load(this.accountOf(String(body['playerRef']), String(body['currency']))) < 0;
        return isNegative
          ? Promise.resolve({ status: 500, body: '' })
          : correct.answerBalance.call(this, body, request);
      },
    }),
    failsCases: ['negative-balance'],
  },
  {
    bug: 'shows a negative balance as 0',
    change: () => ({
      shownBalance(order) {
        return Math.max(0, this.load(this.accountOfOrder(order)));
      },
      readBalance(account) {
        return Math.max(0, this.load(account));
      },
    }),
    failsCases: ['negative-balance'],
  },
  {
    bug: 'takes a fee for a balance call',
    change: () => ({
      readBalance(account) {
        this.accounts.set(account, this.load(account) - 1);
        return this.load(account);
      },
    }),
    failsCases: ['balance-repeated', 'balance-at-once'],
  },
  {
    bug: 'answers the balance before the transaction',
    change: () => ({
      shownBalance(order, { movedMinor }, isRepeated) {
        return this.load(this.accountOfOrder(order)) - (isRepeated ? 0 : movedMinor);
      },
    }),
    failsCases: ['bet-booked', 'win-booked', 'balance-in-answers'],
  },
  {
    bug: 'answers a ROLLBACK with the balance before it',
    change: () => ({
      shownBalance(order, { movedMinor }, isRepeated) {
        const isOld = order.kind === 'ROLLBACK' && !isRepeated;
        return this.load(this.accountOfOrder(order)) - (isOld ? movedMinor : 0);
      },
    }),
    failsCases: ['rollback-reverses', 'balance-in-answers'],
  },
  {
    bug: 'answers the balance 0 with DECLINED',
    change: () => ({
      shownBalance(order, { status }) {
        return status === 'DECLINED' ? 0 : this.load(this.accountOfOrder(order));
      },
    }),
    failsCases: ['bet-insufficient-funds', 'balance-in-answers'],
  },
  {
    bug: 'deducts a repeated BET from the balance that it answers',
    change: () => ({
      shownBalance(order, { movedMinor }, isRepeated) {
        return this.load(this.accountOfOrder(order)) + (isRepeated ? movedMinor : 0);
      },
    }),
    failsCases: ['balance-in-repetitions'],
  },
  {
    bug: 'answers no balance with DECLINED',
    change: () => ({
      answer(order, booking, isRepeated, request) {
        return booking.status === 'DECLINED'
          ? ok({ transactionId: order.transactionId, status: 'DECLINED' })
          : correct.answer.call(this, order, booking, isRepeated, request);
      },
    }),
    failsCases: ['bet-insufficient-funds'],
  },
];
