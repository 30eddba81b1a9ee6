import { expect, test } from 'vitest';
import { decideResolution, type UndecidedFacts } from '../../src/wallet/rules/resolution.js';
import { storedOf } from './facts.js';

const undecided = (
  kind: 'BET' | 'WIN' | 'ROLLBACK',
  changes: Partial<UndecidedFacts> = {},
): UndecidedFacts => ({
  ...storedOf(kind, { state: 'TIMED_OUT' }),
  declinedEndings: 0,
  ...changes,
});

test.each<[string, UndecidedFacts, boolean, object]>([
  ['an APPROVED BET', undecided('BET', { state: 'APPROVED' }), false, { do: 'leave', because: 'decided' }],
  ['a DECLINED WIN', undecided('WIN', { state: 'DECLINED' }), true, { do: 'leave', because: 'decided' }],
  ['a reversed BET', undecided('BET', { state: 'ROLLED_BACK' }), true, { do: 'leave', because: 'decided' }],
  [
    'a call in flight',
    undecided('WIN', { state: 'PENDING', leaseAlive: true }),
    false,
    { do: 'leave', because: 'in-flight' },
  ],
  ['a TIMED_OUT WIN', undecided('WIN'), false, { do: 'resend' }],
  ['a TIMED_OUT ROLLBACK', undecided('ROLLBACK'), false, { do: 'resend' }],
  ['an abandoned WIN', undecided('WIN', { state: 'PENDING' }), false, { do: 'resend' }],
  ['a TIMED_OUT BET', undecided('BET'), false, { do: 'end', ordinal: 0 }],
  [
    'a TIMED_OUT BET that the platform declined',
    undecided('BET', { ownVerdict: true }),
    false,
    { do: 'resend' },
  ],
  ['an abandoned BET', undecided('BET', { state: 'PENDING' }), false, { do: 'end', ordinal: 0 }],
  [
    'a BET whose ROLLBACK is undecided',
    undecided('BET', { rollbackUndecided: true, rollbackId: 'undo-1' }),
    false,
    { do: 'follow', rollbackId: 'undo-1' },
  ],
  [
    'a WIN with an undecided ROLLBACK that reverses nothing',
    undecided('WIN', { rollbackUndecided: true }),
    false,
    { do: 'resend' },
  ],
  [
    'a BET in flight whose ROLLBACK is undecided',
    undecided('BET', { state: 'PENDING', leaseAlive: true, rollbackUndecided: true, rollbackId: 'undo-1' }),
    false,
    { do: 'follow', rollbackId: 'undo-1' },
  ],
  [
    'a BET whose ROLLBACK is decided',
    undecided('BET', { rollbackId: 'undo-1' }),
    false,
    { do: 'end', ordinal: 0 },
  ],
  ['a BET whose ending was DECLINED', undecided('BET', { declinedEndings: 1 }), false, { do: 'park' }],
  [
    'the same, by an administrator',
    undecided('BET', { declinedEndings: 1 }),
    true,
    { do: 'end', ordinal: 1 },
  ],
])('%s', (_, stored, byAdministrator, resolution) => {
  expect(decideResolution(stored, byAdministrator)).toEqual(resolution);
});
