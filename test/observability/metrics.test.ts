import { beforeEach, expect, test, vi } from 'vitest';
import { Metrics } from '../../src/observability/metrics.js';

let metrics: Metrics;
beforeEach(() => (metrics = new Metrics()));

const settle = (times: number) => {
  for (let n = 0; n < times; n += 1) metrics.transactionSettled('BET', 'APPROVED', 'REAL');
};
/** The updates applied so far; unlike reading the text, this applies none. */
async function applied(): Promise<number> {
  const { values } = await metrics.registry.getSingleMetric('croupier_transactions_total')!.get();
  return values[0]?.value ?? 0;
}

test('deferred updates are applied before the metrics are read', async () => {
  settle(3);
  expect(await applied()).toBe(0);
  const line = 'croupier_transactions_total{kind="BET",state="APPROVED",mode="REAL"} 3';
  expect(await metrics.text()).toContain(line);
  expect(await metrics.text()).toContain(line);
});

test('deferred updates are applied even if nobody reads the metrics', async () => {
  settle(3);
  await vi.waitFor(async () => expect(await applied()).toBe(3));
  settle(2);
  await vi.waitFor(async () => expect(await applied()).toBe(5));
});

test('at most a hundred updates are deferred', async () => {
  settle(99);
  expect(await applied()).toBe(0);
  settle(2);
  expect(await applied()).toBe(100);
});
