import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EventLoopLag } from '../../chaos/load/event-loop-lag.js';

const BUSY_MS = 300;

let lag: EventLoopLag;

beforeEach(() => {
  lag = new EventLoopLag();
  lag.start();
});

afterEach(() => lag.stop());

function beBusy(): void {
  const end = performance.now() + BUSY_MS;
  while (performance.now() < end);
}

test('counts the time in which the process was busy, before and after the process can notice it', async () => {
  const startedMs = performance.now();
  await sleep(50);
  const from = Date.now();
  beBusy();
  const atOnce = lag.since(from);
  await sleep(50);
  const later = lag.since(from);
  // On a busy machine, the process may have been busy for longer.
  const passedMs = performance.now() - startedMs;
  for (const each of [atOnce, later, lag.total.longestMs]) {
    expect(each).toBeGreaterThan(BUSY_MS - 50);
    expect(each).toBeLessThan(passedMs);
  }
});

test('never counts more than the time that has passed', async () => {
  await sleep(50);
  beBusy();
  const from = Date.now();
  expect(lag.since(from)).toBeLessThanOrEqual(Date.now() - from);
  beBusy();
  await sleep(30);
  beBusy();
  expect(lag.since(from)).toBeLessThanOrEqual(Date.now() - from);
  expect(lag.since(from)).toBeGreaterThan(2 * BUSY_MS - 100);
});

test('counts nothing before it is started', () => {
  const idle = new EventLoopLag();
  beBusy();
  expect(idle.since(0)).toBe(0);
});
