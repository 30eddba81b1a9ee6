import { expectApproved, expectDeclined, bookFirst, expectMovement } from './expectations.js';
import type { WalletCase } from './wallet-case.js';

export const ROLLBACK_CASES: WalletCase[] = [
  {
    id: 'rollback-reverses',
    title: 'gives the amount of a BET back',
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-original-amount',
    title: "moves the BET's amount, whatever amount the ROLLBACK carries",
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        expectApproved(await caller.decide(caller.rollback(bet, { amountMinor: 0 })));
      }),
  },
  {
    id: 'rollback-repeated',
    title: 'reverses a BET once when the ROLLBACK is repeated',
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
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.rollback(bet));
        await caller.decide(caller.rollback(bet));
      }),
  },
  {
    id: 'rollback-leaves-others',
    title: 'reverses one BET of a round and leaves the other',
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.bet({ roundId: bet['roundId'] }));
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-of-declined',
    title: 'approves the ROLLBACK of a DECLINED BET and moves nothing',
    run: (caller) =>
      expectMovement(caller, 0, async (before) => {
        const bet = caller.bet({ amountMinor: before + 1 });
        expectDeclined(await caller.decide(bet));
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-unknown',
    title: 'approves a ROLLBACK of a transaction that it never booked and moves nothing',
    run: (caller) =>
      expectMovement(caller, 0, async () =>
        expectApproved(await caller.decide(caller.rollback(caller.bet()))),
      ),
  },
  {
    id: 'rollback-unknown-repeated',
    title: 'approves a repeated ROLLBACK of a transaction that it never booked',
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const rollback = caller.rollback(caller.bet());
        await bookFirst(caller, rollback);
        expectApproved(await caller.decide(rollback), 'APPROVED the second time too');
      }),
  },
  {
    id: 'rollback-before-bet',
    title: 'declines a BET whose ROLLBACK came first',
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        await bookFirst(caller, caller.rollback(bet));
        expectDeclined(await caller.decide(bet));
      }),
  },
  {
    id: 'rollback-before-bet-repeated',
    title: 'declines a BET whose ROLLBACK came first, however often it arrives',
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = caller.bet();
        await bookFirst(caller, caller.rollback(bet));
        for (let times = 0; times < 3; times += 1)
          expectDeclined(await caller.decide(bet), 'DECLINED each time');
      }),
  },
  {
    id: 'rollback-then-bet-again',
    title: 'does not book a BET again that was rolled back',
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.rollback(bet));
        await caller.decide(bet);
      }),
  },
  {
    id: 'rollback-other-provider',
    title: "does not reverse another provider's BET of the same transactionId",
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        const providerId = `${caller.wallet.providerId}-other`.slice(-64);
        expectApproved(await caller.decide(caller.rollback(bet, { providerId })));
      }),
  },
  {
    id: 'rollback-after-other-bets',
    title: 'reverses a BET that was followed by others',
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.bet());
        await bookFirst(caller, caller.bet());
        expectApproved(await caller.decide(caller.rollback(bet)));
      }),
  },
];
