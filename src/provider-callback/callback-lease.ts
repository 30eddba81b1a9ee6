import type { Configuration } from '../config/configuration.js';
import type { Query } from '../database/database.js';
import type { Statement } from '../database/statement.js';
import { monotonicMs } from '../runtime/clock.js';

/** What an instance has claimed, to send one callback within the lease. */
export interface Claim {
  /** The monotonic time at which the claim was sent to the database. The lease begins later. */
  readonly claimedMs: number;
}

/**
 * How long an instance may work on a recorded callback, in seconds: the callback's time-out plus the transactions'
 * lease. An outcome that is not recorded by then counts as unknown.
 */
export function callbackLeaseSeconds(configuration: Configuration): number {
  return configuration.callbackTimeoutMs / 1000 + configuration.transactionLeaseSeconds;
}

/** Runs a statement that claims at most one row, and adds the time of the claim to the row. */
export async function claimWith<Row extends Claim>(
  query: Query,
  statement: Statement,
  values: object,
): Promise<Row | undefined> {
  let claimedMs = monotonicMs();
  const [row] = await query<object>(statement, values, (atMs) => (claimedMs = atMs));
  return row && ({ ...row, claimedMs } as Row);
}

/**
 * Whether a callback that is sent now would time out within the lease of its claim. Without this check, a process that was
 * suspended after its claim could send the callback while the outcome counts as unknown, or another process sends it.
 */
export function leaseCoversCallback(configuration: Configuration, { claimedMs }: Claim): boolean {
  const endMs = monotonicMs() + configuration.callbackTimeoutMs;
  return endMs < claimedMs + callbackLeaseSeconds(configuration) * 1000;
}

/** Time to record the outcome of a callback that has timed out, in milliseconds. */
const RECORDING_MS = 1_000;

/**
 * How long a stop waits for callbacks under way, in milliseconds. Their outcomes must be recorded, because a grant or a
 * revocation with an unknown outcome is not sent again.
 */
export function callbackStopMs({ callbackTimeoutMs }: Configuration): number {
  return callbackTimeoutMs + RECORDING_MS;
}
