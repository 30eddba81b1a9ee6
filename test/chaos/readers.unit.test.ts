import { describe, expect, test } from 'vitest';
import { judgeDelays, percentile } from '../../chaos/judge/delays.js';
import { judgeOverview, type Stored } from '../../chaos/judge/overviews.js';
import { judgeRefusals } from '../../chaos/judge/refusals.js';
import type { Answer, FaultRecord, Intent } from '../../chaos/load/history.js';
import type { Overview, Refusal } from '../../chaos/load/readers.js';
import type { Fault } from '../../chaos/plan.js';

describe('an overview', () => {
  const shown: Overview = {
    at: '2026-01-31T06:00:00.000Z',
    operators: [
      { id: 'lucky', undecided: 3 },
      { id: 'royal', undecided: 0 },
    ],
    providers: [{ id: 'spinwell', undecided: 3 }],
    parked: 1,
    approvalsWaiting: 0,
    attention: { transaction: 1, grant: 0 },
    instances: [{ ready: true }, { ready: true }],
  };
  const stored: Stored = {
    operators: ['lucky', 'royal'],
    providers: ['spinwell'],
    undecided: [{ operatorId: 'lucky', providerId: 'spinwell', count: 3, parked: 1 }],
    attention: { transaction: 1 },
    approvalsWaiting: 0,
    instances: 2,
  };

  test('that agrees with the database has no finding', () => {
    expect(judgeOverview(shown, [stored])).toEqual([]);
  });

  test.each<{ finds: string; overview?: Partial<Overview>; database?: Partial<Stored>; says: string[] }>([
    {
      finds: 'undecided transactions that are decided',
      database: { undecided: [] },
      says: [
        'undecided of lucky: 3 instead of 0',
        'undecided of spinwell: 3 instead of 0',
        'parked: 1 instead of 0',
      ],
    },
    {
      finds: 'an item of a kind that it does not show',
      database: { attention: { transaction: 1, round: 2 } },
      says: ['items of the kind round: 0 instead of 2'],
    },
    {
      finds: 'an item that is closed',
      database: { attention: {} },
      says: ['items of the kind transaction: 1 instead of 0'],
    },
    {
      finds: 'an instance that it shows as not ready',
      overview: { instances: [{ ready: true }, { ready: false }] },
      says: ['ready instances: 1 instead of 2'],
    },
    {
      finds: 'an instance that does not run any more',
      overview: { instances: [{ ready: true }, { ready: true }, { ready: false }] },
      says: ['instances: 3 instead of 2'],
    },
    {
      finds: 'undecided transactions of a tenant that it does not show',
      overview: { operators: [{ id: 'lucky', undecided: 3 }], providers: [] },
      says: ['nothing of royal', 'nothing of spinwell'],
    },
    {
      finds: 'a tenant that does not exist',
      database: { operators: ['lucky'] },
      says: ['royal, which does not exist'],
    },
    {
      finds: 'an approval that waits',
      database: { approvalsWaiting: 1 },
      says: ['approvals that wait: 0 instead of 1'],
    },
  ])('is judged: $finds', ({ overview, database, says }) => {
    expect(judgeOverview({ ...shown, ...overview }, [{ ...stored, ...database }])).toEqual(says);
  });

  test.each([
    { undecided: 3, says: [] },
    { undecided: 2, says: [] },
    { undecided: 4, says: ['undecided of lucky: 4 instead of 1 to 3'] },
    { undecided: 0, says: ['undecided of lucky: 0 instead of 1 to 3'] },
  ])(
    'that shows $undecided undecided transactions, of 3 of which 2 are being decided',
    ({ undecided, says }) => {
      const pair = { operatorId: 'lucky', providerId: 'spinwell', parked: 1 };
      const later = { ...stored, undecided: [{ ...pair, count: 1 }] };
      const operators = [{ id: 'lucky', undecided }, ...shown.operators.slice(1)];
      expect(judgeOverview({ ...shown, operators }, [stored, later])).toEqual(says);
    },
  );
});

describe('the delay of a BET', () => {
  const intent = (kind: 'BET' | 'WIN', answer: Partial<Answer>): Intent => ({
    session: {
      providerId: 'spinwell',
      operatorId: 'lucky',
      sessionId: 'session',
      sessionToken: 'token',
      playerRef: 'player-1',
      gameId: 'reels',
    },
    request: {
      transactionId: `${kind}-1`,
      kind,
      playerRef: 'player-1',
      gameId: 'reels',
      currency: 'EUR',
      roundId: 'round-1',
      amountMinor: 10,
    },
    answers: [{ sent: 100_000, answered: 108_001, instance: 0, status: 0, ...answer }],
  });
  const during = (fault: Fault, from: number, to: number): FaultRecord[] => [{ fault, from, to }];

  test('without an answer is a finding', () => {
    const { calm, violations } = judgeDelays([intent('BET', {})], []);
    expect(calm).toEqual([8001]);
    expect(violations).toEqual(['BET-1: instance 0 gave no answer in 8001 ms, without a fault']);
  });

  test.each([
    { lagMs: 1, calm: 8000, findings: 1 },
    { lagMs: 2, calm: 7999, findings: 0 },
  ])("does not include the tool's own lag of $lagMs ms", ({ lagMs, calm, findings }) => {
    const judged = judgeDelays([intent('BET', { lagMs })], []);
    expect(judged.calm).toEqual([calm]);
    expect(judged.violations).toHaveLength(findings);
  });

  test('is also a finding while readers of the console come and go', () => {
    const faults = during({ kind: 'readers-leave', instance: 0, forMs: 1 }, 100_000, 101_000);
    expect(judgeDelays([intent('BET', {})], faults).violations).toHaveLength(1);
  });

  test.each<{ why: string; faults: FaultRecord[] }>([
    {
      why: 'while a fault is under way',
      faults: during({ kind: 'database-kill' }, 107_000, 120_000),
    },
    {
      why: 'shortly after a fault',
      faults: during({ kind: 'database-kill' }, 90_000, 95_500),
    },
  ])('is no finding $why', ({ faults }) => {
    expect(judgeDelays([intent('BET', {})], faults)).toEqual({ calm: [], violations: [] });
  });

  test('is no finding if it has an answer, or is that of a WIN', () => {
    const intents = [intent('BET', { answered: 100_020, status: 200 }), intent('WIN', {})];
    expect(judgeDelays(intents, [])).toEqual({ calm: [20], violations: [] });
  });
});

describe('a refusal of a reader', () => {
  const refusal: Refusal = {
    route: 'overview',
    instance: 1,
    status: 500,
    code: 'INTERNAL',
    asked: 100_000,
    answered: 100_900,
  };
  const judge = (fault: Fault, changes: Partial<Refusal> = {}) =>
    judgeRefusals([{ ...refusal, ...changes }], [{ fault, from: 90_000, to: 99_000 }]);

  test.each<Fault>([
    { kind: 'database-kill' },
    { kind: 'fail-over' },
    { kind: 'redis-stall', forMs: 1 },
    { kind: 'rolling-restart' },
    { kind: 'kill', instances: [1], downMs: 1 },
    { kind: 'suspend', instances: [0], forMs: 1, duringCalls: false },
    { kind: 'hold-up', link: 'database', instance: 0, forMs: 1 },
    { kind: 'name-lost', name: 'database', forMs: 1 },
  ])('is explained by $kind', (fault) => {
    expect(judge(fault)).toEqual([]);
    for (const status of [408, 503]) expect(judge(fault, { status })).toEqual([]);
  });

  test.each<Fault>([
    { kind: 'kill', instances: [0], downMs: 1 },
    { kind: 'cut', link: 'wallet', instance: 0, forMs: 1 },
    { kind: 'hold-up', link: 'client', instance: 1, forMs: 1 },
    { kind: 'name-lost', name: 'wallet', forMs: 1 },
    { kind: 'readers-leave', instance: 1, forMs: 1 },
  ])('is a finding although there was $kind', (fault) => {
    expect(judge(fault)).toEqual([
      'a reader of the overview at instance 1 was answered 500 (INTERNAL) at 1970-01-01T00:01:40.900Z, ' +
        'without a fault that explains it',
    ]);
  });

  test('is a finding without a fault, and long after one', () => {
    expect(judgeRefusals([refusal], [])).toHaveLength(1);
    expect(judge({ kind: 'database-kill' }, { asked: 104_001, answered: 104_100 })).toHaveLength(1);
  });

  test('with another status is always a finding', () => {
    expect(judge({ kind: 'database-kill' }, { status: 401, code: 'UNAUTHORIZED' })).toEqual([
      'a reader of the overview at instance 1 was answered 401 (UNAUTHORIZED) at 1970-01-01T00:01:40.900Z',
    ]);
  });
});

test.each([
  { values: [], fraction: 0.99, is: undefined },
  { values: [7], fraction: 0.99, is: 7 },
  { values: [3, 1, 2, 4], fraction: 0.5, is: 2 },
  { values: [3, 1, 2, 4], fraction: 1, is: 4 },
])('the percentile $fraction of $values is $is', ({ values, fraction, is }) => {
  expect(percentile(values, fraction)).toBe(is);
});
