import type { WalletCaller, WalletOrder } from '../../caller.js';

/** A transaction of each kind, a tombstone with its BET, and a BET without the money, to be sent in this order. */
export async function oneOfEach(caller: WalletCaller): Promise<WalletOrder[]> {
  const [bet, reversed, missing] = [caller.bet(), caller.bet(), caller.bet()];
  return [
    bet,
    caller.win({ roundId: bet['roundId'] }),
    reversed,
    caller.rollback(reversed),
    caller.rollback(missing),
    missing,
    caller.adjustment(caller.stakeMinor),
    caller.bet({ amountMinor: 2 * (await caller.balance()) + 1 }),
  ];
}
