import { Injectable } from '@nestjs/common';

/**
 * This instance's time of day: for signatures, tokens and what people read. What is compared with an instant in the
 * database is compared by the database's clock.
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
}

/** A moment to measure from, in milliseconds with fractions; it never jumps. */
export function monotonicMs(): number {
  return performance.now();
}
