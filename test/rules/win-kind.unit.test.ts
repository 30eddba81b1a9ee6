import { expect, test } from 'vitest';
import type { WinKind } from '../../src/wallet/rules/facts.js';
import { dependsOnBets, settlesRound, WIN_KINDS, winKindOf } from '../../src/wallet/rules/win-kind.js';

const TABLE: {
  winKind?: WinKind | null;
  freeSpinsRef?: string | null;
  is: WinKind;
  needsBet: boolean;
  settles: boolean;
}[] = [
  { is: 'GAME', needsBet: true, settles: true },
  { winKind: null, freeSpinsRef: null, is: 'GAME', needsBet: true, settles: true },
  { winKind: 'GAME', is: 'GAME', needsBet: true, settles: true },
  { freeSpinsRef: 'batch-1', is: 'FREE_SPINS', needsBet: false, settles: true },
  { winKind: 'FREE_SPINS', freeSpinsRef: 'batch-1', is: 'FREE_SPINS', needsBet: false, settles: true },
  { winKind: 'JACKPOT', is: 'JACKPOT', needsBet: false, settles: true },
  { winKind: 'JACKPOT', freeSpinsRef: 'batch-1', is: 'JACKPOT', needsBet: false, settles: true },
  { winKind: 'PROMOTION', is: 'PROMOTION', needsBet: false, settles: false },
  { winKind: 'TOURNAMENT', is: 'TOURNAMENT', needsBet: false, settles: false },
  { winKind: 'TOURNAMENT', freeSpinsRef: 'batch-1', is: 'TOURNAMENT', needsBet: false, settles: false },
];

test.each(TABLE)(
  'a WIN with the winKind $winKind and the freeSpinsRef $freeSpinsRef is a $is',
  ({ is, needsBet, settles, ...win }) => {
    expect([winKindOf(win), dependsOnBets(win), settlesRound(win)]).toEqual([is, needsBet, settles]);
  },
);

test('the table has every kind that a request may name', () => {
  expect(new Set(WIN_KINDS)).toEqual(new Set(TABLE.map(({ is }) => is)));
});
