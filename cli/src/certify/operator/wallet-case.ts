import type { Case } from '../outcome.js';
import type { WalletCaller } from './caller.js';

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
