import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from './clock.js';

/** Longest and shortest rest, as multiples of the time that the work took: at most a tenth of a busy instance's time. */
const LONGEST_REST = 10;
const SHORTEST_REST = 0.5;
/** Longest single rest, in milliseconds. After a long statement of the database, a longer one would help nothing. */
const LONGEST_REST_MS = 250;
/** The event loop's utilization, 0 to 1, from which the instance counts as busy. */
const BUSY = 0.3;
/** Weight of the newest measurement of the utilization. A single rest is too short to measure it. */
const SMOOTHING = 0.1;

/**
 * Lets long work run beside requests: the work is done in short batches, with a rest after each. The busier the event
 * loop is with other work, the longer is the rest.
 */
export class Pace {
  private beganMs = monotonicMs();
  /** Utilization by other work. */
  private utilization = 0;

  /** Begins a batch: the time before, such as a wait for more input, is no work. */
  begin(): void {
    this.beganMs = monotonicMs();
  }

  /** Rests after a batch, and begins the next one. */
  async rest(): Promise<void> {
    const tookMs = monotonicMs() - this.beganMs;
    const share = Math.max(SHORTEST_REST, LONGEST_REST * Math.min(1, this.utilization / BUSY));
    const before = performance.eventLoopUtilization();
    await sleep(Math.min(LONGEST_REST_MS, tookMs * share));
    const { utilization } = performance.eventLoopUtilization(before);
    this.utilization += (utilization - this.utilization) * SMOOTHING;
    this.begin();
  }
}
