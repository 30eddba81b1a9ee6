import { bookFirst, expectApproved, expectDeclined, expectMovement, fund } from '../../expectations.js';
import { LONGEST_ID, PUNCTUATION } from '../identifiers.js';
import { RULES } from '../../rules.js';
import { oneOfEach } from './one-of-each.js';
import { type WalletCase, withoutOtherPlayer } from '../wallet-case.js';

/** At most the number of stakes with which each case begins. */
const AT_ONCE = 20;

/** The cases in which each answer must name its transaction. `WalletCaller.decide` compares the names. */
export const ECHO_CASES: WalletCase[] = [
  {
    id: 'echo-bet',
    title: 'names the BET in the answer',
    rule: RULES.echo,
    run: async (caller) => void expectApproved(await caller.decide(caller.bet())),
  },
  {
    id: 'echo-declined',
    title: 'names the BET in the answer that declines it',
    rule: RULES.echo,
    run: async (caller) => {
      const bet = caller.bet({ amountMinor: (await caller.balance()) + 1 });
      expectDeclined(await caller.decide(bet));
    },
  },
  {
    id: 'echo-win',
    title: 'names the WIN in the answer, not its BET or its round',
    rule: RULES.echo,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      expectApproved(await caller.decide(caller.win({ roundId })));
    },
  },
  {
    id: 'echo-rollback',
    title: 'names the ROLLBACK in the answer, not the transaction that it reverses',
    rule: RULES.echo,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      await caller.decide(caller.rollback(bet));
      await caller.decide(caller.rollback(caller.bet()));
    },
  },
  {
    id: 'echo-adjustment',
    title: 'names the ADJUSTMENT in the answer',
    rule: RULES.echo,
    run: async (caller) => void expectApproved(await caller.decide(caller.adjustment(caller.stakeMinor))),
  },
  {
    id: 'echo-repeated',
    title: 'names a repeated transaction in the answer',
    rule: RULES.echo,
    run: async (caller) => {
      for (const order of await oneOfEach(caller)) {
        await caller.decide(order);
        await caller.decide(order);
      }
    },
  },
  {
    id: 'echo-case',
    title: 'names a transactionId in upper and lower case as it was sent',
    rule: RULES.echo,
    run: async (caller) => {
      const transactionId = `${caller.calls.fresh('Case')}-aBcXyZ`;
      await caller.decide(caller.bet({ transactionId }));
    },
  },
  {
    id: 'echo-longest',
    title: `names a transactionId of ${LONGEST_ID} characters in full`,
    rule: RULES.echo,
    run: async (caller) => {
      const transactionId = caller.calls.fresh('long').padEnd(LONGEST_ID, 'x');
      await caller.decide(caller.bet({ transactionId }));
    },
  },
  {
    id: 'echo-punctuation',
    title: 'names a transactionId with any printable ASCII character as it was sent',
    rule: RULES.echo,
    run: async (caller) => {
      const transactionId = caller.calls.fresh(PUNCTUATION);
      await caller.decide(caller.bet({ transactionId }));
    },
  },
  {
    id: 'echo-at-once',
    title: `names its own BET in each of ${AT_ONCE} answers at once`,
    rule: RULES.echo,
    run: async (caller) => {
      const { playerRef, otherPlayerRef = playerRef } = caller.wallet;
      await fund(caller, { playerRef: otherPlayerRef });
      const bets = Array.from({ length: AT_ONCE }, (_, index) =>
        caller.bet({ playerRef: index % 2 === 0 ? playerRef : otherPlayerRef }),
      );
      await caller.decideAtOnce(bets);
    },
  },
  {
    id: 'echo-outcomes-at-once',
    title: `gives each of ${AT_ONCE} BETs at once its own outcome: every other one lacks the money`,
    rule: RULES.echo,
    run: async (caller) => {
      const tooMuch = (await caller.balance()) + 1;
      const bets = Array.from({ length: AT_ONCE }, (_, index) =>
        caller.bet({ amountMinor: index % 2 === 0 ? 0 : tooMuch }),
      );
      const decisions = await caller.decideAtOnce(bets);
      for (const [index, decision] of decisions.entries()) {
        if (index % 2 === 0) expectApproved(decision, 'APPROVED for a BET of 0');
        else expectDeclined(decision, 'DECLINED for a BET of more than the balance');
      }
    },
  },
  {
    id: 'echo-balance-beside-bets',
    title: 'names its own call in each answer to balance calls and BETs at once',
    rule: RULES.echo,
    run: (caller) =>
      expectMovement(caller, -(AT_ONCE / 2) * caller.stakeMinor, async () => {
        const bets = Array.from({ length: AT_ONCE / 2 }, () => caller.bet());
        const reads = caller.readBalancesAtOnce(bets.map(() => ({})));
        const [decisions] = await Promise.all([caller.decideAtOnce(bets), reads]);
        for (const decision of decisions) expectApproved(decision, 'APPROVED each time');
      }),
  },
];

/** The cases in which each balance must name its player and its currency. `WalletCaller.readBalance` compares them. */
export const BALANCE_ECHO_CASES: WalletCase[] = [
  {
    id: 'balance-echo',
    title: 'names the player and the currency beside the balance',
    rule: RULES.echo,
    run: async (caller) => {
      await caller.readBalance();
    },
  },
  {
    id: 'balance-echo-other-player',
    title: 'names another player beside the balance of that player',
    rule: RULES.echo,
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      await caller.readBalance({ playerRef: caller.wallet.otherPlayerRef });
    },
  },
  {
    id: 'balance-echo-at-once',
    title: `names its own player in each of ${AT_ONCE} balances of two players at once`,
    rule: RULES.echo,
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const { playerRef, otherPlayerRef = playerRef } = caller.wallet;
      const players = Array.from({ length: AT_ONCE }, (_, index) =>
        index % 2 === 0 ? playerRef : otherPlayerRef,
      );
      await caller.readBalancesAtOnce(players.map((playerRef) => ({ playerRef })));
    },
  },
];
