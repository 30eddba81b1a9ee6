import { expect, test } from 'vitest';
import type { RoundFacts, TransactionRequest } from '../../src/wallet/rules/facts.js';
import { decideWin } from '../../src/wallet/rules/win.js';
import { EMPTY_ROUND, requestOf } from './facts.js';

const BOOK = { do: 'book' };
const IN_FLIGHT = { do: 'refuse', code: 'TRANSACTION_IN_FLIGHT' };
const ROLLED_BACK = {
  do: 'conclude',
  verdict: { status: 'DECLINED', declineReason: 'TRANSACTION_ROLLED_BACK' },
};

test.each<[string, Partial<RoundFacts>, object]>([
  ['no BET', {}, BOOK],
  ['a standing BET', { betStands: true }, BOOK],
  ['an APPROVED BET and a reversed one', { betStands: true, betRolledBack: true }, BOOK],
  ['an APPROVED BET and an undecided one', { betStands: true, betUndecided: true }, BOOK],
  ['an undecided BET', { betUndecided: true }, IN_FLIGHT],
  ['an undecided BET and a reversed one', { betUndecided: true, betRolledBack: true }, IN_FLIGHT],
  ['a reversed BET', { betRolledBack: true }, ROLLED_BACK],
])('a WIN in a round with %s', (_, round, decision) => {
  expect(decideWin(requestOf('WIN'), { ...EMPTY_ROUND, ...round })).toEqual(decision);
});

test.each<[string, Partial<TransactionRequest>, object]>([
  ['of free spins', { freeSpinsRef: 'batch-1' }, BOOK],
  ['of free spins that says so', { freeSpinsRef: 'batch-1', winKind: 'FREE_SPINS' }, BOOK],
  ['of a jackpot', { winKind: 'JACKPOT' }, BOOK],
  ['of a promotion', { winKind: 'PROMOTION' }, BOOK],
  ['of a tournament', { winKind: 'TOURNAMENT' }, BOOK],
  ['of a jackpot in free spins', { winKind: 'JACKPOT', freeSpinsRef: 'batch-1' }, BOOK],
  ['of the game', { winKind: 'GAME' }, ROLLED_BACK],
  ['of the game with a promotion', { promotionRef: 'race-3' }, ROLLED_BACK],
])('a WIN %s in a round whose BET was reversed', (_, fields, decision) => {
  expect(decideWin(requestOf('WIN', fields), { ...EMPTY_ROUND, betRolledBack: true })).toEqual(decision);
});
