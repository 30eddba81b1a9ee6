import { beforeEach, expect, test, vi } from 'vitest';
import { Metrics } from '../../src/observability/metrics.js';

let metrics: Metrics;
beforeEach(() => (metrics = new Metrics()));

const put = (times: number) => {
  for (let n = 0; n < times; n += 1) {
    metrics.later(({ resolutions }) => resolutions.inc({ outcome: 'parked' }));
  }
};
/** What is measured by now, and not what would be for somebody who reads. */
const measured = async () => (await metrics.resolutions.get()).values[0]?.value ?? 0;

test('what is put off is there for whoever reads', async () => {
  put(3);
  expect(await measured()).toBe(0);
  expect(await metrics.text()).toContain('croupier_resolutions_total{outcome="parked"} 3');
  expect(await metrics.text()).toContain('croupier_resolutions_total{outcome="parked"} 3');
});

test('what is put off is measured though nobody reads', async () => {
  put(3);
  await vi.waitFor(async () => expect(await measured()).toBe(3));
  put(2);
  await vi.waitFor(async () => expect(await measured()).toBe(5));
});

test('no more than a hundred measurements are put off', async () => {
  put(99);
  expect(await measured()).toBe(0);
  put(2);
  expect(await measured()).toBe(100);
});
