import { CroupierError } from '../errors/croupier-error.js';
import { monotonicMs } from '../runtime/clock.js';

/**
 * Maximum number of pairs that are compared over HTTP, and time for it in milliseconds: as long as the comparison takes,
 * its snapshot keeps PostgreSQL from removing dead rows.
 */
export const MAX_PAIRS = 2_000_000;
export const MAX_COMPARING_MS = 15 * 60_000;

/** Bounds one comparison. */
export class ComparisonBounds {
  private pairs = 0;
  private sinceMs: number | undefined;

  /** @throws CroupierError INVALID_REQUEST if there are too many pairs */
  count(pairs: number): void {
    this.pairs += pairs;
    if (this.pairs > MAX_PAIRS) throw exceeded();
  }

  /**
   * The time for the next statement, in milliseconds, at least 1. The first call begins the time of the comparison.
   * @throws CroupierError INVALID_REQUEST if the time is over
   */
  remainingMs(): number {
    this.sinceMs ??= monotonicMs();
    const remaining = Math.ceil(this.sinceMs + MAX_COMPARING_MS - monotonicMs());
    if (remaining <= 0) throw exceeded();
    return remaining;
  }
}

function exceeded(): CroupierError {
  return new CroupierError(
    'INVALID_REQUEST',
    'the range has too many transactions: choose a shorter one, or use the command',
  );
}
