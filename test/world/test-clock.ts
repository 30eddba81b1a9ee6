import { Clock } from '../../src/runtime/clock.js';

/** The real time plus an offset that tests change. */
export class TestClock extends Clock {
  private elapsedMs = 0;
  private steppedMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.elapsedMs + this.steppedMs);
  }

  override monotonicMs(): number {
    return super.monotonicMs() + this.elapsedMs;
  }

  /** Lets time pass. */
  advance(seconds: number): void {
    this.elapsedMs += seconds * 1000;
  }

  /** Sets the time of day forwards or back, as an administrator or NTP does. */
  step(seconds: number): void {
    this.steppedMs += seconds * 1000;
  }
}
