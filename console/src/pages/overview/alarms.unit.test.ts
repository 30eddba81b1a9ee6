import { expect, test } from 'vitest';
import type { Schema } from '../../api/schemas.ts';
import { alarmsOf, worstFirst } from './alarms.ts';

const tenant = (id: string, fields: Partial<Schema<'OverviewTenant'>> = {}): Schema<'OverviewTenant'> => ({
  id,
  name: id.toUpperCase(),
  state: 'ok',
  successRate: 1,
  p95Ms: 20,
  perMinute: 10,
  undecided: 0,
  oldestUndecidedSeconds: null,
  ...fields,
});

const quiet: Schema<'OverviewResponse'> = {
  at: '2026-01-31T06:00:00.000Z',
  perMinute: [],
  amounts: [],
  operators: [tenant('one', { undecided: 1, oldestUndecidedSeconds: 59 }), tenant('two')],
  providers: [tenant('acme')],
  parked: 0,
  approvalsWaiting: 3,
  attention: {
    transaction: 0,
    round: 2,
    grant: 0,
    winnings: 0,
    revocation: 0,
    approval: 3,
    reconciliation: 0,
  },
  instances: [{ id: 'i-1', version: '1.0.0', startedAt: '2026-01-31T05:00:00.000Z', ready: true }],
};

test('a quiet house has no alarms: approvals, findings and fresh retries are daily work', () => {
  expect(alarmsOf(quiet)).toEqual([]);
});

test('alarms say where, the worst first, and lead there', () => {
  const paused = { reason: 'the wallet is being moved', pausedAt: quiet.at, by: 'root' };
  const alarms = alarmsOf({
    ...quiet,
    operators: [
      tenant('one', { state: 'paused', pause: paused }),
      tenant('two', { state: 'degraded', successRate: 0.9, undecided: 4, oldestUndecidedSeconds: 125 }),
    ],
    providers: [tenant('acme', { state: 'open', successRate: 0 })],
    parked: 2,
    instances: [{ ...quiet.instances[0]!, ready: false }],
  });
  expect(alarms.map(({ href }) => href)).toEqual([
    '/console/providers/acme',
    undefined,
    '/console/operators/two',
    '/console/transactions?parked=true',
    '/console/operators/two',
    '/console/operators/one',
  ]);
  const sentences = alarms.map(({ sentence }) => sentence);
  expect(sentences[0]).toContain('ACME');
  expect(sentences[2]).toContain('90 %');
  expect(sentences[3]).toContain('2');
  expect(sentences[4]).toContain('2 min 5 s');
  expect(sentences[5]).toContain('the wallet is being moved');
});

test('an open breaker is said to refuse most BETs, not all calls', () => {
  const [alarm] = alarmsOf({ ...quiet, operators: [tenant('two', { state: 'open', successRate: 0.2 })] });
  expect(alarm?.sentence).toBe(
    'Operator TWO answers too few calls: most of its BETs are refused until it recovers; WINs and ROLLBACKs are still sent.',
  );
});

test('what is read aloud changes only with what is wrong, not with its figures', () => {
  const spokenAt = (seconds: number, successRate: number) =>
    alarmsOf({
      ...quiet,
      operators: [tenant('two', { state: 'degraded', successRate, oldestUndecidedSeconds: seconds })],
    }).map(({ spoken }) => spoken);
  expect(spokenAt(125, 0.9)).toEqual([
    'Operator TWO answers badly.',
    'Operator TWO has transactions that are undecided for more than a minute.',
  ]);
  expect(spokenAt(130, 0.89)).toEqual(spokenAt(125, 0.9));
});

test('who needs a look stands first', () => {
  const tenants = [
    tenant('a'),
    tenant('b', { state: 'paused' }),
    tenant('c', { undecided: 2 }),
    tenant('d', { state: 'open' }),
    tenant('e', { state: 'degraded' }),
  ];
  expect(worstFirst(tenants).map(({ id }) => id)).toEqual(['d', 'e', 'b', 'c', 'a']);
});
