import type { Configuration } from '../config/configuration.js';

/**
 * How long an instance may work on a recorded callback, in seconds: the callback's time-out plus the transactions'
 * lease. An outcome that is not recorded by then counts as unknown.
 */
export function callbackLeaseSeconds(configuration: Configuration): number {
  return configuration.callbackTimeoutMs / 1000 + configuration.transactionLeaseSeconds;
}
