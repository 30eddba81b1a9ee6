import type { Configuration } from '../config/configuration.js';

/**
 * How long what is recorded before a callback stays with the instance that sends it, in seconds: the callback's
 * time-out and the transactions' lease. Then nobody will ever record its outcome, and the record says so.
 */
export function callbackLeaseSeconds(configuration: Configuration): number {
  return configuration.callbackTimeoutMs / 1000 + configuration.transactionLeaseSeconds;
}
