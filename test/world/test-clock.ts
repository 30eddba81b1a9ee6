import { Clock } from '../../src/runtime/clock.js';

/** The real time plus an offset that tests change. */
export class TestClock extends Clock {
  private elapsedMs = 0;
  private steppedMs = 0;
  /** The monotonic time at which it was stopped. */
  private stoppedMs: number | undefined;

  override now(): Date {
    return new Date(Date.now() + this.elapsedMs + this.steppedMs);
  }

  override monotonicMs(): number {
    return (this.stoppedMs ?? super.monotonicMs()) + this.elapsedMs;
  }

  /** Lets time pass. */
  advance(seconds: number): void {
    this.elapsedMs += seconds * 1000;
  }

  /**
   * Stops the monotonic time, which from then on only `advance` moves.
   * @returns lets it run again
   */
  stop(): () => void {
    this.stoppedMs = super.monotonicMs();
    return () => (this.stoppedMs = undefined);
  }

  /** Sets the time of day forwards or back, as an administrator or NTP does. */
  step(seconds: number): void {
    this.steppedMs += seconds * 1000;
  }
}
