import type { WalletCaller, WalletOrder } from './caller.js';

/** A transaction of each kind, and a BET that must be declined, to be sent in this order. */
export async function oneOfEach(caller: WalletCaller): Promise<WalletOrder[]> {
  const [bet, reversed] = [caller.bet(), caller.bet()];
  return [
    bet,
    caller.win({ roundId: bet['roundId'] }),
    reversed,
    caller.rollback(reversed),
    caller.adjustment(caller.stakeMinor),
    caller.bet({ amountMinor: 2 * (await caller.balance()) + 1 }),
  ];
}
