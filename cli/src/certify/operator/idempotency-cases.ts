import { expectApproved, expectDeclined, bookFirst, expectMovement, setBalance } from './expectations.js';
import { LONGEST_ID, PUNCTUATION } from './identifiers.js';
import { type WalletCase, withoutOtherPlayer } from './wallet-case.js';

export const IDEMPOTENCY_CASES: WalletCase[] = [
  {
    id: 'bet-repeated',
    title: 'books a BET once, however often it arrives',
    run: async (caller) => {
      const bet = caller.bet();
      await expectMovement(caller, -caller.stakeMinor, async () => {
        for (let times = 0; times < 3; times += 1)
          expectApproved(await caller.decide(bet), 'APPROVED each time');
      });
    },
  },
  {
    id: 'bet-repeated-later',
    title: 'recognises a repeated BET after others',
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      for (let others = 0; others < 5; others += 1) await bookFirst(caller, caller.bet({ amountMinor: 0 }));
      await expectMovement(caller, 0, async () => expectApproved(await caller.decide(bet)));
    },
  },
  {
    id: 'bet-repeated-without-funds',
    title: 'approves a repeated BET even if the money is gone by then',
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      await setBalance(caller, 0);
      await expectMovement(caller, 0, async () => expectApproved(await caller.decide(bet)));
    },
  },
  {
    id: 'declined-repeated',
    title: 'declines a repeated BET that it declined, even if there is money by then',
    run: async (caller) => {
      await setBalance(caller, 0);
      const bet = caller.bet();
      expectDeclined(await caller.decide(bet));
      await setBalance(caller, 5 * caller.stakeMinor);
      await expectMovement(caller, 0, async () =>
        expectDeclined(await caller.decide(bet), 'DECLINED as the first time'),
      );
    },
  },
  {
    id: 'win-repeated',
    title: 'books a WIN once, however often it arrives',
    run: async (caller) => {
      const { roundId } = await bookFirst(caller, caller.bet());
      const win = caller.win({ roundId });
      await expectMovement(caller, caller.stakeMinor, async () => {
        for (let times = 0; times < 3; times += 1)
          expectApproved(await caller.decide(win), 'APPROVED each time');
      });
    },
  },
  {
    id: 'bet-repeated-another-amount',
    title: 'moves nothing for a known transactionId with another amount',
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      await expectMovement(caller, 0, () => caller.send({ ...bet, amountMinor: 2 * caller.stakeMinor }));
    },
  },
  {
    id: 'bet-repeated-another-player',
    title: 'moves nothing for a known transactionId with another player',
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      const playerRef = caller.wallet.otherPlayerRef ?? '';
      await expectMovement(caller, 0, () => caller.send({ ...bet, playerRef }), playerRef);
    },
  },
  {
    id: 'win-with-id-of-bet',
    title: 'moves nothing for a WIN with the transactionId of a BET',
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      await expectMovement(caller, 0, () => caller.send({ ...bet, kind: 'WIN' }));
    },
  },
  {
    id: 'same-id-other-provider',
    title: 'books the same transactionId for each of two providers',
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      const providerId = `${caller.wallet.providerId}-other`.slice(-64);
      const act = async () => expectApproved(await caller.decide({ ...bet, providerId }));
      await expectMovement(caller, -caller.stakeMinor, act);
    },
  },
  {
    id: 'ids-case-sensitive',
    title: 'distinguishes upper and lower case in a transactionId',
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const bet = await bookFirst(caller, caller.bet());
        const transactionId = bet.transactionId.toUpperCase();
        expectApproved(await caller.decide(caller.bet({ transactionId })));
      }),
  },
  {
    id: 'ids-longest',
    title: `distinguishes transactionIds of ${LONGEST_ID} characters that differ in the last one`,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const start = caller.calls.fresh('long').padEnd(LONGEST_ID - 1, 'x');
        await bookFirst(caller, caller.bet({ transactionId: `${start}1` }));
        expectApproved(await caller.decide(caller.bet({ transactionId: `${start}2` })));
      }),
  },
  {
    id: 'ids-punctuation',
    title: 'takes a transactionId with any printable ASCII character',
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const bet = caller.bet({ transactionId: caller.calls.fresh(PUNCTUATION) });
        expectApproved(await caller.decide(bet));
        expectApproved(await caller.decide(bet), 'APPROVED the second time too');
      }),
  },
];
