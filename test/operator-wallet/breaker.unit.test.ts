import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Breaker, MIN_CALLS, PROBE_INTERVAL_MS, WINDOW_MS } from '../../src/operator-wallet/rules/breaker.js';

const SECOND_MS = 1_000;

const calls = (breaker: Breaker, result: 'answered' | 'failed', count: number, nowMs: number) => {
  for (let n = 0; n < count; n += 1) breaker.record(result, nowMs);
};

describe('the breaker is open while more than half of at least 20 calls of 30 seconds failed', () => {
  test.each([
    { failed: 19, answered: 0, open: false },
    { failed: 20, answered: 0, open: true },
    { failed: 11, answered: 9, open: true },
    { failed: 10, answered: 10, open: false },
    { failed: 10, answered: 9, open: false },
    { failed: 500, answered: 499, open: true },
    { failed: 500, answered: 500, open: false },
  ])('$failed failed, $answered answered: $open', ({ failed, answered, open }) => {
    const breaker = new Breaker();
    calls(breaker, 'failed', failed, 0);
    calls(breaker, 'answered', answered, 0);
    expect(breaker.isOpen(0)).toBe(open);
    expect(breaker.isOpen(WINDOW_MS - SECOND_MS)).toBe(open);
    expect(breaker.isOpen(WINDOW_MS)).toBe(false);
  });

  test('as each second leaves the window, its calls leave the count', () => {
    const breaker = new Breaker();
    calls(breaker, 'failed', 11, 0);
    calls(breaker, 'answered', 9, SECOND_MS);
    calls(breaker, 'failed', 8, 2 * SECOND_MS);
    expect(breaker.isOpen(WINDOW_MS - 1)).toBe(true);
    expect(breaker.isOpen(WINDOW_MS)).toBe(false);
    calls(breaker, 'failed', 5, WINDOW_MS);
    expect(breaker.isOpen(WINDOW_MS)).toBe(true);
    expect(breaker.isOpen(WINDOW_MS + SECOND_MS)).toBe(false);
  });

  test.each([WINDOW_MS, WINDOW_MS + SECOND_MS, 100 * WINDOW_MS])(
    'and after a pause of %d ms, none of the calls before it counts',
    (pauseMs) => {
      const breaker = new Breaker();
      calls(breaker, 'failed', MIN_CALLS, 5 * SECOND_MS);
      const nowMs = 5 * SECOND_MS + pauseMs;
      expect(breaker.isOpen(nowMs)).toBe(false);
      calls(breaker, 'failed', MIN_CALLS - 1, nowMs);
      expect(breaker.isOpen(nowMs)).toBe(false);
      calls(breaker, 'failed', 1, nowMs);
      expect(breaker.isOpen(nowMs)).toBe(true);
    },
  );

  test('as computed from a list of all calls, for any sequence of calls', () => {
    const event = fc.record({
      afterMs: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ max: 100_000, min: 0 }),
      ),
      failed: fc.boolean(),
      count: fc.integer({ min: 0, max: 15 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const breaker = new Breaker();
        const all: { slot: number; failed: boolean }[] = [];
        let nowMs = 123_456.7;
        for (const { afterMs, failed, count } of events) {
          nowMs += afterMs;
          const slot = Math.floor(nowMs / SECOND_MS);
          for (let n = 0; n < count; n += 1) all.push({ slot, failed });
          calls(breaker, failed ? 'failed' : 'answered', count, nowMs);
          const recent = all.filter((call) => call.slot > slot - WINDOW_MS / SECOND_MS);
          const failures = recent.filter((call) => call.failed).length;
          expect(breaker.isOpen(nowMs)).toBe(recent.length >= MIN_CALLS && failures > recent.length / 2);
        }
      }),
    );
  });
});

test('an open breaker admits a first BET at once, and the next one a second later', () => {
  const breaker = new Breaker();
  calls(breaker, 'failed', MIN_CALLS, 0);
  const admitted = [0, 1, PROBE_INTERVAL_MS - 1, PROBE_INTERVAL_MS, PROBE_INTERVAL_MS + 1];
  expect(admitted.map((nowMs) => breaker.admitBet(nowMs))).toEqual([true, false, false, true, false]);
});

test('an open breaker admits one BET a second, and a closed one all', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1_500 }), { minLength: 1, maxLength: 40 }), (pauses) => {
      const breaker = new Breaker();
      expect(breaker.admitBet(0)).toBe(true);
      let nowMs = 0;
      let admittedMs = -Infinity;
      for (const pause of pauses) {
        nowMs += pause;
        calls(breaker, 'failed', MIN_CALLS, nowMs);
        const admits = breaker.admitBet(nowMs);
        expect(admits).toBe(nowMs - admittedMs >= PROBE_INTERVAL_MS);
        if (admits) admittedMs = nowMs;
      }
    }),
  );
});
