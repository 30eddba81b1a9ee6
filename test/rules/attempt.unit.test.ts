import { describe, expect, test } from 'vitest';
import { decide } from '../../src/wallet/rules/attempt.js';
import type { Facts, SessionFacts, StoredFacts, TransactionRequest } from '../../src/wallet/rules/facts.js';
import { EMPTY_ROUND, factsOf, requestOf, SESSION, storedOf } from './facts.js';

const refuse = (code: string) => ({ do: 'refuse', code });
const mismatch = (field: string) => ({
  ...refuse('SESSION_MISMATCH'),
  message: `the request does not match its session in ${field}`,
});
const reused = (field: string) => ({
  ...refuse('TRANSACTION_ID_REUSED'),
  message: `this transactionId was already used with another request that differs in ${field}`,
});
const REPLAY = { do: 'replay', body: '{"stored":true}' };
const BOOK = { do: 'book' };
const REVERSE_UNKNOWN = { do: 'reverse', target: { found: 'nothing' }, amountMinor: 0 };
const ABOVE = { do: 'conclude', verdict: { status: 'DECLINED', declineReason: 'STAKE_ABOVE_LIMIT' } };

// LOAD in wallet/transaction.sql.ts does not read the round for a BET.
test.each<[string, Partial<Facts>]>([
  ['a new BET', {}],
  ['a BET that may be retried', { stored: storedOf('BET', { state: 'TIMED_OUT' }) }],
  ['a BET in a session that has ended', { session: { ...SESSION, endedSecondsAgo: 1 } }],
  ['a BET above the highest stake', { session: { ...SESSION, maxBetMinor: 99 } }],
])('%s is decided without its round', (_, facts) => {
  const names = Object.keys(EMPTY_ROUND).filter((name) => name !== 'version');
  const round = { ...EMPTY_ROUND, ...Object.fromEntries(names.map((name) => [name, true])) };
  for (const name of [...names, 'none']) {
    const decision = decide(requestOf('BET'), factsOf({ ...facts, round: { ...round, [name]: false } }));
    expect(decision).toEqual(decide(requestOf('BET'), factsOf(facts)));
  }
});

describe('the session and its configuration', () => {
  test.each<[string, 'BET' | 'WIN', Partial<SessionFacts> | null, object]>([
    ['no session', 'BET', null, refuse('SESSION_INVALID')],
    ['a session that has ended', 'BET', { endedSecondsAgo: 1 }, refuse('SESSION_INVALID')],
    ['another provider', 'BET', { providerId: 'provider-2' }, refuse('SESSION_OF_ANOTHER_PROVIDER')],
    [
      'another provider, and ended',
      'WIN',
      { providerId: 'provider-2', endedSecondsAgo: 1 },
      refuse('SESSION_INVALID'),
    ],
    ['another player', 'BET', { playerRef: 'player-2' }, mismatch('playerRef')],
    ['another game', 'BET', { gameId: 'game-2' }, mismatch('gameId')],
    ['another currency', 'BET', { currency: 'USD' }, mismatch('currency')],
    [
      'another player and currency',
      'BET',
      { playerRef: 'player-2', currency: 'USD' },
      mismatch('playerRef, currency'),
    ],
    ['an inactive game', 'BET', { gameActive: false }, refuse('GAME_NOT_CONFIGURED')],
    ['an inactive game', 'WIN', { gameActive: false }, BOOK],
    ['an inactive operator', 'BET', { operatorActive: false }, refuse('OPERATOR_NOT_CONFIGURED')],
    ['an inactive operator', 'WIN', { operatorActive: false }, BOOK],
    ['a live session of its own', 'BET', {}, BOOK],
    ['the highest stake', 'BET', { maxBetMinor: 100 }, BOOK],
    ['a lower highest stake', 'BET', { maxBetMinor: 99 }, ABOVE],
    ['a lower highest stake', 'WIN', { maxBetMinor: 99 }, BOOK],
    [
      'a lower highest stake, and ended',
      'BET',
      { maxBetMinor: 99, endedSecondsAgo: 1 },
      refuse('SESSION_INVALID'),
    ],
    [
      'a lower highest stake, and an inactive game',
      'BET',
      { maxBetMinor: 99, gameActive: false },
      refuse('GAME_NOT_CONFIGURED'),
    ],
  ])('%s: a %s', (_, kind, session, decision) => {
    const facts = factsOf({ session: session && { ...SESSION, ...session } });
    expect(decide(requestOf(kind), facts)).toEqual(decision);
  });
});

test.each(['BET', 'WIN'] as const)('a pause refuses a BET, but neither a WIN nor a replay: %s', (kind) => {
  const pause = { kind: 'OPERATOR', id: 'operator-1', reason: 'moved', until: null } as const;
  const decision = decide(requestOf(kind), factsOf({ pause }));
  expect(decision).toEqual(kind === 'BET' ? { do: 'refuse-paused', pause } : BOOK);
  expect(decide(requestOf('BET'), factsOf({ pause, stored: storedOf('BET') }))).toEqual(REPLAY);
  const timedOut = storedOf('BET', { state: 'TIMED_OUT' });
  expect(decide(requestOf('BET'), factsOf({ pause, stored: timedOut })).do).toBe('refuse-paused');
});

describe('what is stored under the id', () => {
  test.each<[string, Partial<StoredFacts> | 'tombstone', object]>([
    ['APPROVED', {}, REPLAY],
    ['DECLINED', { state: 'DECLINED' }, REPLAY],
    ['ROLLED_BACK', { state: 'ROLLED_BACK', rollbackId: 'undo' }, { do: 'decline-rolled-back' }],
    ['a tombstone', 'tombstone', { do: 'decline-rolled-back' }],
    ['PENDING with a live lease', { state: 'PENDING', leaseAlive: true }, refuse('TRANSACTION_IN_FLIGHT')],
    ['PENDING with an expired lease', { state: 'PENDING', attempt: 3 }, { do: 'retry', attempt: 3 }],
    ['TIMED_OUT', { state: 'TIMED_OUT', attempt: 2 }, { do: 'retry', attempt: 2 }],
    [
      'TIMED_OUT, its ROLLBACK undecided',
      { state: 'TIMED_OUT', rollbackUndecided: true },
      refuse('TRANSACTION_IN_FLIGHT'),
    ],
    ['APPROVED, its ROLLBACK undecided', { rollbackUndecided: true }, refuse('TRANSACTION_IN_FLIGHT')],
  ])('%s', (_, stored, decision) => {
    const facts = factsOf({ stored: stored === 'tombstone' ? storedOf(null) : storedOf('BET', stored) });
    expect(decide(requestOf('BET'), facts)).toEqual(decision);
  });

  test.each<[Partial<StoredFacts>, ...('BET' | 'WIN' | 'ROLLBACK')[]]>([
    [{ kind: 'BET' }, 'WIN', 'ROLLBACK'],
    [{ kind: 'WIN' }, 'BET', 'ROLLBACK'],
    [{ kind: 'ROLLBACK' }, 'BET', 'WIN'],
    [{ amountMinor: 101 }, 'BET', 'WIN'],
    [{ currency: 'USD' }, 'BET', 'WIN', 'ROLLBACK'],
    [{ playerRef: 'player-2' }, 'BET', 'WIN', 'ROLLBACK'],
    [{ gameId: 'game-2' }, 'BET', 'WIN', 'ROLLBACK'],
    [{ roundId: 'round-2' }, 'BET', 'WIN', 'ROLLBACK'],
    [{ originalTransactionId: 'bet-2' }, 'BET', 'WIN', 'ROLLBACK'],
    [{ promotionRef: 'race-3' }, 'WIN'],
    [{ operatorId: 'operator-2' }, 'BET', 'WIN', 'ROLLBACK'],
    [{ mode: 'DEMO' }, 'BET', 'WIN', 'ROLLBACK'],
  ])('with %j in place of the value of a request, the id is reused: %s %s %s', (difference, ...kinds) => {
    const name = Object.keys(difference).join().replace('operatorId', 'operator');
    for (const kind of kinds) {
      for (const state of ['APPROVED', 'TIMED_OUT'] as const) {
        const stored = storedOf(kind, { state, ...difference });
        expect(decide(requestOf(kind), factsOf({ stored }))).toEqual(reused(name));
      }
    }
  });

  test.each([undefined, 7])(
    'a ROLLBACK with the amount %s is the stored one, whose amount is 100',
    (sent) => {
      const rollback = requestOf('ROLLBACK', sent === undefined ? {} : { amountMinor: sent });
      expect(decide(rollback, factsOf({ stored: storedOf('ROLLBACK') }))).toEqual(REPLAY);
    },
  );

  test.each(['BET', 'WIN'] as const)('a tombstone declines a %s, whatever its other fields are', (kind) => {
    const stored = storedOf(null, { roundId: 'round-2', currency: 'USD', operatorId: 'operator-2' });
    expect(decide(requestOf(kind), factsOf({ stored }))).toEqual({ do: 'decline-rolled-back' });
  });

  test('a tombstone answers nothing after the session has ended', () => {
    const session = { ...SESSION, endedSecondsAgo: 1 };
    const decision = decide(requestOf('BET'), factsOf({ session, stored: storedOf(null) }));
    expect(decision).toEqual(refuse('SESSION_INVALID'));
  });

  const spins = { freeSpinsRef: 'batch-1' };
  test.each<[Partial<StoredFacts>, Partial<TransactionRequest>, object]>([
    [{}, { winKind: 'GAME' }, REPLAY],
    [{ winKind: 'GAME' }, {}, REPLAY],
    [spins, { ...spins, winKind: 'FREE_SPINS' }, REPLAY],
    [{ ...spins, winKind: 'FREE_SPINS' }, spins, REPLAY],
    [{}, spins, REPLAY],
    [spins, {}, REPLAY],
    [{ winKind: 'JACKPOT' }, { winKind: 'JACKPOT', ...spins }, REPLAY],
    [{ promotionRef: 'race-3' }, { promotionRef: 'race-3' }, REPLAY],
    [{}, { winKind: 'JACKPOT' }, reused('winKind')],
    [{ winKind: 'JACKPOT' }, {}, reused('winKind')],
    [{ winKind: 'JACKPOT' }, { winKind: 'TOURNAMENT' }, reused('winKind')],
    [{ winKind: 'GAME' }, { ...spins, winKind: 'FREE_SPINS' }, reused('winKind')],
    [{}, { promotionRef: 'race-3' }, reused('promotionRef')],
    [{ promotionRef: 'race-3' }, {}, reused('promotionRef')],
    [{ promotionRef: 'race-3' }, { promotionRef: 'race-4' }, reused('promotionRef')],
  ])('a WIN stored with %j is repeated with %j', (stored, repeated, decision) => {
    const facts = factsOf({ stored: storedOf('WIN', stored) });
    expect(decide(requestOf('WIN', repeated), facts)).toEqual(decision);
  });

  test('a stored BET is not judged by the highest stake again', () => {
    const session = { ...SESSION, maxBetMinor: 1 };
    expect(decide(requestOf('BET'), factsOf({ session, stored: storedOf('BET') }))).toEqual(REPLAY);
    const stored = storedOf('BET', { state: 'TIMED_OUT', attempt: 2 });
    expect(decide(requestOf('BET'), factsOf({ session, stored }))).toEqual({ do: 'retry', attempt: 2 });
  });

  test('a finished transaction is replayed although its session has ended', () => {
    const session = { ...SESSION, endedSecondsAgo: 1_000_000 };
    expect(decide(requestOf('BET'), factsOf({ session, stored: storedOf('BET') }))).toEqual(REPLAY);
  });

  test.each<[string, Partial<SessionFacts>, Partial<Facts>]>([
    ['its session has ended', { endedSecondsAgo: 1 }, {}],
    ['its game is inactive', { gameActive: false }, {}],
    ['its operator is inactive', { operatorActive: false }, {}],
    [
      'its operator is paused',
      {},
      { pause: { kind: 'OPERATOR', id: 'operator-1', reason: 'moved', until: null } },
    ],
  ])('a BET whose attempt is under way is not refused because %s', (_, session, changes) => {
    const stored = storedOf('BET', { state: 'PENDING', leaseAlive: true });
    const facts = factsOf({ ...changes, session: { ...SESSION, ...session }, stored });
    expect(decide(requestOf('BET'), facts)).toEqual(refuse('TRANSACTION_IN_FLIGHT'));
  });

  test.each(['TIMED_OUT', 'PENDING'] as const)(
    'a %s BET is not retried after its session has ended',
    (state) => {
      const session = { ...SESSION, endedSecondsAgo: 1 };
      const stored = storedOf('BET', { state });
      expect(decide(requestOf('BET'), factsOf({ session, stored }))).toEqual(refuse('SESSION_INVALID'));
    },
  );

  test('nothing is replayed to another provider', () => {
    const session = { ...SESSION, providerId: 'provider-2' };
    const decision = decide(requestOf('BET'), factsOf({ session, stored: storedOf('BET') }));
    expect(decision).toEqual(refuse('SESSION_OF_ANOTHER_PROVIDER'));
  });
});

describe('settling after the session, within 60 s', () => {
  const OF_SESSION: Partial<Facts> = { round: { ...EMPTY_ROUND, betStands: true, betOfSession: true } };
  test.each<[string, TransactionRequest, number, Partial<Facts>, object]>([
    ['a WIN of a BET of the session', requestOf('WIN'), 59, OF_SESSION, BOOK],
    ['the same WIN too late', requestOf('WIN'), 60, OF_SESSION, refuse('SESSION_INVALID')],
    ['a WIN of another session', requestOf('WIN'), 1, {}, refuse('SESSION_INVALID')],
    ['a WIN of free spins', requestOf('WIN', { freeSpinsRef: 'batch-1' }), 1, {}, BOOK],
    ['a WIN of a jackpot', requestOf('WIN', { winKind: 'JACKPOT' }), 1, {}, BOOK],
    ['a BET', requestOf('BET'), 1, OF_SESSION, refuse('SESSION_INVALID')],
    ['a ROLLBACK in a round of the session', requestOf('ROLLBACK'), 59, OF_SESSION, REVERSE_UNKNOWN],
    ['the same ROLLBACK too late', requestOf('ROLLBACK'), 60, OF_SESSION, refuse('SESSION_INVALID')],
    ['a ROLLBACK of another session', requestOf('ROLLBACK'), 1, {}, refuse('SESSION_INVALID')],
    [
      'a ROLLBACK of another session with a freeSpinsRef',
      requestOf('ROLLBACK', { freeSpinsRef: 'batch-1' }),
      1,
      {},
      refuse('SESSION_INVALID'),
    ],
    [
      "a WIN of another provider's session",
      requestOf('WIN'),
      1,
      { ...OF_SESSION, provider: { id: 'provider-2', lateSettlementSeconds: 60 } },
      refuse('SESSION_INVALID'),
    ],
    [
      'a WIN at the end, without late settlement',
      requestOf('WIN'),
      0,
      { ...OF_SESSION, provider: { id: 'provider-1', lateSettlementSeconds: 0 } },
      refuse('SESSION_INVALID'),
    ],
  ])('%s', (_, request, endedSecondsAgo, facts, decision) => {
    const session = { ...SESSION, endedSecondsAgo };
    expect(decide(request, factsOf({ session, ...facts }))).toEqual(decision);
  });
});
