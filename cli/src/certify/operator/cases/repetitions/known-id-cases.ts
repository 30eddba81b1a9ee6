import type { WalletCaller, WalletOrder } from '../../caller.js';
import { bookFirst, expectMovement } from '../../expectations.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutOtherPlayer } from '../wallet-case.js';

/** A transaction, and the same id with other fields. */
interface Change {
  id: string;
  title: string;
  first: (caller: WalletCaller) => Promise<WalletOrder> | WalletOrder;
  change: (caller: WalletCaller, first: WalletOrder) => Partial<WalletOrder>;
}

const bet = (caller: WalletCaller) => caller.bet();
const win = (caller: WalletCaller) => caller.win();
const rollback = async (caller: WalletCaller) => caller.rollback(await bookFirst(caller, caller.bet()));
const otherAmount = (caller: WalletCaller) => ({ amountMinor: 2 * caller.stakeMinor });
const otherRound = (caller: WalletCaller) => ({ roundId: caller.calls.fresh('round') });

const CHANGES: Change[] = [
  { id: 'bet-repeated-another-amount', title: 'a BET with another amount', first: bet, change: otherAmount },
  { id: 'bet-repeated-another-round', title: 'a BET in another round', first: bet, change: otherRound },
  {
    id: 'bet-repeated-another-game',
    title: 'a BET of another game',
    first: bet,
    change: (caller) => ({ gameId: caller.otherGameId }),
  },
  {
    id: 'bet-repeated-another-currency',
    title: 'a BET in another currency',
    first: bet,
    change: () => ({ currency: 'XTS' }),
  },
  { id: 'win-repeated-another-amount', title: 'a WIN with another amount', first: win, change: otherAmount },
  { id: 'win-repeated-another-round', title: 'a WIN in another round', first: win, change: otherRound },
  {
    id: 'win-repeated-another-kind',
    title: 'a WIN with a winKind and a promotionRef',
    first: win,
    change: (caller) => ({ winKind: 'PROMOTION', promotionRef: caller.calls.fresh('promotion') }),
  },
  {
    id: 'adjustment-repeated-another-amount',
    title: 'an ADJUSTMENT with another amount',
    first: (caller) => caller.adjustment(caller.stakeMinor),
    change: otherAmount,
  },
  {
    id: 'win-with-id-of-bet',
    title: 'a WIN with the transactionId of a BET',
    first: bet,
    change: () => ({ kind: 'WIN' }),
  },
  {
    id: 'bet-with-id-of-win',
    title: 'a BET with the transactionId of a WIN',
    first: win,
    change: () => ({ kind: 'BET' }),
  },
  {
    id: 'rollback-with-id-of-bet',
    title: 'a ROLLBACK with the transactionId of the BET that it names',
    first: bet,
    change: (_, { transactionId }) => ({ kind: 'ROLLBACK', originalTransactionId: transactionId }),
  },
  {
    id: 'bet-with-id-of-rollback',
    title: 'a BET with the transactionId of a ROLLBACK',
    first: rollback,
    change: () => ({ kind: 'BET', originalTransactionId: undefined }),
  },
];

export const KNOWN_ID_CASES: WalletCase[] = [
  ...CHANGES.map(({ id, title, first, change }): WalletCase => ({
    id,
    title: `moves nothing for a known transactionId: ${title}`,
    rule: RULES.otherFields,
    run: async (caller) => {
      const known = await bookFirst(caller, await first(caller));
      const changed = { ...known, ...change(caller, known) };
      await expectMovement(caller, 0, () => caller.send(changed));
    },
  })),
  {
    id: 'rollback-repeated-another-target',
    title: 'moves nothing for a known transactionId: a ROLLBACK of another BET',
    rule: RULES.otherFields,
    run: async (caller) => {
      const known = await bookFirst(caller, await rollback(caller));
      const { transactionId } = await bookFirst(caller, caller.bet());
      await expectMovement(caller, 0, () => caller.send({ ...known, originalTransactionId: transactionId }));
    },
  },
  {
    id: 'bet-repeated-another-player',
    title: 'moves nothing for a known transactionId: a BET of another player',
    rule: RULES.otherFields,
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const known = await bookFirst(caller, caller.bet());
      const playerRef = caller.wallet.otherPlayerRef ?? '';
      const act = () => caller.send({ ...known, playerRef });
      await expectMovement(caller, 0, () => expectMovement(caller, 0, act, { playerRef }));
    },
  },
  {
    id: 'win-repeated-another-player',
    title: 'moves nothing for a known transactionId: a WIN of another player',
    rule: RULES.otherFields,
    skipped: withoutOtherPlayer,
    run: async (caller) => {
      const known = await bookFirst(caller, caller.win());
      const playerRef = caller.wallet.otherPlayerRef ?? '';
      const act = () => caller.send({ ...known, playerRef });
      await expectMovement(caller, 0, () => expectMovement(caller, 0, act, { playerRef }));
    },
  },
];
