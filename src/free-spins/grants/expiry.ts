import { CroupierError } from '../../errors/croupier-error.js';
import { instantOrDayMs } from '../../runtime/instant.js';

/**
 * The time that a request may take to arrive, in milliseconds. A caller that asks for an expiry in exactly one minute is
 * not refused because of it.
 */
const TRANSIT_MS = 1_000;
/** The earliest `expiresAt`, in milliseconds from now. Contract, section 6. */
const EARLIEST_MS = 60_000 - TRANSIT_MS;
/** How far the estimate of the database's clock may be behind on a busy machine, in milliseconds. */
const BEHIND_MS = 5_000;
/** The latest `expiresAt`, in milliseconds from now: 366 days. */
const LATEST_MS = 366 * 24 * 3_600_000 + BEHIND_MS;

/** Converts the `expiresAt` of a valid request to ISO 8601 in UTC; null if the spins do not expire. */
export function expiryOf(expiresAt: string | null | undefined): string | null {
  return expiresAt == null ? null : new Date(instantOrDayMs(expiresAt)!).toISOString();
}

/**
 * Requires that an expiry is one minute to 366 days ahead.
 * @param now by the database's clock, which later decides when the expiry is due
 * @throws CroupierError INVALID_REQUEST
 */
export function assertAhead(expiresAt: string | null, now: Date): void {
  if (expiresAt === null) return;
  const aheadMs = Date.parse(expiresAt) - now.getTime();
  if (aheadMs < EARLIEST_MS || aheadMs > LATEST_MS) {
    throw new CroupierError('INVALID_REQUEST', 'expiresAt must be one minute to 366 days ahead');
  }
}

/**
 * Requires that spins which are about to be granted have not expired, such as those of an approved request.
 * @throws CroupierError CONFLICT
 */
export function assertNotExpired(expiresAt: string | Date | null, now: Date): void {
  if (expiresAt !== null && new Date(expiresAt) <= now) {
    throw new CroupierError('CONFLICT', 'its expiresAt has passed');
  }
}
