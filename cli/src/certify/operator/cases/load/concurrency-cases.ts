import { Unmet } from '../../../outcome.js';
import {
  expectApproved,
  expectBalance,
  expectDeclined,
  bookFirst,
  fund,
  expectMovement,
  setBalance,
} from '../../expectations.js';
import { type Decision, decisionOf } from '../../answers.js';
import type { WalletCaller, WalletOrder } from '../../caller.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutOtherPlayer } from '../wallet-case.js';

const AT_ONCE = 10;
/** Number of times that a race is repeated, because a mistake does not show every time. */
const RACES = 3;

export const CONCURRENCY_CASES: WalletCase[] = [
  ...(['bet', 'win', 'adjustment'] as const).map((kind): WalletCase => ({
    id: `${kind}-at-once`,
    title: `books ${kind === 'adjustment' ? 'an' : 'a'} ${kind.toUpperCase()} once when it arrives ${AT_ONCE} times at once, and declines none of them`,
    rule: RULES.once,
    run: async (caller) => {
      for (let race = 0; race < RACES; race += 1) {
        await fund(caller);
        const order = kind === 'adjustment' ? caller.adjustment(caller.stakeMinor) : caller[kind]();
        const moved = kind === 'bet' ? -caller.stakeMinor : caller.stakeMinor;
        await expectMovement(caller, moved, () => sendAtOnce(caller, order));
      }
    },
  })),
  {
    id: 'bet-at-once-last-money',
    title: `approves a BET of the whole balance when it arrives ${AT_ONCE} times at once`,
    rule: RULES.once,
    run: async (caller) => {
      await setBalance(caller, caller.stakeMinor);
      await sendAtOnce(caller, caller.bet());
      expectBalance(await caller.balance(), 0, 'afterwards');
    },
  },
  {
    id: 'bets-at-once',
    title: `books ${AT_ONCE} BETs of one player at once, and the ledger adds up`,
    rule: RULES.concurrency,
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
    rule: RULES.concurrency,
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
    rule: RULES.concurrency,
    run: async (caller) => {
      for (const affordable of [AT_ONCE / 2, 1, AT_ONCE / 2, 1]) {
        await setBalance(caller, affordable * caller.stakeMinor);
        const bets = Array.from({ length: AT_ONCE }, () => caller.bet());
        const count = approvals(await caller.decideAtOnce(bets));
        if (count !== affordable)
          throw new Unmet(`${affordable} APPROVED of ${AT_ONCE}`, `${count} APPROVED`);
        expectBalance(await caller.balance(), 0, 'afterwards');
      }
    },
  },
  {
    id: 'bets-and-debit-at-once',
    title: 'approves a BET and a negative ADJUSTMENT at once only as far as the money goes',
    rule: RULES.concurrency,
    run: async (caller) => {
      for (let race = 0; race < RACES; race += 1) {
        await setBalance(caller, caller.stakeMinor);
        const orders = [caller.bet(), caller.adjustment(-caller.stakeMinor)];
        const approved = approvals(await caller.decideAtOnce(orders));
        expectBalance(
          await caller.balance(),
          (1 - approved) * caller.stakeMinor,
          `after ${approved} APPROVED`,
        );
      }
    },
  },
  {
    id: 'rollback-at-once',
    title: `reverses a BET once when its ROLLBACK arrives ${AT_ONCE} times at once`,
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const rollback = caller.rollback(await bookFirst(caller, caller.bet()));
        await Promise.all(Array.from({ length: AT_ONCE }, () => caller.send(rollback)));
        expectApproved(await caller.decideEventually(rollback), 'APPROVED afterwards');
      }),
  },
  {
    id: 'rollbacks-at-once',
    title: `reverses a BET once when ${AT_ONCE} ROLLBACKs with different ids arrive at once`,
    rule: RULES.oneReversal,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await Promise.all(Array.from({ length: AT_ONCE }, () => caller.send(caller.rollback(bet))));
        expectApproved(await caller.decideEventually(caller.rollback(bet)), 'APPROVED afterwards');
      }),
  },
  {
    id: 'bet-and-rollback-at-once',
    title: 'keeps no money of a BET whose ROLLBACK arrives at the same time',
    rule: RULES.tombstone,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        for (let race = 0; race < RACES; race += 1) {
          const bet = caller.bet();
          const rollback = caller.rollback(bet);
          await Promise.all([caller.send(bet), caller.send(rollback)]);
          expectApproved(await caller.decideEventually(rollback), 'APPROVED for the ROLLBACK afterwards');
        }
      }),
  },
  {
    id: 'different-rollbacks-at-once',
    title: `reverses ${AT_ONCE} BETs of one player at once, and the ledger adds up`,
    rule: RULES.concurrency,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bets: WalletOrder[] = [];
        for (let bet = 0; bet < AT_ONCE; bet += 1) bets.push(await bookFirst(caller, caller.bet()));
        const rollbacks = bets.map((bet) => caller.rollback(bet));
        for (const decision of await caller.decideAtOnce(rollbacks))
          expectApproved(decision, 'APPROVED for each ROLLBACK');
      }),
  },
  {
    id: 'repeated-bet-and-rollback-at-once',
    title: 'keeps no money of a BET that is repeated while its ROLLBACK arrives',
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        for (let race = 0; race < RACES; race += 1) {
          const bet = await bookFirst(caller, caller.bet());
          const rollback = caller.rollback(bet);
          await Promise.all([caller.send(bet), caller.send(rollback), caller.send(bet)]);
          expectApproved(await caller.decideEventually(rollback), 'APPROVED for the ROLLBACK afterwards');
        }
      }),
  },
  {
    id: 'tombstones-at-once',
    title: `leaves one tombstone when ${AT_ONCE} ROLLBACKs of a BET that it never booked arrive at once`,
    rule: RULES.tombstone,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        const rollbacks = Array.from({ length: AT_ONCE }, () => caller.rollback(bet));
        await Promise.all(rollbacks.map((rollback) => caller.send(rollback)));
        for (const rollback of rollbacks)
          expectApproved(await caller.decideEventually(rollback), 'APPROVED for each ROLLBACK afterwards');
        expectDeclined(await caller.decide(bet), 'DECLINED for the BET afterwards');
      }),
  },
  {
    id: 'players-at-once',
    title: 'books BETs and WINs of two players at once, and both ledgers add up',
    rule: RULES.concurrency,
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const other = { playerRef: caller.wallet.otherPlayerRef ?? '' };
      await fund(caller, other);
      const orders = Array.from({ length: AT_ONCE }, (_, index) =>
        index % 2 === 0 ? caller.bet() : caller.win(other),
      );
      const act = async () => {
        for (const decision of await caller.decideAtOnce(orders))
          expectApproved(decision, 'APPROVED each time');
      };
      const moved = (AT_ONCE / 2) * caller.stakeMinor;
      await expectMovement(caller, -moved, () => expectMovement(caller, moved, act, other));
    },
  },
  {
    id: 'one-round-of-two-players',
    title: 'keeps two players with the same roundId apart',
    rule: RULES.rounds,
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const playerRef = caller.wallet.otherPlayerRef ?? '';
      await fund(caller, { playerRef });
      await expectMovement(caller, -caller.stakeMinor, async () => {
        const { roundId } = await bookFirst(caller, caller.bet());
        const theirs = async () => {
          expectApproved(await caller.decide(caller.bet({ roundId, playerRef })));
          expectApproved(
            await caller.decide(caller.win({ roundId, playerRef, amountMinor: 3 * caller.stakeMinor })),
          );
        };
        await expectMovement(caller, 2 * caller.stakeMinor, theirs, { playerRef });
      });
    },
  },
];

/**
 * Sends one transaction many times at once. Some of the calls may be answered that the outcome is not known yet, but none
 * may be declined, and afterwards it is approved.
 */
async function sendAtOnce(caller: WalletCaller, order: WalletOrder): Promise<void> {
  const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => caller.send(order)));
  const words = replies.map((reply) =>
    reply.status === 200 ? decisionOf(reply, order).status : String(reply.status),
  );
  const isRight = words.includes('APPROVED') && !words.includes('DECLINED');
  if (!isRight) throw new Unmet('APPROVED, and never DECLINED', words.join(' '));
  expectApproved(await caller.decideEventually(order), 'APPROVED afterwards');
}

function approvals(decisions: readonly Decision[]): number {
  return decisions.filter(({ status }) => status === 'APPROVED').length;
}
