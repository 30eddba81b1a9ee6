import { Injectable } from '@nestjs/common';

/**
 * The time of day on this instance, for signatures, tokens and times that only people read. Instants that are stored in
 * the database are compared with the database's clock instead.
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

  /** As the function `monotonicMs`. */
  monotonicMs(): number {
    return monotonicMs();
  }
}

/** A moment to measure from, in milliseconds with fractions; it never jumps. */
export function monotonicMs(): number {
  return performance.now();
}
