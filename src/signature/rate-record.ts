/** Length of the fixed window in which a tenant's requests are counted, in milliseconds: limits are per second. */
export const RATE_WINDOW_MS = 1_000;

/** A tenant's request count, which Redis returns with the claim of a nonce. */
export interface RateRecord {
  /** Number of the tenant's requests in the current window, over all instances, including the current request. */
  readonly requests: number;
  /** Time until the window ends, in milliseconds. */
  readonly windowEndsInMs: number;
}
