import type { WinKind } from './facts.js';

export const WIN_KINDS = [
  'GAME',
  'FREE_SPINS',
  'JACKPOT',
  'PROMOTION',
  'TOURNAMENT',
] as const satisfies readonly WinKind[];

/** The fields of a WIN that determine its kind. */
interface KindOfWin {
  readonly winKind?: WinKind | null;
  readonly freeSpinsRef?: string | null;
}

/** The kind of a WIN, with its default. `WIN_KIND` in wallet/transaction.sql.ts repeats it. */
export function winKindOf({ winKind, freeSpinsRef }: KindOfWin): WinKind {
  return winKind ?? (freeSpinsRef == null ? 'GAME' : 'FREE_SPINS');
}

/**
 * Whether a WIN is judged by the BETs of its round. Only a WIN of the game is; the others may be paid without a stake.
 * Contract, section 3, "A WIN".
 */
export function dependsOnBets(win: KindOfWin): boolean {
  return winKindOf(win) === 'GAME';
}

/**
 * The kinds of a WIN that a spin has won. It is flagged if the BETs of its round were rolled back. Contract, section 6,
 * `NO_STANDING_BET`.
 */
export const SPIN_WINS = ['GAME', 'FREE_SPINS'] as const satisfies readonly WinKind[];

/** The kinds of a prize that is no result of the round in which it is paid. */
export const PRIZES = ['PROMOTION', 'TOURNAMENT'] as const satisfies readonly WinKind[];

/**
 * Whether a WIN settles its round, so that a BET of the round is not rolled back any more. Contract, section 3, "A
 * ROLLBACK". `settlingWin` in wallet/transaction.sql.ts repeats it.
 */
export function settlesRound(win: KindOfWin): boolean {
  return !(PRIZES as readonly WinKind[]).includes(winKindOf(win));
}

/**
 * Whether two requests for a WIN name the same kind. If neither names one, they do, because `freeSpinsRef` is not part
 * of the fingerprint. Contract, section 3, "Transaction request".
 */
export function sameWinKind(one: KindOfWin, other: KindOfWin): boolean {
  return (one.winKind == null && other.winKind == null) || winKindOf(one) === winKindOf(other);
}
