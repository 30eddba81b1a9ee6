import type { Case } from '../../outcome.js';
import type { WalletCaller } from '../caller.js';

/** A case without its group, which the list of all cases adds. */
export type WalletCase = Omit<Case<WalletCaller>, 'group'>;

export function withoutUnknownPlayer({ wallet }: WalletCaller): string | undefined {
  return wallet.unknownPlayerRef === undefined
    ? 'a player without an account is needed: name one with --unknown-player'
    : undefined;
}

export function withoutOtherPlayer({ wallet }: WalletCaller): string | undefined {
  return wallet.otherPlayerRef === undefined
    ? 'a second player with an account is needed: name one with --other-player'
    : undefined;
}

export function withoutOtherCurrency({ wallet }: WalletCaller): string | undefined {
  return wallet.otherCurrency === undefined
    ? 'a second currency in which the player has an account is needed: name one with --other-currency'
    : undefined;
}

export function withoutRestartCommand({ wallet }: WalletCaller): string | undefined {
  return wallet.restartCommand === undefined
    ? 'a command that restarts the wallet is needed: name one with --restart-command'
    : undefined;
}
