import type { WalletCaller } from '../../caller.js';
import { bookFirst, expectBalance, expectBooked, setBalance } from '../../expectations.js';
import { RULES } from '../../rules.js';
import type { WalletCase } from '../wallet-case.js';

/**
 * In minor units. As major units these have no exact floating-point number: `x / 100 * 100` is a little less or more for
 * some, and sums such as 0.1 + 0.2 or 1.1 * 100 are, too.
 */
const INEXACT_BALANCES = [29, 57, 58, 110, 113, 115, 201, 1_001, 1_013, 1_999, 3_330, 7_007, 8_190_901];
const INEXACT_AMOUNTS = [20, 1, 3, 7, 10, 29, 57, 70, 110, 115, 1_001, 1_013, 1_999, 33_333];
const SMALL_AMOUNTS = [1, 2, 5, 9, 11, 49, 50, 51, 99, 101];
/** A balance of 0.10, at which adding 0.20 is not 0.30. */
const TENTH_MINOR = 10;
/** Odd steps down from the largest balance: near it, floating-point major units are more than a minor unit apart. */
const LARGE_STEPS = [1, 3, 7, 29];

export const AMOUNT_CASES: WalletCase[] = [
  {
    id: 'amount-each-unit',
    title: 'books amounts of a few minor units exactly',
    rule: RULES.exact,
    run: (caller) => bookInTurn(caller, SMALL_AMOUNTS),
  },
  {
    id: 'balance-exact',
    title: 'keeps balances exactly that no floating-point number of major units holds',
    rule: RULES.exact,
    run: async (caller) => {
      for (const balance of INEXACT_BALANCES) {
        await reach(caller, balance);
        expectBalance(await caller.readBalance(), balance, 'after the ADJUSTMENT');
        await expectBooked(caller, caller.bet({ amountMinor: balance }), 0);
        await expectBooked(caller, caller.win({ amountMinor: balance }), balance);
      }
    },
  },
  {
    id: 'amount-exact',
    title: 'adds and deducts amounts exactly that no floating-point number of major units holds',
    rule: RULES.exact,
    run: async (caller) => {
      await reach(caller, TENTH_MINOR);
      await bookInTurn(caller, INEXACT_AMOUNTS);
    },
  },
  {
    id: 'balance-largest',
    title: 'books a WIN up to the balance of 2^53-1 exactly, or declines it',
    rule: RULES.exact,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const before = await caller.balance();
      const win = caller.win({ roundId, amountMinor: Number.MAX_SAFE_INTEGER - before });
      const { status, balance } = await caller.decide(win);
      if (status === 'DECLINED') return expectBalance(await caller.balance(), before, 'after the DECLINED');
      let expected = Number.MAX_SAFE_INTEGER;
      try {
        expectBalance(balance, expected, 'in the answer');
        for (const amountMinor of LARGE_STEPS) {
          expected -= amountMinor;
          await expectBooked(caller, caller.bet({ amountMinor }), expected);
          expectBalance(await caller.balance(), expected, 'from the balance route');
        }
      } finally {
        await setBalance(caller, before);
      }
    },
  },
];

/** Adjusts the balance, which the case tests, too. */
async function reach(caller: WalletCaller, balanceMinor: number): Promise<void> {
  const missing = balanceMinor - (await caller.readBalance());
  if (missing !== 0) await expectBooked(caller, caller.adjustment(missing), balanceMinor);
}

/** Books a WIN of each amount, then a BET of each, and expects the exact balance each time. */
async function bookInTurn(caller: WalletCaller, amounts: readonly number[]): Promise<void> {
  let balance = await caller.readBalance();
  for (const amountMinor of amounts) {
    balance += amountMinor;
    await expectBooked(caller, caller.win({ amountMinor }), balance);
  }
  for (const amountMinor of amounts) {
    balance -= amountMinor;
    await expectBooked(caller, caller.bet({ amountMinor }), balance);
  }
  expectBalance(await caller.readBalance(), balance, 'afterwards');
}
