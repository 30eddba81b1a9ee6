import type { Configuration } from '../config/configuration.js';

/**
 * How long an instance may work on a recorded callback, in seconds: the callback's time-out plus the transactions'
 * lease. An outcome that is not recorded by then counts as unknown.
 */
export function callbackLeaseSeconds(configuration: Configuration): number {
  return configuration.callbackTimeoutMs / 1000 + configuration.transactionLeaseSeconds;
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
