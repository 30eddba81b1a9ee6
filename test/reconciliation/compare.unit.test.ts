import { describe, expect, test } from 'vitest';
import {
  compare,
  movements,
  type PlatformRecord,
  type NumberedLine,
  type Target,
} from '../../src/reconciliation/rules/compare.js';

const ID = {
  providerId: 'spinwell',
  transactionId: 'id',
  playerRef: 'player',
  currency: 'EUR',
  amountMinor: 100,
};

const RECORDS = {
  'an approved BET': {},
  'an approved WIN': { kind: 'WIN' },
  'a declined BET': { state: 'DECLINED' },
  'a BET rolled back after its approval': { state: 'ROLLED_BACK' },
  'a BET rolled back while undecided': { state: 'ROLLED_BACK', answered: false },
  'a tombstone': { kind: null, state: 'ROLLED_BACK', answered: false },
  'a verdict of our own, APPROVED': { kind: 'ROLLBACK', ownVerdict: true, originalTransactionId: 'bet' },
  'a verdict of our own, DECLINED': { kind: 'WIN', ownVerdict: true, state: 'DECLINED' },
  'a PENDING BET': { state: 'PENDING', answered: false },
  'a TIMED_OUT WIN': { kind: 'WIN', state: 'TIMED_OUT', answered: false },
  'a negative ADJUSTMENT': { kind: 'ADJUSTMENT', amountMinor: -100 },
  nothing: null,
} as const satisfies Record<string, Partial<PlatformRecord> | null>;

function record(change: Partial<PlatformRecord>): PlatformRecord {
  return {
    ...ID,
    kind: 'BET',
    originalTransactionId: null,
    state: 'APPROVED',
    ownVerdict: false,
    answered: true,
    createdAt: new Date(0),
    inRange: true,
    ...change,
  };
}

/** A line that equals its record, except for the given fields. */
function line(of: PlatformRecord | null, change: Partial<NumberedLine> = {}): NumberedLine {
  return {
    ...ID,
    amountMinor: of?.amountMinor ?? 100,
    kind: of?.kind ?? 'BET',
    originalTransactionId: of?.originalTransactionId ?? '',
    status: 'APPROVED',
    bookedAt: '1970-01-01T00:00:00Z',
    line: 2,
    firstLine: 2,
    inRange: true,
    ...change,
  };
}

function names(one: NumberedLine | null, other: PlatformRecord | null, target: Target | null = null): string {
  const findings = compare({ line: one, record: other, target });
  return findings.length === 0 ? 'agree' : findings.map(({ name }) => name).join(' ');
}

describe('a record and the line of its id', () => {
  test.each([
    // the platform has                         no line                an APPROVED line       a DECLINED line
    ['an approved BET', 'missing-at-operator', 'agree', 'state-differs'],
    ['an approved WIN', 'missing-at-operator', 'agree', 'state-differs'],
    ['a negative ADJUSTMENT', 'missing-at-operator', 'agree', 'state-differs'],
    ['a declined BET', 'agree', 'state-differs', 'agree'],
    ['a BET rolled back after its approval', 'missing-at-operator', 'agree', 'state-differs'],
    ['a BET rolled back while undecided', 'agree', 'agree', 'agree'],
    ['a tombstone', 'agree', 'missing-at-platform', 'missing-at-platform'],
    ['a verdict of our own, APPROVED', 'agree', 'state-differs', 'agree'],
    ['a verdict of our own, DECLINED', 'agree', 'state-differs', 'agree'],
    ['a PENDING BET', 'unresolved', 'unresolved', 'unresolved'],
    ['a TIMED_OUT WIN', 'unresolved', 'unresolved', 'unresolved'],
    ['nothing', 'agree', 'missing-at-platform', 'missing-at-platform'],
  ] as const)('%s: without a line %s, APPROVED %s, DECLINED %s', (name, absent, approved, declined) => {
    const change = RECORDS[name];
    const ours = change && record(change);
    expect(names(null, ours)).toBe(absent);
    expect(names(line(ours), ours)).toBe(approved);
    expect(names(line(ours, { status: 'DECLINED' }), ours)).toBe(declined);
  });
});

describe('a ROLLBACK that the operator approved', () => {
  const rollback = record({ kind: 'ROLLBACK', originalTransactionId: 'bet' });
  const unknown = { booked: false, known: false };
  const unanswered = { booked: false, known: true };
  test.each([
    [
      'of a booked BET',
      { booked: true, known: true, lineAmountMinor: 100 },
      'missing-at-operator',
      'amount-differs',
    ],
    [
      'of a booked BET of earlier',
      { booked: true, known: true, lineAmountMinor: null },
      'missing-at-operator',
      'amount-differs',
    ],
    [
      'of a BET that only the statement knows to be booked',
      { ...unanswered, lineAmountMinor: 100 },
      'missing-at-operator',
      'amount-differs',
    ],
    ['of a BET that was never booked', { ...unanswered, lineAmountMinor: null }, 'agree', 'agree'],
    ['of an unknown transaction', { ...unknown, lineAmountMinor: null }, 'agree', 'agree'],
    [
      'of a transaction that only the operator knows',
      { ...unknown, lineAmountMinor: 0 },
      'missing-at-operator',
      'agree',
    ],
  ] as const)('%s: %s: its line absent is %3$s, its line with 0 is %4$s', (_, target, absent, zero) => {
    expect(names(null, rollback, target)).toBe(absent);
    expect(names(line(rollback, { amountMinor: 0 }), rollback, target)).toBe(zero);
    expect(names(line(rollback), rollback, target)).toBe('agree');
    expect(names(line(rollback, { amountMinor: 7 }), rollback, target)).toBe('amount-differs');
    expect(names(line(rollback, { status: 'DECLINED' }), rollback, target)).toBe('state-differs');
  });

  test('of a target that neither side knows has the amount of the record, or no line', () => {
    expect(names(null, rollback)).toBe('agree');
    expect(names(line(rollback), rollback)).toBe('agree');
    expect(names(line(rollback, { amountMinor: 0 }), rollback)).toBe('amount-differs');
  });

  test('differs if the two sides name different originals', () => {
    const target = { booked: true, known: true, lineAmountMinor: 100 };
    expect(names(line(rollback, { originalTransactionId: 'other' }), rollback, target)).toBe('state-differs');
  });
});

test.each([
  [{ amountMinor: 101 }, 'amount-differs'],
  [{ currency: 'USD' }, 'amount-differs'],
  [{ currency: 'no currency' }, 'amount-differs'],
  [{ amountMinor: 101, currency: 'USD' }, 'amount-differs'],
  [{ kind: 'WIN' }, 'state-differs'],
  [{ playerRef: 'another' }, 'state-differs'],
  [{ kind: 'WIN', amountMinor: 101 }, 'state-differs amount-differs'],
  [{ originalTransactionId: 'the original of a BET has no influence' }, 'agree'],
  [{ inRange: null }, 'ambiguous-time'],
  [{ inRange: null, amountMinor: 101 }, 'ambiguous-time amount-differs'],
  [{ firstLine: 1 }, 'duplicate-line'],
  [{ firstLine: 1, amountMinor: 101, inRange: null }, 'duplicate-line'],
  [{ inRange: false }, 'agree'],
] as const)('a line that differs in %o is found as %s', (change, expected) => {
  expect(names(line(record({}), change), record({}))).toBe(expected);
});

test('only a record in the range is missing, and ids are matched regardless of their times', () => {
  const earlier = record({ inRange: false });
  expect(names(null, earlier)).toBe('agree');
  expect(names(null, { ...earlier, state: 'TIMED_OUT' })).toBe('agree');
  expect(names(line(earlier, { inRange: false }), null)).toBe('agree');
  expect(names(line(earlier, { inRange: null }), null)).toBe('ambiguous-time');
  expect(names(line(earlier, { inRange: false, amountMinor: 1 }), earlier)).toBe('amount-differs');
  expect(names(line(earlier), { ...earlier, state: 'TIMED_OUT' })).toBe('unresolved');
});

test('only the amount of a ROLLBACK may be that of its target', () => {
  const target = { booked: false, known: false, lineAmountMinor: null };
  expect(names(line(record({}), { amountMinor: 0 }), record({}), target)).toBe('amount-differs');
});

test.each<[string, NumberedLine | null, PlatformRecord | null, string]>([
  ['a second line', line(null, { firstLine: 1 }), null, 'line 1 has the same id'],
  ['a local time', line(null, { inRange: null }), null, 'bookedAt is not a time with Z or an offset'],
  ['a line alone', line(null), null, 'the platform never sent it'],
  [
    'a tombstone',
    line(null),
    record(RECORDS['a tombstone']),
    'the platform knows only that it was rolled back',
  ],
  ['an undecided record', null, record({ state: 'PENDING' }), 'the platform waits for a decision'],
  ['a record alone', null, record({}), 'the statement has no line for it'],
  ['another status', line(record({}), { status: 'DECLINED' }), record({}), 'status differs'],
  [
    'another kind and player',
    line(null, { kind: 'WIN', playerRef: 'another' }),
    record({}),
    'kind and playerRef differ',
  ],
  [
    'another original',
    line(null, { kind: 'ROLLBACK', originalTransactionId: 'other' }),
    record({ kind: 'ROLLBACK', originalTransactionId: 'bet' }),
    'originalTransactionId differs',
  ],
  ['another amount', line(null, { amountMinor: 7 }), record({}), 'amountMinor differs'],
  ['another currency', line(null, { currency: 'USD' }), record({}), 'currency differs'],
  [
    'a verdict of our own',
    line(null),
    record({ ownVerdict: true, state: 'DECLINED' }),
    'status differs; the platform never sent it',
  ],
  [
    'a verdict of our own with another kind',
    line(null, { kind: 'WIN', status: 'DECLINED' }),
    record({ ownVerdict: true, state: 'DECLINED' }),
    'kind differs',
  ],
])('the detail of %s says what differs', (_, one, other, detail) => {
  expect(compare({ line: one, record: other, target: null }).map((finding) => finding.detail)).toEqual([
    detail,
  ]);
});

describe('the movements of an id', () => {
  const bet = record({});
  const undo = record({ kind: 'ROLLBACK', originalTransactionId: 'bet', amountMinor: 0 });
  const tombstone = record(RECORDS['a tombstone']);
  const undecided = record({ state: 'TIMED_OUT', answered: false });
  const endedUndecided = record(RECORDS['a BET rolled back while undecided']);
  const booked = { kind: 'BET', currency: 'EUR', amountMinor: 100 };
  const reversed = { kind: 'ROLLBACK', currency: 'EUR', amountMinor: 7 };
  const onlyOfOperator = { booked: false, known: false, lineAmountMinor: 7 };

  test.each<{
    of: string;
    line: NumberedLine | null;
    record: PlatformRecord | null;
    target?: Target;
    operator?: object;
    platform?: object;
  }>([
    { of: 'an approved BET', line: line(bet), record: bet, operator: booked, platform: booked },
    { of: 'a BET without a line', line: null, record: bet, platform: booked },
    { of: 'an earlier BET without a line', line: null, record: record({ inRange: false }) },
    {
      of: 'an earlier BET with a line',
      line: line(bet, { inRange: false }),
      record: record({ inRange: false }),
      operator: booked,
      platform: booked,
    },
    {
      of: 'a BET with a DECLINED line',
      line: line(bet, { status: 'DECLINED' }),
      record: bet,
      platform: booked,
    },
    {
      of: 'a BET with another amount',
      line: line(bet, { amountMinor: 7 }),
      record: bet,
      operator: { ...booked, amountMinor: 7 },
      platform: booked,
    },
    { of: 'a second line', line: line(bet, { firstLine: 1 }), record: bet, operator: booked },
    { of: 'a line alone', line: line(null), record: null, operator: booked },
    { of: 'an earlier line alone', line: line(null, { inRange: false }), record: null },
    { of: 'a line alone with a local time', line: line(null, { inRange: null }), record: null },
    { of: 'a DECLINED line alone', line: line(null, { status: 'DECLINED' }), record: null },
    { of: 'nothing', line: null, record: null },
    { of: 'a tombstone', line: line(null), record: tombstone, operator: booked },
    { of: 'a tombstone and an earlier line', line: line(null, { inRange: false }), record: tombstone },
    { of: 'a tombstone without a line', line: null, record: tombstone },
    { of: 'an undecided BET', line: line(null), record: undecided, operator: booked },
    { of: 'an undecided BET without a line', line: null, record: undecided },
    { of: 'a declined BET', line: line(null), record: record({ state: 'DECLINED' }), operator: booked },
    {
      of: 'a BET rolled back while undecided',
      line: line(null),
      record: endedUndecided,
      operator: booked,
      platform: booked,
    },
    { of: 'a BET rolled back while undecided, without a line', line: null, record: endedUndecided },
    {
      of: 'a ROLLBACK of a transaction that only the operator knows',
      line: line(undo, { amountMinor: 7 }),
      record: undo,
      target: onlyOfOperator,
      operator: reversed,
      platform: reversed,
    },
  ])('$of', ({ line: one, record: other, target = null, operator, platform }) => {
    const sides = movements({ line: one, record: other, target });
    const matching = (side: object | undefined) => (side ? expect.objectContaining(side) : undefined);
    expect(sides).toEqual({ operator: matching(operator), platform: matching(platform) });
    expect(Object.keys(sides).sort()).toEqual(['operator', 'platform']);
  });
});
