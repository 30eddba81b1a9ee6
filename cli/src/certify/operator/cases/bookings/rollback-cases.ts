import {
  bookFirst,
  expectApproved,
  expectBalance,
  expectBooked,
  expectDeclined,
  expectMovement,
  fund,
  setBalance,
} from '../../expectations.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutOtherPlayer } from '../wallet-case.js';
import { LONGEST_ID } from '../identifiers.js';

export const ROLLBACK_CASES: WalletCase[] = [
  {
    id: 'rollback-reverses',
    title: 'gives the amount of a BET back',
    rule: RULES.rollbackAmount,
    run: (caller) =>
      expectMovement(caller, 0, async (before) => {
        const bet = await bookFirst(caller, caller.bet());
        await expectBooked(caller, caller.rollback(bet), before);
      }),
  },
  {
    id: 'rollback-original-amount',
    title: 'returns the amount of the BET if the ROLLBACK has the amount 0',
    rule: RULES.rollbackAmount,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        expectApproved(await caller.decide(caller.rollback(bet, { amountMinor: 0 })));
      }),
  },
  {
    id: 'rollback-other-amount',
    title: 'returns the amount of the BET, or nothing, if the ROLLBACK has another amount',
    rule: RULES.rollbackAmount,
    run: async (caller) => {
      for (const stakes of [1, 3]) {
        const before = await caller.balance();
        const bet = await bookFirst(caller, caller.bet({ amountMinor: 2 * caller.stakeMinor }));
        const amountMinor = stakes * caller.stakeMinor;
        const { status, json } = await caller.send(caller.rollback(bet, { amountMinor }));
        const isApproved = status === 200 && json?.['status'] === 'APPROVED';
        const expected = isApproved ? before : before - 2 * caller.stakeMinor;
        const where = `after a ROLLBACK of ${amountMinor} that was ${isApproved ? '' : 'not '}approved`;
        expectBalance(await caller.balance(), expected, where);
      }
    },
  },
  {
    id: 'rollback-repeated',
    title: 'reverses a BET once when the ROLLBACK is repeated',
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const rollback = caller.rollback(await bookFirst(caller, caller.bet()));
        await bookFirst(caller, rollback);
        expectApproved(await caller.decide(rollback), 'APPROVED the second time too');
      }),
  },
  {
    id: 'rollback-another-id',
    title: 'reverses a BET once, whatever ROLLBACK ids name it',
    rule: RULES.oneReversal,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.rollback(bet));
        expectApproved(await caller.decide(caller.rollback(bet)), 'APPROVED for the second ROLLBACK');
        expectApproved(await caller.decide(caller.rollback(bet)), 'APPROVED for the third ROLLBACK');
      }),
  },
  {
    id: 'rollback-by-platform',
    title: 'reverses a BET by a ROLLBACK of the platform, whose id begins with croupier-',
    rule: RULES.rollbackAmount,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        const transactionId = `croupier-${caller.calls.freshHex()}`;
        const rollback = caller.rollback(bet, { transactionId });
        expectApproved(await caller.decide(rollback));
        expectApproved(await caller.decide(rollback), 'APPROVED the second time too');
      }),
  },
  {
    id: 'rollback-leaves-others',
    title: 'reverses one BET of a round and leaves the other',
    rule: RULES.rollbackAmount,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.bet({ roundId: bet['roundId'] }));
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-each-of-a-round',
    title: 'reverses every BET of a round whose ROLLBACKs arrive one after the other',
    rule: RULES.rollbackAmount,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const first = await bookFirst(caller, caller.bet());
        const second = await bookFirst(caller, caller.bet({ roundId: first['roundId'] }));
        expectApproved(await caller.decide(caller.rollback(second)));
        expectApproved(await caller.decide(caller.rollback(first)), 'APPROVED for the other ROLLBACK');
      }),
  },
  {
    id: 'rollback-of-declined',
    title: 'approves the ROLLBACK of a DECLINED BET and moves nothing',
    rule: RULES.rollbackOfDeclined,
    run: (caller) =>
      expectMovement(caller, 0, async (before) => {
        const bet = caller.bet({ amountMinor: before + 1 });
        expectDeclined(await caller.decide(bet));
        expectApproved(await caller.decide(caller.rollback(bet)));
        expectApproved(await caller.decide(caller.rollback(bet)), 'APPROVED for a second ROLLBACK');
      }),
  },
  {
    id: 'rollback-of-declined-then-bet',
    title: 'declines a repeated BET that it declined and rolled back, even if there is money by then',
    rule: RULES.once,
    run: async (caller) => {
      await setBalance(caller, 0);
      const bet = caller.bet();
      expectDeclined(await caller.decide(bet));
      await bookFirst(caller, caller.rollback(bet));
      await fund(caller);
      await expectMovement(caller, 0, async () =>
        expectDeclined(await caller.decide(bet), 'DECLINED as the first time'),
      );
    },
  },
  {
    id: 'rollback-of-zero',
    title: 'approves the ROLLBACK of a BET of 0',
    rule: RULES.rollbackAmount,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet({ amountMinor: 0 }));
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-without-money',
    title: 'reverses a BET at a balance of 0',
    rule: RULES.rollbackOfAnyAge,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      await setBalance(caller, 0);
      await expectBooked(caller, caller.rollback(bet), caller.stakeMinor);
    },
  },
  {
    id: 'rollback-then-bet-again',
    title: 'does not book a BET again that was rolled back',
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.rollback(bet));
        for (let times = 0; times < 2; times += 1) await caller.decide(bet);
        await caller.decide(caller.rollback(bet));
      }),
  },
  {
    id: 'rollback-other-provider',
    title: "does not reverse another provider's BET of the same transactionId",
    rule: RULES.identity,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        const { otherProviderId: providerId } = caller;
        expectApproved(await caller.decide(caller.rollback(bet, { providerId })));
      }),
  },
  {
    id: 'rollback-other-case',
    title: 'does not reverse a BET whose transactionId differs in upper and lower case',
    rule: RULES.identifiers,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        const originalTransactionId = bet.transactionId.toUpperCase();
        expectApproved(await caller.decide(caller.rollback(bet, { originalTransactionId })));
      }),
  },
  {
    id: 'rollback-longest-ids',
    title: `reverses the right one of two BETs whose ids of ${LONGEST_ID} characters differ in the last one`,
    rule: RULES.lengths,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const start = caller.calls.fresh('long').padEnd(LONGEST_ID - 1, 'x');
        await bookFirst(caller, caller.bet({ transactionId: `${start}1` }));
        const bet = await bookFirst(
          caller,
          caller.bet({ transactionId: `${start}2`, amountMinor: 2 * caller.stakeMinor }),
        );
        const transactionId = caller.calls.fresh('rollback').padEnd(LONGEST_ID, 'x');
        const rollback = caller.rollback(bet, { transactionId });
        expectApproved(await caller.decide(rollback));
        expectApproved(await caller.decide(rollback), 'APPROVED the second time too');
      }),
  },
  {
    id: 'rollback-after-other-bets',
    title: 'reverses a BET that was followed by others',
    rule: RULES.rollbackOfAnyAge,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.bet());
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-after-round-closed',
    title: 'reverses a BET that closed its round',
    rule: RULES.rollbackOfAnyAge,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet({ roundClosed: true }));
        expectApproved(await caller.decide(caller.rollback(bet, { roundClosed: true })));
      }),
  },
  {
    id: 'rollback-after-promotion',
    title: 'reverses a BET in whose round a PROMOTION was paid, and leaves the PROMOTION',
    rule: RULES.rollbackOfAnyAge,
    run: (caller) =>
      expectMovement(caller, 2 * caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        const promotionRef = caller.calls.fresh('promotion');
        await bookFirst(
          caller,
          caller.win({
            roundId: bet['roundId'],
            winKind: 'PROMOTION',
            promotionRef,
            amountMinor: 2 * caller.stakeMinor,
          }),
        );
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-of-win',
    title: 'moves nothing for a ROLLBACK that names a WIN',
    rule: RULES.rollbackOnlyBets,
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const win = await bookFirst(caller, caller.win({ roundId }));
      await expectMovement(caller, 0, () => caller.send(caller.rollback(win)));
    },
  },
  {
    id: 'rollback-of-rollback',
    title: 'moves nothing for a ROLLBACK that names a ROLLBACK',
    rule: RULES.rollbackOnlyBets,
    run: async (caller) => {
      const rollback = await bookFirst(caller, caller.rollback(await bookFirst(caller, caller.bet())));
      await expectMovement(caller, 0, () => caller.send(caller.rollback(rollback)));
    },
  },
  {
    id: 'rollback-to-other-player',
    title: 'gives no money to a player whose ROLLBACK names the BET of another one',
    rule: RULES.rollbackAmount,
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      const playerRef = caller.wallet.otherPlayerRef ?? '';
      await expectMovement(caller, 0, () => caller.send(caller.rollback(bet, { playerRef })), { playerRef });
    },
  },
];
