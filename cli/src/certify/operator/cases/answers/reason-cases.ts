import { Unmet } from '../../../outcome.js';
import type { Decision } from '../../answers.js';
import { bookFirst, expectDeclined } from '../../expectations.js';
import { RULES } from '../../rules.js';
import { type WalletCase, withoutUnknownPlayer } from '../wallet-case.js';

const ROLLED_BACK = 'TRANSACTION_ROLLED_BACK';
/** The codes with which a wallet may decline a BET for lack of money. */
const FOR_LACK_OF_MONEY = ['INSUFFICIENT_FUNDS', 'LIMIT_REACHED', 'STAKE_ABOVE_LIMIT'];
/** The codes with which a wallet may decline a BET of a player without an account. */
const FOR_NO_ACCOUNT = [...FOR_LACK_OF_MONEY, 'PLAYER_BLOCKED'];
/** All codes but OTHER, which a wallet need not give: the provider sees any text of the wallet's own as OTHER. */
const CODES = [...FOR_NO_ACCOUNT, ROLLED_BACK, 'ROUND_ALREADY_SETTLED', 'NOT_ROLLBACKABLE'];
const HINT = 'The provider sees another spelling as OTHER, and shows the player the wrong message.';

export const REASON_CASES: WalletCase[] = [
  {
    id: 'reason-funds',
    title: 'spells the reason for a lack of money as the contract does, or gives a text of its own, or none',
    rule: RULES.reason,
    run: async (caller) => {
      const bet = caller.bet({ amountMinor: (await caller.balance()) + 1 });
      expectReason(expectDeclined(await caller.decide(bet)), FOR_LACK_OF_MONEY);
    },
  },
  {
    id: 'reason-rolled-back',
    title:
      'spells the reason for a BET whose ROLLBACK came first as the contract does, or gives its own, or none',
    rule: RULES.reason,
    run: async (caller) => {
      const bet = caller.bet();
      await bookFirst(caller, caller.rollback(bet));
      expectReason(expectDeclined(await caller.decide(bet)), [ROLLED_BACK]);
    },
  },
  {
    id: 'reason-unknown-player',
    title:
      'spells the reason for a BET of a player that it does not know as the contract does, or gives its own, or none',
    rule: RULES.reason,
    skipped: withoutUnknownPlayer,
    run: async (caller) => {
      const { unknownPlayerRef: playerRef = '' } = caller.wallet;
      expectReason(expectDeclined(await caller.decide(caller.bet({ playerRef }))), FOR_NO_ACCOUNT);
    },
  },
];

/** Expects no reason, a fitting code, or a text that is no other spelling of a code. */
function expectReason({ reason }: Decision, fitting: readonly string[]): void {
  if (reason === undefined) return;
  if (typeof reason !== 'string' || reason === '')
    throw new Unmet('a reason that is a text', JSON.stringify(reason));
  const code = CODES.find((each) => lettersOf(each) === lettersOf(reason));
  if (code === undefined) return;
  if (code !== reason)
    throw new Unmet(`the reason ${code}, or a text of your own`, JSON.stringify(reason), HINT);
  if (!fitting.includes(code))
    throw new Unmet(`the reason ${fitting.join(' or ')}, or a text of your own`, code);
}

/** The letters of a reason, however it is spelled: `insufficientFunds` and `Insufficient funds.` are the same. */
function lettersOf(reason: string): string {
  return reason.toUpperCase().replace(/[^A-Z]/g, '');
}
