import { expect, test } from 'vitest';
import type { Audit } from '../../src/audit/audit.service.js';
import type { AuditStore } from '../../src/audit/audit.store.js';
import type { NewEntry } from '../../src/audit/entry.js';
import { HeadReporter } from '../../src/audit/head-reporter.js';
import { RepeatedEntries } from '../../src/audit/repeated-entries.js';
import type { Configuration } from '../../src/config/configuration.js';
import type { Metrics } from '../../src/observability/metrics.js';
import { Background } from '../../src/runtime/background.js';
import { TestClock } from '../world/test-clock.js';

/*
 * Intervals do not depend on the time of day, which can be set.
 */

const HOUR = 3_600;

test('repetitions are recorded after a minute, although the time of day is set back', async () => {
  const clock = new TestClock();
  const background = new Background();
  const recorded: NewEntry[] = [];
  const audit = { record: async (_: unknown, entry: NewEntry) => void recorded.push(entry) };
  const repeated = new RepeatedEntries(audit as unknown as Audit, clock, background);
  const actor = { actor: 'root', role: 'admin' } as const;
  for (let times = 0; times < 2; times += 1)
    await repeated.record(actor, { action: 'test.read', target: 'test' });
  clock.step(-HOUR);
  clock.advance(61);
  await background['works'][0]!.loop.run();
  expect(recorded).toMatchObject([{}, { after: { repeats: 1 } }]);
});

test('the head is logged every hour, although the time of day is set', async () => {
  const clock = new TestClock();
  let read = 0;
  const store = { head: async () => void (read += 1) } as unknown as AuditStore;
  const metrics = { addGauge: () => undefined } as unknown as Metrics;
  const reporter = new HeadReporter({} as Configuration, store, clock, new Background(), metrics);
  clock.step(HOUR);
  await reporter.tick();
  expect(read).toBe(0);
  clock.step(-2 * HOUR);
  clock.advance(HOUR);
  await reporter.tick();
  expect(read).toBe(1);
});
