import { CroupierError } from '../errors/croupier-error.js';
import { monotonicMs } from '../runtime/clock.js';

/**
 * Maximum number of pairs that are compared over HTTP, and time for it in milliseconds: as long as the comparison takes,
 * its snapshot keeps PostgreSQL from removing dead rows.
 */
export const MAX_PAIRS = 2_000_000;
export const MAX_COMPARING_MS = 15 * 60_000;

/** Bounds one comparison, from its first pair. */
export class ComparisonBounds {
  private pairs = 0;
  private sinceMs: number | undefined;

  /** @throws CroupierError INVALID_REQUEST if there are too many pairs, or they take too long */
  count(pairs: number): void {
    this.pairs += pairs;
    this.sinceMs ??= monotonicMs();
    if (this.pairs <= MAX_PAIRS && monotonicMs() - this.sinceMs <= MAX_COMPARING_MS) return;
    throw new CroupierError(
      'INVALID_REQUEST',
      'the range has too many transactions: choose a shorter one, or use the command',
    );
  }
}
