import { describe, expect, test } from 'vitest';
import { type Advice, adviceFor, type AdviceFacts } from '../../src/desk/transactions/advice.js';

const BET: AdviceFacts = {
  kind: 'BET',
  state: 'APPROVED',
  amountMinor: 250,
  currency: 'EUR',
  ownVerdict: false,
  leaseAlive: false,
  neverSent: false,
  parked: false,
  undecidedRollback: undefined,
  idleSeconds: 3_600,
  providerReceivedFailure: false,
};
const TIMED_OUT: Partial<AdviceFacts> = { state: 'TIMED_OUT', providerReceivedFailure: true };
const EXPIRED: Partial<AdviceFacts> = { state: 'PENDING' };

describe('the advice for', () => {
  test.each<[string, Partial<AdviceFacts>, Advice['action'], RegExp]>([
    [
      'a tombstone',
      { kind: null, state: 'ROLLED_BACK' },
      'none',
      /^No money moved: a ROLLBACK arrived first/,
    ],
    ['an attempt under way', { ...EXPIRED, leaseAlive: true }, 'wait', /An attempt is under way/],
    [
      'a time-out 59 seconds ago',
      { ...TIMED_OUT, idleSeconds: 59 },
      'wait',
      /debited 2\.50 EUR\. The resolver/,
    ],
    ['a time-out a minute ago', { ...TIMED_OUT, idleSeconds: 60 }, 'resolve', /if 2\.50 EUR was debited/],
    [
      'a BET that was never sent',
      { ...TIMED_OUT, neverSent: true },
      'resolve',
      /^No money moved: nothing was sent .* Resolving ends the BET with a ROLLBACK, which returns nothing\.$/,
    ],
    [
      'a parked WIN that was never sent',
      { ...TIMED_OUT, kind: 'WIN', parked: true, neverSent: true },
      'contact-operator',
      /^No money moved: nothing was sent .* correct what the attempts name/,
    ],
    ['an expired lease', EXPIRED, 'resolve', /ends the BET with a ROLLBACK/],
    [
      'an undecided WIN',
      { ...TIMED_OUT, kind: 'WIN' },
      'resolve',
      /credited 2\.50 EUR\. .*sends the WIN again/,
    ],
    [
      'an undecided ROLLBACK',
      { ...TIMED_OUT, kind: 'ROLLBACK' },
      'resolve',
      /returned 2\.50 EUR.*ROLLBACK again/,
    ],
    [
      'an undecided adjustment',
      { ...TIMED_OUT, kind: 'ADJUSTMENT', amountMinor: -250 },
      'resolve',
      /debited 2\.50 EUR\. .*ADJUSTMENT again/,
    ],
    [
      'a verdict of the platform without a balance',
      { ...TIMED_OUT, ownVerdict: true },
      'resolve',
      /reads the balance/,
    ],
    [
      'a BET whose ROLLBACK is undecided',
      { ...TIMED_OUT, undecidedRollback: { transactionId: 'undo-1', parked: false } },
      'resolve',
      /ROLLBACK undo-1 is undecided/,
    ],
    [
      'the same, in the first minute',
      { ...TIMED_OUT, undecidedRollback: { transactionId: 'undo-1', parked: false }, idleSeconds: 1 },
      'wait',
      /ROLLBACK undo-1 is undecided/,
    ],
    [
      'a BET whose ROLLBACK is parked',
      { ...TIMED_OUT, undecidedRollback: { transactionId: 'undo-1', parked: true }, idleSeconds: 1 },
      'contact-operator',
      /debited 2\.50 EUR\. Its ROLLBACK undo-1 is undecided, and the resolver has given up: ask the operator/,
    ],
    ['a parked transaction', { ...TIMED_OUT, parked: true }, 'contact-operator', /ask the operator/],
    [
      'a parked transaction, at once',
      { ...TIMED_OUT, parked: true, idleSeconds: 1 },
      'contact-operator',
      /given up/,
    ],
    ['an APPROVED BET', {}, 'none', /^The operator debited 2\.50 EUR\.$/],
    ['an APPROVED WIN', { kind: 'WIN' }, 'none', /^The operator credited 2\.50 EUR\.$/],
    ['an APPROVED ROLLBACK', { kind: 'ROLLBACK' }, 'none', /2\.50 EUR was returned/],
    [
      'an APPROVED ROLLBACK without an amount',
      { kind: 'ROLLBACK', amountMinor: 0 },
      'none',
      /^The operator accepted the ROLLBACK: the BET's amount was returned/,
    ],
    [
      'an APPROVED verdict of the platform',
      { kind: 'ROLLBACK', ownVerdict: true },
      'none',
      /^No money moved/,
    ],
    ['an APPROVED adjustment', { kind: 'ADJUSTMENT' }, 'none', /^The operator credited 2\.50 EUR\.$/],
    [
      'a DECLINED BET',
      { state: 'DECLINED' },
      'none',
      /^No money moved: the BET of 2\.50 EUR was declined\.$/,
    ],
    [
      'a DECLINED adjustment that debits',
      { kind: 'ADJUSTMENT', state: 'DECLINED', amountMinor: -250 },
      'none',
      /^No money moved: the ADJUSTMENT of -2\.50 EUR was declined\.$/,
    ],
    ['a ROLLED_BACK BET', { state: 'ROLLED_BACK' }, 'none', /rolled back: the player has lost nothing\.$/],
    [
      'a WIN approved after the provider received a 500',
      { kind: 'WIN', providerReceivedFailure: true },
      'contact-provider',
      /credited 2\.50 EUR\. The provider last received a 500: ask it to send/,
    ],
    [
      'a BET ended by the platform after the provider received a 500',
      { state: 'ROLLED_BACK', providerReceivedFailure: true },
      'contact-provider',
      /The provider last received a 500: ask it to send/,
    ],
    ['an amount in yen', { currency: 'JPY' }, 'none', /^The operator debited 250 JPY\.$/],
  ])('%s', (_, facts, action, text) => {
    expect(adviceFor({ ...BET, ...facts })).toEqual({ action, text: expect.stringMatching(text) as string });
  });
});
