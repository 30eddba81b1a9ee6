/** Length of the fixed window in which a tenant's requests are counted, in milliseconds: limits are per second. */
export const RATE_WINDOW_MS = 1_000;

/** A tenant's request count, which the claim of a nonce returns. */
export interface RateRecord {
  /**
   * Number of the tenant's requests in the current window, including the current request: over all instances with
   * Redis, else at this instance.
   */
  readonly requests: number;
  /** The tenant's limit in this window. The nonce of a request beyond it is not stored, so it must be refused. */
  readonly limit: number;
  /** Time until the window ends, in milliseconds. */
  readonly windowEndsInMs: number;
}
