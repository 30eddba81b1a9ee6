import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseClock } from '../../src/database/database-clock.js';
import { Metrics } from '../../src/observability/metrics.js';
import { Clock } from '../../src/runtime/clock.js';

const NOON = Date.parse('2026-03-01T12:00:00Z');

/** An instance whose clock is ahead of the database's by a fixed offset; both advance with the monotonic clock. */
class OffsetClock extends Clock {
  offsetMs = 0;

  override now(): Date {
    return new Date(NOON + performance.now() + this.offsetMs);
  }
}

let clock: OffsetClock;
let databaseClock: DatabaseClock;
let metrics: Metrics;
let said: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  clock = new OffsetClock();
  metrics = new Metrics();
  databaseClock = new DatabaseClock(clock, metrics);
  said = [];
  vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => void said.push('warning'));
  vi.spyOn(Logger.prototype, 'log').mockImplementation(() => void said.push('back'));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A statement that reads the database's clock at a given point of its round trip, in milliseconds. */
async function read(offsetMs: number, roundTripMs = 0, readAfterMs = roundTripMs / 2): Promise<void> {
  clock.offsetMs = offsetMs;
  await databaseClock.read(async () => {
    vi.advanceTimersByTime(readAfterMs);
    const databaseTime = new Date(NOON + performance.now());
    vi.advanceTimersByTime(roundTripMs - readAfterMs);
    return { databaseTime };
  });
}
const offset = async () => {
  const { values } = await metrics.registry.getSingleMetric('croupier_clock_offset_seconds')!.get();
  return values[0]?.value;
};

test('there is no offset before the first reading', async () => {
  expect(await offset()).toBeNaN();
});

test('the offset is measured at the middle of the round trip', async () => {
  await read(1500, 400);
  expect(await offset()).toBeCloseTo(1.5);
  await read(-1500, 400);
  expect(await offset()).toBeCloseTo(-1.5);
});

test('a reading is advanced by the monotonic clock, whatever the instance’s own clock does', async () => {
  await read(0);
  clock.offsetMs = 3_600_000;
  vi.advanceTimersByTime(10_000);
  expect(databaseClock.now()).toEqual(new Date(NOON + performance.now()));
});

test('a wait for a connection does not count as part of the round trip', async () => {
  await databaseClock.read(async (onSend) => {
    vi.advanceTimersByTime(10_000);
    onSend(performance.now());
    vi.advanceTimersByTime(100);
    const databaseTime = new Date(NOON + performance.now());
    vi.advanceTimersByTime(100);
    return { databaseTime };
  });
  expect(databaseClock.now()).toEqual(new Date(NOON + performance.now()));
  expect(await offset()).toBeCloseTo(0);
});

test.each([2001, -2001])('an offset of %d ms is logged once, and its end once', async (offsetMs) => {
  await read(offsetMs < 0 ? -2000 : 2000);
  expect(said).toEqual([]);
  for (let polls = 0; polls < 3; polls += 1) await read(offsetMs);
  expect(said).toEqual(['warning']);
  for (let polls = 0; polls < 3; polls += 1) await read(0);
  expect(said).toEqual(['warning', 'back']);
});

test.each([0, 10_000])(
  'a slow answer is not taken for an offset, even if the clock was read after %d ms',
  async (readAfterMs) => {
    await read(0, 10_000, readAfterMs);
    expect(said).toEqual([]);
    await read(60_000);
    await read(0, 10_000, readAfterMs);
    expect(said).toEqual(['warning']);
  },
);
