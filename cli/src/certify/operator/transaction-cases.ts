import { Unmet } from '../outcome.js';
import { describeReply } from '../../reply.js';
import { balanceOf } from './answers.js';
import { WALLET_ROUTES } from './caller.js';
import {
  adjust,
  expectApproved,
  expectDeclined,
  expectBalance,
  expectNotApproved,
  bookFirst,
  expectMovement,
  setBalance,
} from './expectations.js';
import { type WalletCase, withoutOtherPlayer, withoutUnknownPlayer } from './wallet-case.js';

const UNKNOWN_FIELDS = { certifyUnknown: { list: [1, 'two', null] }, certifyFlag: true };
/** More than fits into a 32-bit integer, signed or unsigned. */
const BEYOND_32_BIT_MINOR = 5_000_000_001;
const AT_ONCE = 10;

export const BALANCE_CASES: WalletCase[] = [
  {
    id: 'balance-answered',
    title: 'answers the balance as a whole number of minor units',
    run: async (caller) => {
      await caller.readBalance();
    },
  },
  {
    id: 'balance-repeated',
    title: 'changes nothing when the balance is read',
    run: async (caller) => {
      const before = await caller.balance();
      expectBalance(await caller.balance(), before, 'the second time');
      expectBalance(await caller.balance(), before, 'the third time');
    },
  },
  {
    id: 'balance-at-once',
    title: `answers ${AT_ONCE} balance calls at once`,
    run: async (caller) => {
      const before = await caller.balance();
      const players = Array.from({ length: AT_ONCE }, () => caller.wallet.playerRef);
      const balances = await caller.readBalancesAtOnce(players);
      for (const balance of balances) expectBalance(balance, before, 'each time');
    },
  },
  {
    id: 'balance-unknown-fields',
    title: 'ignores unknown fields of a balance call',
    run: async (caller) => {
      await caller.readBalance(UNKNOWN_FIELDS);
    },
  },
  {
    id: 'balance-unknown-player',
    title: 'shows no money for a player that it does not know',
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const asked = caller.balanceBody({ playerRef: caller.wallet.unknownPlayerRef });
      const reply = await caller.askBalance(asked);
      if (reply.status >= 400 && reply.status <= 499) return;
      if (reply.status === 200 && balanceOf(reply, asked) === 0) return;
      throw new Unmet('a status from 400 to 499, or balance 0', describeReply(reply));
    },
  },
  {
    id: 'balance-malformed',
    title: 'refuses a balance call whose body is not JSON',
    run: async (caller) => {
      const reply = await caller.calls.post(WALLET_ROUTES.balance, '{"playerRef":');
      if (reply.status < 400 || reply.status > 499)
        throw new Unmet('a status from 400 to 499', describeReply(reply));
    },
  },
];

export const BET_CASES: WalletCase[] = [
  {
    id: 'bet-booked',
    title: 'takes the amount of a BET from the balance',
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async (before) => {
        const { balance } = expectApproved(await caller.decide(caller.bet()));
        expectBalance(balance, before - caller.stakeMinor, 'in the answer');
      }),
  },
  {
    id: 'bet-zero',
    title: 'approves a BET of 0',
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectApproved(await caller.decide(caller.bet({ amountMinor: 0 }))),
      ),
  },
  {
    id: 'bet-whole-balance',
    title: 'approves a BET of the whole balance',
    run: async (caller) => {
      await setBalance(caller, 3 * caller.stakeMinor);
      const bet = caller.bet({ amountMinor: 3 * caller.stakeMinor });
      expectBalance(expectApproved(await caller.decide(bet)).balance, 0, 'in the answer');
    },
  },
  {
    id: 'bet-insufficient-funds',
    title: 'declines a BET of more than the balance, with status 200 and the balance',
    run: (caller) =>
      expectMovement(caller, 0, async (before) => {
        const bet = caller.bet({ amountMinor: before + 1 });
        expectBalance(expectDeclined(await caller.decide(bet)).balance, before, 'in the answer');
      }),
  },
  {
    id: 'bet-largest-amount',
    title: 'declines a BET of 2^53-1 minor units instead of failing',
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet({ amountMinor: Number.MAX_SAFE_INTEGER });
        expectDeclined(await caller.decide(bet));
      }),
  },
  {
    id: 'bet-negative-amount',
    title: 'does not book a BET of a negative amount',
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectNotApproved(await caller.send(caller.bet({ amountMinor: -caller.stakeMinor }))),
      ),
  },
  {
    id: 'bet-fraction',
    title: 'does not book an amount with a fraction',
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectNotApproved(await caller.send(caller.bet({ amountMinor: 0.5 }))),
      ),
  },
  {
    id: 'bet-unknown-player',
    title: 'declines a BET of a player that it does not know, with status 200',
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const { unknownPlayerRef: playerRef } = caller.wallet;
      expectDeclined(await caller.decide(caller.bet({ ...(playerRef !== undefined && { playerRef }) })));
    },
  },
  {
    id: 'bet-unknown-fields',
    title: 'ignores unknown fields of a transaction',
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.bet(UNKNOWN_FIELDS))),
      ),
  },
  {
    id: 'bet-malformed',
    title: 'refuses a transaction whose body is not JSON',
    run: async (caller) => expectNotApproved(await caller.send('{"transactionId":')),
  },
  {
    id: 'bet-unknown-kind',
    title: 'does not approve a kind that it does not know',
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectNotApproved(await caller.send(caller.bet({ kind: 'JACKPOT' }))),
      ),
  },
  {
    id: 'bet-other-player',
    title: 'takes the money of the player that the BET names',
    skipped: withoutOtherPlayer,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const playerRef = caller.wallet.otherPlayerRef ?? '';
        const act = async () => expectApproved(await caller.decide(caller.bet({ playerRef })));
        await expectMovement(caller, -caller.stakeMinor, act, playerRef);
      }),
  },
];

export const WIN_CASES: WalletCase[] = [
  {
    id: 'win-booked',
    title: 'adds the amount of a WIN to the balance',
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      await expectMovement(caller, 2 * caller.stakeMinor, async (before) => {
        const win = caller.win({ roundId, amountMinor: 2 * caller.stakeMinor });
        expectBalance(
          expectApproved(await caller.decide(win)).balance,
          before + 2 * caller.stakeMinor,
          'in the answer',
        );
      });
    },
  },
  {
    id: 'win-zero',
    title: 'approves a WIN of 0, which closes a round',
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const win = caller.win({ roundId, amountMinor: 0, roundClosed: true });
      await expectMovement(caller, 0, async () => expectApproved(await caller.decide(win)));
    },
  },
  {
    id: 'win-free-spins',
    title: 'approves a WIN without a BET, as free spins send it',
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async () => {
        const win = caller.win({ freeSpinsRef: caller.calls.fresh('free-spins') });
        expectApproved(await caller.decide(win));
      }),
  },
  {
    id: 'win-twice-in-a-round',
    title: 'books two WINs of one round',
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
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      await bookFirst(caller, caller.win({ roundId, roundClosed: true }));
      await expectMovement(caller, caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.win({ roundId }))),
      );
    },
  },
  {
    id: 'win-beyond-32-bit',
    title: 'books the exact amount of a WIN that exceeds a 32-bit integer',
    run: async (caller) => {
      const win = caller.win({ amountMinor: BEYOND_32_BIT_MINOR });
      await expectMovement(caller, BEYOND_32_BIT_MINOR, async () => expectApproved(await caller.decide(win)));
      await adjust(caller, -BEYOND_32_BIT_MINOR);
    },
  },
];

export const ADJUSTMENT_CASES: WalletCase[] = [
  {
    id: 'adjustment-credit',
    title: 'adds a positive ADJUSTMENT, which has no game and no round',
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, async (before) => {
        const { balance } = expectApproved(await caller.decide(caller.adjustment(caller.stakeMinor)));
        expectBalance(balance, before + caller.stakeMinor, 'in the answer');
      }),
  },
  {
    id: 'adjustment-debit',
    title: 'deducts a negative ADJUSTMENT from the balance',
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.adjustment(-caller.stakeMinor))),
      ),
  },
  {
    id: 'adjustment-repeated',
    title: 'books an ADJUSTMENT once, however often it arrives',
    run: async (caller) => {
      const adjustment = caller.adjustment(caller.stakeMinor);
      await expectMovement(caller, caller.stakeMinor, async () => {
        expectApproved(await caller.decide(adjustment));
        expectApproved(await caller.decide(adjustment), 'APPROVED the second time too');
      });
    },
  },
  {
    id: 'adjustment-id-of-a-bet',
    title: 'keeps an ADJUSTMENT and a BET of the same transactionId apart',
    run: async (caller) => {
      const { transactionId } = await bookFirst(caller, caller.bet());
      const adjustment = caller.adjustment(caller.stakeMinor, { transactionId });
      await expectMovement(caller, caller.stakeMinor, async () =>
        expectApproved(await caller.decide(adjustment)),
      );
    },
  },
  {
    id: 'negative-balance',
    title: 'declines a negative ADJUSTMENT beyond the balance, or continues with a negative balance',
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const before = await caller.balance();
      const { status, balance } = await caller.decide(caller.adjustment(-before - caller.stakeMinor));
      if (status === 'DECLINED') return expectBalance(await caller.balance(), before, 'after the DECLINED');
      try {
        expectBalance(balance, -caller.stakeMinor, 'in the answer');
        expectBalance(await caller.readBalance(), -caller.stakeMinor, 'from the balance route');
        expectDeclined(await caller.decide(caller.bet()), 'DECLINED for a BET at a negative balance');
        expectApproved(
          await caller.decide(caller.win({ roundId })),
          'APPROVED for a WIN at a negative balance',
        );
      } finally {
        await adjust(caller, before);
      }
    },
  },
];
