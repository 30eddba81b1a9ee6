/** Length of the fixed window in which a tenant's requests are counted, in milliseconds: limits are per second. */
export const RATE_WINDOW_MS = 1_000;

/** A tenant's request count, which the claim of a nonce returns. */
export interface RateRecord {
  /**
   * Number of the tenant's requests in the current window, including the current request: over all instances with
   * Redis, else at this instance.
   */
  readonly requests: number;
  /** Time until the window ends, in milliseconds. */
  readonly windowEndsInMs: number;
}
