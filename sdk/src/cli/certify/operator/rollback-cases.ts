import { approved, declined, first, moves } from './expectations.js';
import type { WalletCase } from './wallet-case.js';

export const ROLLBACK_CASES: WalletCase[] = [
  {
    id: 'rollback-reverses',
    title: 'gives the amount of a BET back',
    run: (caller) =>
      moves(caller, 0, async () => {
        const bet = await first(caller, caller.bet());
        approved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-original-amount',
    title: "moves the BET's amount, whatever amount the ROLLBACK carries",
    run: (caller) =>
      moves(caller, 0, async () => {
        const bet = await first(caller, caller.bet());
        approved(await caller.decide(caller.rollback(bet, { amountMinor: 0 })));
      }),
  },
  {
    id: 'rollback-repeated',
    title: 'reverses a BET once when the ROLLBACK is repeated',
    run: (caller) =>
      moves(caller, 0, async () => {
        const rollback = caller.rollback(await first(caller, caller.bet()));
        await first(caller, rollback);
        approved(await caller.decide(rollback), 'APPROVED the second time too');
      }),
  },
  {
    id: 'rollback-another-id',
    title: 'reverses a BET once, whatever ROLLBACK ids name it',
    run: (caller) =>
      moves(caller, 0, async () => {
        const bet = await first(caller, caller.bet());
        await first(caller, caller.rollback(bet));
        await caller.decide(caller.rollback(bet));
      }),
  },
  {
    id: 'rollback-leaves-others',
    title: 'reverses one BET of a round and leaves the other',
    run: (caller) =>
      moves(caller, -caller.stakeMinor, async () => {
        const bet = await first(caller, caller.bet());
        await first(caller, caller.bet({ roundId: bet['roundId'] }));
        approved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-of-declined',
    title: 'approves the ROLLBACK of a DECLINED BET and moves nothing',
    run: (caller) =>
      moves(caller, 0, async (before) => {
        const bet = caller.bet({ amountMinor: before + 1 });
        declined(await caller.decide(bet));
        approved(await caller.decide(caller.rollback(bet)));
      }),
  },
  {
    id: 'rollback-unknown',
    title: 'approves a ROLLBACK of a transaction that it never booked and moves nothing',
    run: (caller) =>
      moves(caller, 0, async () => approved(await caller.decide(caller.rollback(caller.bet())))),
  },
  {
    id: 'rollback-unknown-repeated',
    title: 'approves a repeated ROLLBACK of a transaction that it never booked',
    run: (caller) =>
      moves(caller, 0, async () => {
        const rollback = caller.rollback(caller.bet());
        await first(caller, rollback);
        approved(await caller.decide(rollback), 'APPROVED the second time too');
      }),
  },
  {
    id: 'rollback-before-bet',
    title: 'declines a BET whose ROLLBACK came first',
    run: (caller) =>
      moves(caller, 0, async () => {
        const bet = caller.bet();
        await first(caller, caller.rollback(bet));
        declined(await caller.decide(bet));
      }),
  },
  {
    id: 'rollback-before-bet-repeated',
    title: 'declines a BET whose ROLLBACK came first, however often it arrives',
    run: (caller) =>
      moves(caller, 0, async () => {
        const bet = caller.bet();
        await first(caller, caller.rollback(bet));
        for (let times = 0; times < 3; times += 1) declined(await caller.decide(bet), 'DECLINED each time');
      }),
  },
  {
    id: 'rollback-then-bet-again',
    title: 'does not book a BET again that was rolled back',
    run: (caller) =>
      moves(caller, 0, async () => {
        const bet = await first(caller, caller.bet());
        await first(caller, caller.rollback(bet));
        await caller.decide(bet);
      }),
  },
  {
    id: 'rollback-other-provider',
    title: "does not reverse another provider's BET of the same transactionId",
    run: (caller) =>
      moves(caller, -caller.stakeMinor, async () => {
        const bet = await first(caller, caller.bet());
        const providerId = `${caller.wallet.providerId}-other`.slice(-64);
        approved(await caller.decide(caller.rollback(bet, { providerId })));
      }),
  },
  {
    id: 'rollback-after-other-bets',
    title: 'reverses a BET that was followed by others',
    run: (caller) =>
      moves(caller, -2 * caller.stakeMinor, async () => {
        const bet = await first(caller, caller.bet());
        await first(caller, caller.bet());
        await first(caller, caller.bet());
        approved(await caller.decide(caller.rollback(bet)));
      }),
  },
];
