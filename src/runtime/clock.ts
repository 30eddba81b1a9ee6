import { Injectable } from '@nestjs/common';

/**
 * This instance's time of day, for signatures, tokens and times that only people read. Instants in the database are
 * compared with the database's clock.
 */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }

  /** Unix time in seconds, with fractions. */
  unixSeconds(): number {
    return this.now().getTime() / 1000;
  }

  monotonicMs(): number {
    return monotonicMs();
  }
}

/** Monotonic time in milliseconds with fractions, for measuring durations. */
export function monotonicMs(): number {
  return performance.now();
}
