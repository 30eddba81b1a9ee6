import type { Configuration } from '../config/configuration.js';

/**
 * Lease of an instance on a recorded callback, in seconds: the callback's time-out plus the transactions' lease. When
 * it has expired, the outcome will never be known, and the record says so.
 */
export function callbackLeaseSeconds(configuration: Configuration): number {
  return configuration.callbackTimeoutMs / 1000 + configuration.transactionLeaseSeconds;
}
