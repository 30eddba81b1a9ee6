import { expect, test } from 'vitest';
import type { RoundFacts } from '../../src/wallet/rules/facts.js';
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

test('a WIN of free spins needs no APPROVED BET', () => {
  const request = requestOf('WIN', { freeSpinsRef: 'batch-1' });
  expect(decideWin(request, { ...EMPTY_ROUND, betRolledBack: true })).toEqual(BOOK);
});
