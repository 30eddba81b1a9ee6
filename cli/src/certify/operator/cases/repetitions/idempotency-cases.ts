import { setTimeout as delay } from 'node:timers/promises';
import {
  bookFirst,
  expectApproved,
  expectBalance,
  expectDeclined,
  expectMovement,
  expectRepeated,
  fund,
  setBalance,
} from '../../expectations.js';
import { Unmet } from '../../../outcome.js';
import { WALLET_ROUTES, type WalletCaller, type WalletOrder } from '../../caller.js';
import { LONGEST_ID } from '../identifiers.js';
import { RULES } from '../../rules.js';
import type { WalletCase } from '../wallet-case.js';

export const IDEMPOTENCY_CASES: WalletCase[] = [
  {
    id: 'bet-repeated',
    title: 'books a BET once, however often it arrives',
    rule: RULES.once,
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
    rule: RULES.once,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      for (let others = 0; others < 5; others += 1) await bookFirst(caller, caller.bet({ amountMinor: 0 }));
      await expectMovement(caller, 0, async () => expectApproved(await caller.decide(bet)));
    },
  },
  {
    id: 'repeated-on-new-connections',
    title: 'recognises a BET, a WIN and a ROLLBACK that are repeated on other connections',
    rule: RULES.once,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      const win = await bookFirst(caller, caller.win({ roundId: bet['roundId'] }));
      const rollback = await bookFirst(caller, caller.rollback(await bookFirst(caller, caller.bet())));
      await expectMovement(caller, 0, async () => {
        for (const order of [bet, win, rollback, bet, win, rollback])
          expectApproved(
            await caller.decide(order, { agent: false }),
            `APPROVED for the repeated ${order.kind}`,
          );
      });
    },
  },
  {
    id: 'bet-repeated-without-funds',
    title: 'approves a repeated BET even if the money is gone by then',
    rule: RULES.once,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      await setBalance(caller, 0);
      await expectMovement(caller, 0, async () => expectApproved(await caller.decide(bet)));
    },
  },
  {
    id: 'bet-zero-repeated',
    title: 'recognises a repeated BET of 0 and a repeated WIN of 0',
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 0, async () => {
        const bet = await bookFirst(caller, caller.bet({ amountMinor: 0 }));
        const win = await bookFirst(caller, caller.win({ roundId: bet['roundId'], amountMinor: 0 }));
        for (const order of [bet, win]) {
          expectApproved(await caller.decide(order), `APPROVED for the repeated ${order.kind}`);
          await caller.send({ ...order, amountMinor: (order === bet ? 1 : 2) * caller.stakeMinor });
        }
      }),
  },
  {
    id: 'declined-repeated',
    title: 'declines a repeated BET that it declined, even if there is money by then',
    rule: RULES.once,
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
    id: 'reason-repeated',
    title: 'answers a repeated transaction with the same reason',
    rule: RULES.once,
    run: async (caller) => {
      const bet = caller.bet({ amountMinor: (await caller.balance()) + 1 });
      const first = await caller.decide(bet);
      await expectRepeated(caller, bet, first);
      const tombstoned = caller.bet();
      await bookFirst(caller, caller.rollback(tombstoned));
      await expectRepeated(caller, tombstoned, await caller.decide(tombstoned));
      await fund(caller);
      await expectRepeated(caller, bet, first);
    },
  },
  {
    id: 'win-repeated',
    title: 'books a WIN once, however often it arrives',
    rule: RULES.once,
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
    id: 'prize-repeated',
    title: 'books a JACKPOT and a WIN of free spins once, however often they arrive',
    rule: RULES.once,
    run: (caller) =>
      expectMovement(caller, 2 * caller.stakeMinor, async () => {
        const promotionRef = caller.calls.fresh('promotion');
        const prizes = [
          caller.win({ winKind: 'JACKPOT', promotionRef }),
          caller.win({ freeSpinsRef: caller.calls.fresh('free-spins') }),
        ];
        for (const prize of prizes) {
          for (let times = 0; times < 2; times += 1)
            expectApproved(await caller.decide(prize), 'APPROVED each time');
        }
      }),
  },
  {
    id: 'bet-repeated-after-win',
    title: 'approves a repeated BET after its round was won and closed',
    rule: RULES.once,
    run: async (caller) => {
      const bet = await bookFirst(caller, caller.bet());
      const win = await bookFirst(caller, caller.win({ roundId: bet['roundId'], roundClosed: true }));
      await expectMovement(caller, 0, async () => {
        for (const order of [bet, win])
          expectApproved(await caller.decide(order), `APPROVED for the repeated ${order.kind}`);
      });
    },
  },
  {
    id: 'request-id-repeated',
    title: 'books two BETs that have the same X-Request-Id',
    rule: RULES.requestId,
    run: (caller) =>
      expectMovement(caller, -2 * caller.stakeMinor, async () => {
        const requestId = caller.calls.fresh('request');
        const headers = (signed: Record<string, string>) => ({ ...signed, 'X-Request-Id': requestId });
        for (const which of ['first', 'second'])
          expectApproved(await caller.decide(caller.bet(), { headers }), `APPROVED for the ${which} BET`);
      }),
  },
  {
    id: 'request-id-longest',
    title: 'books a BET whose X-Request-Id has 128 characters',
    rule: RULES.requestId,
    run: (caller) =>
      expectMovement(caller, -caller.stakeMinor, async () => {
        const requestId = `${caller.calls.fresh('request')}:.`.padEnd(LONGEST_ID, 'x');
        const headers = (signed: Record<string, string>) => ({ ...signed, 'X-Request-Id': requestId });
        expectApproved(await caller.decide(caller.bet(), { headers }));
      }),
  },
  {
    id: 'bet-cut-off',
    title: 'books a BET once whose connection broke before the answer, and then decides its repetition',
    rule: RULES.repeats,
    run: async (caller) => {
      // The repetition may also overtake the call.
      for (const pauseMs of [0, caller.wallet.slowMs]) {
        const bet = caller.bet();
        await expectMovement(caller, -caller.stakeMinor, async () => {
          await caller.calls.abandon(WALLET_ROUTES.transaction, bet);
          await delay(pauseMs);
          expectApproved(await caller.decideEventually(bet), 'APPROVED for the repetition');
          expectApproved(await caller.decide(bet), 'APPROVED for another repetition');
        });
      }
    },
  },
  {
    id: 'bet-half-sent',
    title: 'goes on after half a body, and then decides the whole transaction',
    rule: RULES.repeats,
    run: async (caller) => {
      const bet = caller.bet();
      const before = await caller.balance();
      await abandonHalfway(caller, bet);
      await delay(caller.wallet.slowMs);
      const { balance } = expectApproved(await caller.decideEventually(bet));
      expectBalance(balance, before - caller.stakeMinor, 'in the answer');
    },
  },
];

/** Sends half of a transaction's body, and closes the connection. */
async function abandonHalfway(caller: WalletCaller, order: WalletOrder): Promise<void> {
  const never = () => new Promise<never>(() => undefined);
  try {
    await caller.calls.post(WALLET_ROUTES.transaction, order, { abandoned: true, halfway: never });
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
  }
}
