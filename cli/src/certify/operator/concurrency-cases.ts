import { Unmet } from '../outcome.js';
import {
  expectApproved,
  expectBalance,
  bookFirst,
  fund,
  expectMovement,
  setBalance,
} from './expectations.js';
import { type Decision, decisionOf } from './answers.js';
import { type WalletCase, withoutOtherPlayer } from './wallet-case.js';

const AT_ONCE = 10;
/** Number of times that a race is repeated, because a mistake does not show every time. */
const RACES = 5;

export const CONCURRENCY_CASES: WalletCase[] = [
  {
    id: 'bet-at-once',
    title: `books a BET once when it arrives ${AT_ONCE} times at once, and declines none of them`,
    run: async (caller) => {
      const bet = caller.bet();
      await expectMovement(caller, -caller.stakeMinor, async () => {
        const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => caller.send(bet)));
        const words = replies.map((reply) =>
          reply.status === 200 ? decisionOf(reply, bet).status : String(reply.status),
        );
        const isRight = words.includes('APPROVED') && !words.includes('DECLINED');
        if (!isRight) throw new Unmet('APPROVED, and never DECLINED', words.join(' '));
        expectApproved(await caller.decide(bet), 'APPROVED afterwards');
      });
    },
  },
  {
    id: 'bets-at-once',
    title: `books ${AT_ONCE} BETs of one player at once, and the ledger adds up`,
    run: (caller) =>
      expectMovement(caller, -AT_ONCE * caller.stakeMinor, async () => {
        const bets = Array.from({ length: AT_ONCE }, () => caller.bet());
        for (const decision of await caller.decideAtOnce(bets))
          expectApproved(decision, 'APPROVED each time');
      }),
  },
  {
    id: 'mixed-at-once',
    title: 'books BETs and WINs of one player at once, and the ledger adds up',
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const orders = Array.from({ length: AT_ONCE }, (_, index) =>
        index % 2 === 0 ? caller.bet() : caller.win({ roundId }),
      );
      await expectMovement(caller, 0, async () => {
        for (const decision of await caller.decideAtOnce(orders))
          expectApproved(decision, 'APPROVED each time');
      });
    },
  },
  {
    id: 'bets-beyond-funds-at-once',
    title: `approves no more BETs at once than there is money for`,
    run: async (caller) => {
      await setBalance(caller, (AT_ONCE / 2) * caller.stakeMinor);
      const bets = Array.from({ length: AT_ONCE }, () => caller.bet());
      const count = approvals(await caller.decideAtOnce(bets));
      if (count !== AT_ONCE / 2)
        throw new Unmet(`${AT_ONCE / 2} APPROVED of ${AT_ONCE}`, `${count} APPROVED`);
      expectBalance(await caller.balance(), 0, 'afterwards');
    },
  },
  {
    id: 'rollback-at-once',
    title: `reverses a BET once when its ROLLBACK arrives ${AT_ONCE} times at once`,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const rollback = caller.rollback(await bookFirst(caller, caller.bet()));
        await Promise.all(Array.from({ length: AT_ONCE }, () => caller.send(rollback)));
        expectApproved(await caller.decide(rollback), 'APPROVED afterwards');
      }),
  },
  {
    id: 'rollbacks-at-once',
    title: `reverses a BET once when ${AT_ONCE} ROLLBACKs with different ids arrive at once`,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await Promise.all(Array.from({ length: AT_ONCE }, () => caller.send(caller.rollback(bet))));
      }),
  },
  {
    id: 'bet-and-rollback-at-once',
    title: 'keeps no money of a BET whose ROLLBACK arrives at the same time',
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        for (let race = 0; race < RACES; race += 1) {
          const bet = caller.bet();
          const rollback = caller.rollback(bet);
          await Promise.all([caller.send(bet), caller.send(rollback)]);
          expectApproved(await caller.decide(rollback), 'APPROVED for the ROLLBACK afterwards');
        }
      }),
  },
  {
    id: 'one-round-of-two-players',
    title: 'keeps two players with the same roundId apart',
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const playerRef = caller.wallet.otherPlayerRef ?? '';
      await fund(caller, playerRef);
      await expectMovement(caller, -caller.stakeMinor, async () => {
        const { roundId } = await bookFirst(caller, caller.bet());
        const theirs = async () => {
          expectApproved(await caller.decide(caller.bet({ roundId, playerRef })));
          expectApproved(
            await caller.decide(caller.win({ roundId, playerRef, amountMinor: 3 * caller.stakeMinor })),
          );
        };
        await expectMovement(caller, 2 * caller.stakeMinor, theirs, playerRef);
      });
    },
  },
];

function approvals(decisions: readonly Decision[]): number {
  return decisions.filter(({ status }) => status === 'APPROVED').length;
}
