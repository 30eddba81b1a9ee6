import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Metrics } from '../../src/observability/metrics.js';
import { PATIENCE } from '../world/patience.js';

let metrics: Metrics;
beforeEach(() => (metrics = new Metrics()));

const settle = (times: number) => {
  for (let n = 0; n < times; n += 1)
    metrics.transactionSettled('lucky', 'spinwell', 'BET', 'APPROVED', 'REAL');
};
/** The updates applied so far; unlike reading the text, this applies none. */
async function applied(): Promise<number> {
  const { values } = await metrics.registry.getSingleMetric('croupier_transactions_total')!.get();
  return values[0]?.value ?? 0;
}

test('deferred updates are applied before the metrics are read', async () => {
  settle(3);
  expect(await applied()).toBe(0);
  const line =
    'croupier_transactions_total{operator="lucky",provider="spinwell",kind="BET",state="APPROVED",mode="REAL"} 3';
  expect(await metrics.text()).toContain(line);
  expect(await metrics.text()).toContain(line);
});

test('deferred updates are applied even if the metrics are not read', async () => {
  settle(3);
  await vi.waitFor(async () => expect(await applied()).toBe(3), PATIENCE);
  settle(2);
  await vi.waitFor(async () => expect(await applied()).toBe(5), PATIENCE);
});

test('at most a hundred updates are deferred', async () => {
  settle(99);
  expect(await applied()).toBe(0);
  settle(2);
  expect(await applied()).toBe(100);
});

test('the build has the version of package.json and of Node', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await metrics.text()).toContain(
    `\ncroupier_build_info{version="${version}",node="${process.version}"} 1\n`,
  );
});

describe('labels', () => {
  /** The values that a label has in the lines of a metric. */
  async function labels(name: string, label: string): Promise<Set<string>> {
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`));
    return new Set(lines.map((line) => new RegExp(`[{,]${label}="([^"]*)"`).exec(line)![1]!));
  }

  test('name the first 200 operators, and the first 200 providers; the rest is other', async () => {
    for (let n = 0; n < 203; n += 1) metrics.operatorCallEnded(`operator-${n}`, 'BET', 'APPROVED', 1);
    for (let n = 0; n < 203; n += 1) metrics.callbackSent(`provider-${n}`, '/v1/game/session/revoke', 200, 1);
    const operators = await labels('croupier_operator_calls_total', 'operator');
    expect(operators.size).toBe(201);
    expect(operators).toContain('operator-199');
    expect(operators).not.toContain('operator-200');
    expect(await labels('croupier_callbacks_total', 'provider')).toContain('other');
    expect(await metrics.text()).toContain(
      'croupier_operator_calls_total{operator="other",operation="BET",outcome="APPROVED"} 3',
    );
  });

  test('name the statuses of callbacks that are registered, and the classes of others', async () => {
    for (let status = 200; status < 600; status += 1)
      metrics.callbackSent('a-provider', '/v1/game/session/revoke', status, 1);
    const outcomes = await labels('croupier_callbacks_total', 'outcome');
    for (const outcome of ['200', '503', '2xx', '3xx', '4xx', '5xx']) expect(outcomes).toContain(outcome);
    expect(outcomes.size).toBeLessThan(70);
  });

  test('name at most 2000 pairs, and the operator of each', async () => {
    for (let operator = 0; operator < 60; operator += 1) {
      for (let provider = 0; provider < 60; provider += 1) {
        metrics.grantReached(`operator-${operator}`, `provider-${provider}`, 'GRANTED');
      }
    }
    const lines = (await metrics.text()).match(/^croupier_free_spin_grants_total{.*$/gm)!;
    expect(lines.length).toBeLessThanOrEqual(2_060);
    expect(await labels('croupier_free_spin_grants_total', 'operator')).toHaveProperty('size', 60);
    const ofLast = lines.filter((line) => line.includes('operator="operator-59"'));
    expect(ofLast).toEqual([
      'croupier_free_spin_grants_total{operator="operator-59",provider="other",state="GRANTED"} 60',
    ]);
  });
});

describe('a level', () => {
  test('of several tenants in other is their sum, or the combination that it defines', async () => {
    const tenants = Array.from({ length: 205 }, (_, n) => ({ operator: `operator-${n}`, value: n }));
    const read = async () => tenants;
    metrics.addGauge({ name: 'croupier_sum', help: '-', labelNames: ['operator'], read });
    metrics.addGauge({ name: 'croupier_most', help: '-', labelNames: ['operator'], read, combine: Math.max });
    const text = await metrics.text();
    expect(text).toContain(`croupier_sum{operator="other"} ${200 + 201 + 202 + 203 + 204}`);
    expect(text).toContain('croupier_most{operator="other"} 204');
    expect(text).toContain('croupier_sum{operator="operator-199"} 199');
  });

  test('that cannot be read has no value, while the other metrics have theirs', async () => {
    const read = () => Promise.reject(new Error('the database is down'));
    metrics.addGauge({ name: 'croupier_away', help: '-', read });
    metrics.addGauge({ name: 'croupier_away_by_operator', help: '-', labelNames: ['operator'], read });
    settle(1);
    const text = await metrics.text();
    expect(text).toContain('croupier_away Nan');
    expect(text).not.toContain('croupier_away_by_operator{');
    expect(text).toContain('croupier_transactions_total{');
  });

  test('that is read for more than three seconds has no value, and later scrapes share the read', async () => {
    let reads = 0;
    const read = () => {
      reads += 1;
      return new Promise<never>(() => undefined);
    };
    metrics.addGauge({ name: 'croupier_slow', help: '-', read });
    settle(1);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    for (let scrape = 0; scrape < 2; scrape += 1) {
      const text = metrics.text();
      await vi.advanceTimersByTimeAsync(3_000);
      expect(await text).toContain('croupier_slow Nan');
      expect(await text).toContain('croupier_transactions_total{');
    }
    expect(reads).toBe(1);
  });
});
