import {
  bookFirst,
  expectApproved,
  expectBalance,
  expectDeclined,
  expectMovement,
  fund,
  setBalance,
} from '../../expectations.js';
import type { Decision } from '../../answers.js';
import type { WalletCaller } from '../../caller.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutOtherCurrency, withoutUnknownPlayer } from '../wallet-case.js';
import { LONGEST_ID } from '../identifiers.js';

/** ISO 4217's codes for tests and for no currency: no player has an account in them. */
const NO_CURRENCIES = ['XTS', 'XXX'];
/** BETs of each of two currencies, at once. */
const AT_ONCE = 5;

export const UNKNOWN_PLAYER_CASES: WalletCase[] = [
  {
    id: 'bet-unknown-player',
    title: 'declines a BET of a player that it does not know, with the balance 0, however often it arrives',
    rule: RULES.unknownPlayer,
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const bet = caller.bet(unknownPlayer(caller));
      expectDeclinedAtZero(await caller.decide(bet), 'DECLINED');
      expectDeclinedAtZero(await caller.decide(bet), 'DECLINED the second time too');
    },
  },
  {
    id: 'credit-unknown-player',
    title: 'declines a WIN and an ADJUSTMENT of a player that it does not know, with the balance 0',
    rule: RULES.unknownPlayer,
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const credits = [
        caller.win(unknownPlayer(caller)),
        caller.adjustment(caller.stakeMinor, unknownPlayer(caller)),
      ];
      for (const order of credits)
        expectDeclinedAtZero(await caller.decide(order), `DECLINED for the ${order.kind}`);
      const { status, json } = await caller.askBalance(unknownPlayer(caller));
      if (status === 200) expectBalance(Number(json?.['balance']), 0, 'for the unknown player afterwards');
    },
  },
  {
    id: 'rollback-unknown-player',
    title: 'approves a ROLLBACK of a player that it does not know, and leaves its tombstone',
    rule: RULES.unknownPlayer,
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const bet = caller.bet(unknownPlayer(caller));
      const rollback = caller.rollback(bet);
      expectApproved(await caller.decide(rollback));
      expectApproved(await caller.decide(rollback), 'APPROVED the second time too');
      expectDeclined(await caller.decide(bet), 'DECLINED for the BET afterwards');
      // The tombstone belongs to the id: it holds for a player with an account, too.
      const known = caller.bet();
      expectApproved(await caller.decide(caller.rollback(known, unknownPlayer(caller))));
      await expectMovement(caller, 0, async () =>
        expectDeclined(await caller.decide(known), 'DECLINED for a BET of a player with an account'),
      );
    },
  },
  {
    id: 'rollback-declined-unknown-player',
    title: 'approves the ROLLBACK of a BET that it declined because it does not know the player',
    rule: RULES.rollbackOfDeclined,
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const bet = caller.bet(unknownPlayer(caller));
      expectDeclined(await caller.decide(bet));
      expectApproved(await caller.decide(caller.rollback(bet)));
    },
  },
  {
    id: 'longest-player',
    title: `decides transactions of a playerRef of ${LONGEST_ID} characters`,
    rule: RULES.lengths,
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const playerRef = (caller.wallet.unknownPlayerRef ?? '').padEnd(LONGEST_ID, '-x');
      // Whether such a player has an account is the wallet's business, but it must decide.
      await caller.decide(caller.bet({ playerRef }));
      expectApproved(await caller.decide(caller.rollback(caller.bet({ playerRef }))));
    },
  },
];

export const CURRENCY_CASES: WalletCase[] = [
  {
    id: 'currency-without-account',
    title: 'takes no money from an account in another currency',
    rule: RULES.currencies,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        for (const currency of NO_CURRENCIES) {
          await caller.send(caller.bet({ currency }));
          await caller.send(caller.rollback(caller.bet(), { currency }));
        }
      }),
  },
  {
    id: 'currency-without-balance',
    title: 'shows no money of an account in another currency',
    rule: RULES.currencies,
    run: async (caller) => {
      for (const currency of NO_CURRENCIES) {
        const before = await caller.askBalance({ currency });
        await bookFirst(caller, caller.bet());
        const after = await caller.askBalance({ currency });
        // A wallet may open an account at the first call, but its balance is not that of another account.
        if (before.status === 200 && after.status === 200)
          expectBalance(
            Number(after.json?.['balance']),
            Number(before.json?.['balance']),
            `in ${currency}, in which there was no BET`,
          );
      }
    },
  },
  {
    id: 'currency-bet-win',
    title: 'books BETs, WINs and ADJUSTMENTs in the account of their currency',
    rule: RULES.currencies,
    skipped: withoutOtherCurrency,
    run: async (caller) => {
      const other = await otherAccount(caller);
      const amountMinor = 3 * caller.stakeMinor;
      await expectMovement(caller, 0, () =>
        expectMovement(
          caller,
          3 * caller.stakeMinor,
          async () => {
            const { roundId } = await bookFirst(caller, caller.bet(other));
            expectApproved(await caller.decide(caller.win({ ...other, roundId, amountMinor })));
            expectApproved(await caller.decide(caller.adjustment(caller.stakeMinor, other)));
          },
          other,
        ),
      );
    },
  },
  {
    id: 'currency-funds',
    title: 'declines a BET if there is money in another currency only',
    rule: RULES.currencies,
    skipped: withoutOtherCurrency,
    run: async (caller) => {
      const other = await otherAccount(caller);
      await expectMovement(caller, 0, () => setBalance(caller, 0), other);
      await expectMovement(caller, 0, async () => expectDeclined(await caller.decide(caller.bet())), other);
      await fund(caller);
      await expectMovement(caller, 0, () => setBalance(caller, 0, other));
      await expectMovement(caller, 0, async () => expectDeclined(await caller.decide(caller.bet(other))));
      await fund(caller, other);
    },
  },
  {
    id: 'currency-rollback',
    title: 'returns the money of a ROLLBACK in the currency of its BET',
    rule: RULES.currencies,
    skipped: withoutOtherCurrency,
    run: async (caller) => {
      const other = await otherAccount(caller);
      await expectMovement(caller, 0, () =>
        expectMovement(
          caller,
          0,
          async () => {
            const bet = await bookFirst(caller, caller.bet(other));
            expectApproved(await caller.decide(caller.rollback(bet)));
          },
          other,
        ),
      );
    },
  },
  {
    id: 'currency-known-id',
    title: 'moves nothing for a known transactionId with another currency',
    rule: RULES.otherFields,
    skipped: withoutOtherCurrency,
    run: async (caller) => {
      const other = await otherAccount(caller);
      const bet = await bookFirst(caller, caller.bet());
      const act = () => caller.send({ ...bet, currency: other.currency });
      await expectMovement(caller, 0, () => expectMovement(caller, 0, act, other));
    },
  },
  {
    id: 'currency-balances-at-once',
    title: 'names its own currency in each of several balances of two currencies at once',
    rule: RULES.echo,
    skipped: withoutOtherCurrency,
    run: async (caller) => {
      const other = { currency: caller.wallet.otherCurrency ?? '' };
      await caller.readBalancesAtOnce(Array.from({ length: AT_ONCE }, () => [{}, other]).flat());
    },
  },
  {
    id: 'currency-at-once',
    title: 'books BETs in two currencies at once, and both accounts add up',
    rule: RULES.concurrency,
    skipped: withoutOtherCurrency,
    run: async (caller) => {
      const other = await otherAccount(caller);
      const bets = Array.from({ length: AT_ONCE }, () => [caller.bet(), caller.bet(other)]).flat();
      const act = async () => {
        for (const decision of await caller.decideAtOnce(bets))
          expectApproved(decision, 'APPROVED each time');
      };
      const moved = -AT_ONCE * caller.stakeMinor;
      await expectMovement(caller, moved, () => expectMovement(caller, moved, act, other));
    },
  },
];

function expectDeclinedAtZero(decision: Decision, what: string): void {
  expectBalance(expectDeclined(decision, what).balance, 0, 'in the answer for the unknown player');
}

function unknownPlayer({ wallet }: WalletCaller): { playerRef: string } {
  return { playerRef: wallet.unknownPlayerRef ?? '' };
}

/** The player's account in the other currency, with money for the case. */
async function otherAccount(caller: WalletCaller): Promise<{ currency: string }> {
  const other = { currency: caller.wallet.otherCurrency ?? '' };
  await fund(caller, other);
  return other;
}
