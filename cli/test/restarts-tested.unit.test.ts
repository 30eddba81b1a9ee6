import { expect, test } from 'vitest';
import { WALLET_CASES } from '../src/certify/operator/cases.js';
import type { CaseResult, Outcome } from '../src/certify/outcome.js';
import { restartsTested, type Run } from '../src/certify/reports/run.js';

const PASSED: Outcome = { kind: 'passed' };
const RESULTS = WALLET_CASES.filter(({ group }) => group === 'restart').map(
  ({ id, title, group, rule }): CaseResult => ({ id, title, group, rule, outcome: PASSED, durationMs: 1 }),
);

function runWith(results: readonly CaseResult[]): Run {
  return {
    certification: 'certify-operator',
    subject: 'Operator wallet',
    version: '1.0.0',
    tenantId: 'bigwin',
    address: { name: 'walletBaseUrl', url: 'http://127.0.0.1' },
    startedAt: '2026-01-01T00:00:00.000Z',
    complete: false,
    results,
  };
}

test('restarts are tested if all their cases passed', () => {
  expect(restartsTested(runWith(RESULTS))).toBe(true);
});

test.each(RESULTS.map(({ id }) => id))('restarts are not tested without %s', (id) => {
  expect(restartsTested(runWith(RESULTS.filter((each) => each.id !== id)))).toBe(false);
});

test.each<Outcome>([
  { kind: 'failed', expected: 'balance 1', received: 'balance 0' },
  { kind: 'blocked', expected: 'an answer', received: 'none' },
  { kind: 'skipped', why: 'it needs --restart-command' },
])('restarts are not tested if one of their cases is $kind', (outcome) => {
  expect(RESULTS.length).toBeGreaterThan(1);
  for (const { id } of RESULTS) {
    const results = RESULTS.map((each) => (each.id === id ? { ...each, outcome } : each));
    expect(restartsTested(runWith(results))).toBe(false);
  }
});
