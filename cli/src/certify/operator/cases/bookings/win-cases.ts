import {
  adjust,
  bookFirst,
  expectApproved,
  expectBalance,
  expectBooked,
  expectInvalid,
  expectMovement,
  setBalance,
} from '../../expectations.js';
import { RULES } from '../../rules.js';
import { LONGEST_FREE_SPINS_REF, LONGEST_ID } from '../identifiers.js';
import type { WalletCase } from '../wallet-case.js';

/** More than fits into a 32-bit integer, signed or unsigned. */
const BEYOND_32_BIT_MINOR = 5_000_000_001;
/** Wins without a BET, besides those of free spins. */
const PRIZES = ['JACKPOT', 'PROMOTION', 'TOURNAMENT'];

export const WIN_CASES: WalletCase[] = [
  {
    id: 'win-booked',
    title: 'adds the amount of a WIN to the balance',
    rule: RULES.credits,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const amountMinor = 2 * caller.stakeMinor;
      await expectMovement(caller, amountMinor, (before) =>
        expectBooked(caller, caller.win({ roundId, amountMinor }), before + amountMinor),
      );
    },
  },
  {
    id: 'win-zero',
    title: 'approves a WIN of 0, which closes a round',
    rule: RULES.credits,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const win = caller.win({ roundId, amountMinor: 0, roundClosed: true });
      await expectMovement(caller, 0, async () => expectApproved(await caller.decide(win)));
    },
  },
  {
    id: 'win-without-money',
    title: 'books a WIN at a balance of 0',
    rule: RULES.credits,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      await setBalance(caller, 0);
      await expectBooked(caller, caller.win({ roundId }), caller.stakeMinor);
    },
  },
  {
    id: 'win-negative-amount',
    title: 'refuses a WIN of a negative amount',
    rule: RULES.invalid,
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectInvalid(await caller.send(caller.win({ amountMinor: -caller.stakeMinor }))),
      ),
  },
  {
    id: 'win-amount-text',
    title: 'refuses an amount that is a text',
    rule: RULES.invalid,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const win: Record<string, unknown> = { ...caller.win(), amountMinor: String(caller.stakeMinor) };
        expectInvalid(await caller.send(JSON.stringify(win)));
      }),
  },
  {
    id: 'win-twice-in-a-round',
    title: 'books two WINs of one round',
    rule: RULES.rounds,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      await expectMovement(caller, 2 * caller.stakeMinor, async () => {
        expectApproved(await caller.decide(caller.win({ roundId })));
        expectApproved(await caller.decide(caller.win({ roundId })));
      });
    },
  },
  {
    id: 'win-after-round-closed',
    title: 'books a WIN of a round that was closed',
    rule: RULES.rounds,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      await bookFirst(caller, caller.win({ roundId, roundClosed: true }));
      await expectMovement(caller, caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.win({ roundId }))),
      );
    },
  },
  {
    id: 'win-before-bet',
    title: 'books a WIN that arrives before the BET of its round, and then the BET',
    rule: RULES.rounds,
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async () => {
        const { roundId } = await bookFirst(caller, caller.win({ amountMinor: 2 * caller.stakeMinor }));
        expectApproved(await caller.decide(caller.bet({ roundId })), 'APPROVED for the BET after its WIN');
      }),
  },
  {
    id: 'win-names-bet',
    title: 'books a WIN with an originalTransactionId as a WIN, and leaves the BET that it names',
    rule: RULES.informative,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      const amountMinor = 3 * caller.stakeMinor;
      const win = caller.win({
        roundId: bet['roundId'],
        amountMinor,
        originalTransactionId: bet.transactionId,
      });
      await expectMovement(caller, amountMinor, async () => expectApproved(await caller.decide(win)));
    },
  },
  {
    id: 'win-beyond-32-bit',
    title: 'books the exact amount of a WIN that exceeds a 32-bit integer, or declines it',
    rule: RULES.exact,
    run: async (caller) => {
      const win = caller.win({ amountMinor: BEYOND_32_BIT_MINOR });
      const before = await caller.balance();
      const { status } = await caller.decide(win);
      const movedMinor = status === 'APPROVED' ? BEYOND_32_BIT_MINOR : 0;
      expectBalance(await caller.balance(), before + movedMinor, `after the ${status}`);
      await adjust(caller, -movedMinor);
    },
  },
  {
    id: 'round-of-two-providers',
    title: 'books BETs and WINs of two providers with the same roundId',
    rule: RULES.rounds,
    run: (caller) =>
      expectMovement(caller, 2 * caller.stakeMinor, async () => {
        const { roundId } = await bookFirst(caller, caller.bet());
        const ofOther = { roundId, providerId: caller.otherProviderId };
        const amountMinor = 2 * caller.stakeMinor;
        expectApproved(await caller.decide(caller.win({ roundId, amountMinor, roundClosed: true })));
        expectApproved(
          await caller.decide(caller.bet(ofOther)),
          'APPROVED for the BET of the other provider',
        );
        expectApproved(
          await caller.decide(caller.win({ ...ofOther, amountMinor })),
          'APPROVED for the WIN of the other provider',
        );
      }),
  },
  {
    id: 'round-of-two-games',
    title: 'books BETs and WINs of two games with the same roundId',
    rule: RULES.rounds,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const { roundId } = await bookFirst(caller, caller.bet());
        const ofOther = { roundId, gameId: caller.otherGameId };
        expectApproved(await caller.decide(caller.win({ roundId, roundClosed: true })));
        expectApproved(await caller.decide(caller.bet(ofOther)), 'APPROVED for the BET in the other game');
        expectApproved(await caller.decide(caller.win(ofOther)), 'APPROVED for the WIN in the other game');
      }),
  },
];

/** The cases about WINs that need no BET. */
export const PRIZE_CASES: WalletCase[] = [
  {
    id: 'win-free-spins',
    title: 'approves a WIN without a BET, as free spins send it',
    rule: RULES.prizes,
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async () => {
        const win = caller.win({ freeSpinsRef: caller.calls.fresh('free-spins') });
        expectApproved(await caller.decide(win));
      }),
  },
  {
    id: 'win-free-spins-zero',
    title: 'approves a WIN of 0 of free spins, without a BET',
    rule: RULES.prizes,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const freeSpinsRef = caller.calls.fresh('free-spins');
        const win = caller.win({ freeSpinsRef, winKind: 'FREE_SPINS', amountMinor: 0 });
        expectApproved(await caller.decide(win));
      }),
  },
  {
    id: 'win-free-spins-each',
    title: 'books every WIN of a batch of free spins, also in rounds with a BET of 0',
    rule: RULES.prizes,
    run: (caller) =>
      expectMovement(caller, 3 * caller.stakeMinor, async () => {
        const freeSpinsRef = caller.calls.fresh('free-spins');
        for (let spin = 0; spin < 3; spin += 1) {
          const { roundId } = await bookFirst(caller, caller.bet({ amountMinor: 0, freeSpinsRef }));
          expectApproved(await caller.decide(caller.win({ roundId, freeSpinsRef })), 'APPROVED each time');
        }
      }),
  },
  {
    id: 'win-free-spins-any-script',
    title: `takes a freeSpinsRef of ${LONGEST_FREE_SPINS_REF} characters of any script`,
    rule: RULES.lengths,
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async () => {
        const start = [...`${caller.calls.fresh('free-spins')} Zoë 'ω' "免费" \\ `];
        const freeSpinsRef = start.join('') + '🎰'.repeat(LONGEST_FREE_SPINS_REF - start.length);
        expectApproved(await caller.decide(caller.win({ freeSpinsRef })));
      }),
  },
  ...PRIZES.map((winKind): WalletCase => ({
    id: `win-${winKind.toLowerCase()}`,
    title: `books a ${winKind} without a BET, and another one of the same promotion`,
    rule: RULES.prizes,
    run: (caller) =>
      expectMovement(caller, 2 * caller.stakeMinor, async () => {
        const prize = { winKind, promotionRef: caller.calls.fresh('promotion') };
        expectApproved(await caller.decide(caller.win(prize)));
        expectApproved(await caller.decide(caller.win(prize)), 'APPROVED for the second one');
      }),
  })),
  {
    id: 'win-kind-game',
    title: 'books a GAME and a PROMOTION in one round',
    rule: RULES.prizes,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      await expectMovement(caller, 2 * caller.stakeMinor, async () => {
        expectApproved(await caller.decide(caller.win({ roundId, winKind: 'GAME', roundClosed: true })));
        const promotionRef = caller.calls.fresh('promotion');
        expectApproved(await caller.decide(caller.win({ roundId, winKind: 'PROMOTION', promotionRef })));
      });
    },
  },
  {
    id: 'win-prize-after-rollback',
    title: 'books a JACKPOT in a round whose BET was rolled back',
    rule: RULES.prizes,
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.rollback(bet));
        const win = caller.win({ roundId: bet['roundId'], winKind: 'JACKPOT' });
        expectApproved(await caller.decide(win));
      }),
  },
  {
    id: 'win-longest-fields',
    title: 'books a WIN whose fields are as long as the contract allows',
    rule: RULES.lengths,
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async () => {
        const longest = (what: string) => caller.calls.fresh(what).padEnd(LONGEST_ID, 'x');
        const win = caller.win({
          transactionId: longest('win'),
          roundId: longest('round'),
          gameId: longest('game'),
          originalTransactionId: longest('bet'),
          promotionRef: longest('promotion'),
          winKind: 'TOURNAMENT',
          roundClosed: true,
          freeSpinsRef: caller.calls.fresh('free-spins').padEnd(LONGEST_FREE_SPINS_REF, 'ß'),
        });
        expectApproved(await caller.decide(win));
        expectApproved(await caller.decide(win), 'APPROVED the second time too');
      }),
  },
];
