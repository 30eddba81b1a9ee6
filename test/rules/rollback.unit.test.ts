import { describe, expect, test } from 'vitest';
import type { RoundFacts, StoredFacts, TransactionRequest } from '../../src/wallet/rules/facts.js';
import { decideRollback } from '../../src/wallet/rules/rollback.js';
import { EMPTY_ROUND, requestOf, SESSION, storedOf } from './facts.js';

const refuse = (code: string) => ({ do: 'refuse', code });
const invalid = (message: string) => ({ ...refuse('INVALID_REQUEST'), message });
const OTHER_AMOUNT = invalid("amountMinor must be the BET's");
const reverse = (target: object, amountMinor: number) => ({ do: 'reverse', target, amountMinor });
const decline = (declineReason: string) => ({
  do: 'conclude',
  verdict: { status: 'DECLINED', declineReason },
});
const APPROVE = { do: 'conclude', verdict: { status: 'APPROVED' } };
const REVERSE_BET = reverse({ found: 'bet', attempt: 2, approved: true }, 100);
const END_BET = reverse({ found: 'bet', attempt: 2, approved: false }, 100);

const bet = (changes: Partial<StoredFacts> = {}) => storedOf('BET', { attempt: 2, ...changes });

function decideWith(
  target: StoredFacts | null,
  { round = {}, request = {} }: { round?: Partial<RoundFacts>; request?: Partial<TransactionRequest> } = {},
) {
  return decideRollback(requestOf('ROLLBACK', request), SESSION, target, { ...EMPTY_ROUND, ...round });
}

const differingIn = (fields: string) => ({
  ...refuse('SESSION_MISMATCH'),
  message: `originalTransactionId names a transaction that differs in ${fields}`,
});

describe('a ROLLBACK whose target is', () => {
  test.each<[string, StoredFacts | null, object]>([
    ['unknown', null, reverse({ found: 'nothing' }, 0)],
    ['a tombstone without a ROLLBACK', storedOf(null), reverse({ found: 'tombstone' }, 0)],
    ['a tombstone of another ROLLBACK', storedOf(null, { rollbackId: 'undo-1' }), APPROVE],
    [
      'a tombstone of an undecided ROLLBACK',
      storedOf(null, { rollbackId: 'undo-1', rollbackUndecided: true }),
      refuse('TRANSACTION_IN_FLIGHT'),
    ],
    ['a tombstone in another round', storedOf(null, { roundId: 'round-2' }), differingIn('roundId')],
    ['an APPROVED BET', bet(), REVERSE_BET],
    ['a TIMED_OUT BET', bet({ state: 'TIMED_OUT' }), END_BET],
    ['a PENDING BET with an expired lease', bet({ state: 'PENDING' }), END_BET],
    [
      'a PENDING BET with a live lease',
      bet({ state: 'PENDING', leaseAlive: true }),
      refuse('TRANSACTION_IN_FLIGHT'),
    ],
    ['a BET with an undecided ROLLBACK', bet({ rollbackUndecided: true }), refuse('TRANSACTION_IN_FLIGHT')],
    ['a TIMED_OUT BET that the platform declined', bet({ state: 'TIMED_OUT', ownVerdict: true }), APPROVE],
    ['a DECLINED BET', bet({ state: 'DECLINED' }), APPROVE],
    ['a BET that was reversed', bet({ state: 'ROLLED_BACK', rollbackId: 'undo-1' }), APPROVE],
    ['a WIN', storedOf('WIN'), decline('NOT_ROLLBACKABLE')],
    ['a ROLLBACK', storedOf('ROLLBACK'), decline('NOT_ROLLBACKABLE')],
    ['in another round', bet({ roundId: 'round-2' }), differingIn('roundId')],
    ['of another player', bet({ playerRef: 'player-2' }), differingIn('playerRef')],
    ['of another game', bet({ gameId: 'game-2' }), differingIn('gameId')],
    ['in another currency', bet({ currency: 'USD' }), differingIn('currency')],
    ['of another operator', bet({ operatorId: 'operator-2' }), differingIn('operator')],
    ['in another mode', bet({ mode: 'DEMO' }), differingIn('mode')],
    [
      'of another player, in another currency',
      bet({ playerRef: 'player-2', currency: 'USD' }),
      differingIn('playerRef, currency'),
    ],
  ])('%s', (_, target, decision) => {
    expect(decideWith(target)).toEqual(decision);
  });
});

test.each<[string, Partial<RoundFacts>, object]>([
  ['an APPROVED WIN', { winApproved: true }, decline('ROUND_ALREADY_SETTLED')],
  ['an undecided WIN', { winUndecided: true }, refuse('TRANSACTION_IN_FLIGHT')],
])('an APPROVED BET in a round with %s', (_, round, decision) => {
  expect(decideWith(bet(), { round })).toEqual(decision);
});

test.each<[string, number, StoredFacts | null, object]>([
  ["the BET's", 100, bet(), REVERSE_BET],
  ["other than the BET's", 99, bet(), OTHER_AMOUNT],
  ["other than a WIN's", 99, storedOf('WIN'), OTHER_AMOUNT],
  ['of 0 for a BET', 0, bet(), OTHER_AMOUNT],
  ['for an unknown target', 70, null, reverse({ found: 'nothing' }, 70)],
  ['for a tombstone', 70, storedOf(null), reverse({ found: 'tombstone' }, 70)],
])('an amount %s', (_, amountMinor, target, decision) => {
  expect(decideWith(target, { request: { amountMinor } })).toEqual(decision);
});

test("a ROLLBACK of an unknown transaction with an id of the platform's is invalid", () => {
  const request = { originalTransactionId: 'croupier-0123456789abcdef0123456789abcdef' };
  const reserved = invalid("originalTransactionId is reserved for the platform's own ROLLBACKs");
  expect(decideWith(null, { request })).toEqual(reserved);
  expect(decideWith(storedOf('ROLLBACK'), { request })).toEqual(decline('NOT_ROLLBACKABLE'));
});

test('a ROLLBACK of itself is invalid', () => {
  const request = { originalTransactionId: 'transaction-1' };
  expect(decideWith(null, { request })).toEqual(invalid('originalTransactionId is the ROLLBACK itself'));
});
