import {
  adjust,
  bookFirst,
  expectApproved,
  expectBalance,
  expectBooked,
  expectDeclined,
  expectMovement,
  setBalance,
} from '../../expectations.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutOtherPlayer } from '../wallet-case.js';

export const ADJUSTMENT_CASES: WalletCase[] = [
  {
    id: 'adjustment-credit',
    title: 'adds a positive ADJUSTMENT, which has no game and no round',
    rule: RULES.adjustment,
    run: (caller) =>
      expectMovement(caller, caller.stakeMinor, (before) =>
        expectBooked(caller, caller.adjustment(caller.stakeMinor), before + caller.stakeMinor),
      ),
  },
  {
    id: 'adjustment-debit',
    title: 'deducts a negative ADJUSTMENT from the balance',
    rule: RULES.adjustment,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () =>
        expectApproved(await caller.decide(caller.adjustment(-caller.stakeMinor))),
      ),
  },
  {
    id: 'adjustment-whole-balance',
    title: 'deducts an ADJUSTMENT of the whole balance',
    rule: RULES.adjustment,
    run: async (caller) => {
      await setBalance(caller, 3 * caller.stakeMinor);
      await expectBooked(caller, caller.adjustment(-3 * caller.stakeMinor), 0);
    },
  },
  {
    id: 'adjustment-repeated',
    title: 'books an ADJUSTMENT once, however often it arrives',
    rule: RULES.once,
    run: async (caller) => {
      for (const amountMinor of [caller.stakeMinor, -caller.stakeMinor]) {
        const adjustment = caller.adjustment(amountMinor);
        await expectMovement(caller, amountMinor, async () => {
          expectApproved(await caller.decide(adjustment));
          expectApproved(await caller.decide(adjustment), 'APPROVED the second time too');
        });
      }
    },
  },
  {
    id: 'adjustment-id-of-a-bet',
    title: 'keeps an ADJUSTMENT and a BET of the same transactionId apart',
    rule: RULES.identity,
    run: async (caller) => {
      const { transactionId } = await bookFirst(caller, caller.bet());
      const adjustment = caller.adjustment(caller.stakeMinor, { transactionId });
      await expectMovement(caller, caller.stakeMinor, async () =>
        expectApproved(await caller.decide(adjustment)),
      );
    },
  },
  {
    id: 'adjustment-other-player',
    title: 'adjusts the balance of the player that the ADJUSTMENT names',
    rule: RULES.players,
    skipped: withoutOtherPlayer,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const playerRef = caller.wallet.otherPlayerRef ?? '';
        const adjustment = caller.adjustment(caller.stakeMinor, { playerRef });
        const act = async () => expectApproved(await caller.decide(adjustment));
        await expectMovement(caller, caller.stakeMinor, act, { playerRef });
      }),
  },
  {
    id: 'negative-balance',
    title: 'declines a negative ADJUSTMENT beyond the balance, or continues with a negative balance',
    rule: RULES.belowZero,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const reversed = await bookFirst(caller, caller.bet());
      const before = await caller.balance();
      const adjustment = caller.adjustment(-before - 3 * caller.stakeMinor);
      const { status, balance } = await caller.decide(adjustment);
      if (status === 'DECLINED') {
        expectBalance(balance, before, 'in the answer DECLINED');
        expectBalance(await caller.balance(), before, 'after the DECLINED');
        await adjust(caller, before + 6 * caller.stakeMinor);
        await expectMovement(caller, 0, async () =>
          expectDeclined(await caller.decide(adjustment), 'DECLINED as the first time'),
        );
        return adjust(caller, -before - 6 * caller.stakeMinor);
      }
      try {
        expectBalance(balance, -3 * caller.stakeMinor, 'in the answer');
        expectBalance(await caller.readBalance(), -3 * caller.stakeMinor, 'from the balance route');
        expectDeclined(await caller.decide(caller.bet()), 'DECLINED for a BET at a negative balance');
        await expectBooked(caller, caller.win({ roundId }), -2 * caller.stakeMinor);
        await expectBooked(caller, caller.rollback(reversed), -caller.stakeMinor);
        await expectBooked(caller, caller.rollback(caller.bet()), -caller.stakeMinor);
      } finally {
        await adjust(caller, before);
      }
    },
  },
];
