/** Bounds on the resources that clients can occupy. */
export interface ServerLimits {
  /** Time within which the complete request must have arrived, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Time within which a request's headers must have arrived, in milliseconds. */
  readonly headersTimeoutMs: number;
  /** Interval between two checks for slow clients, in milliseconds. */
  readonly checkEveryMs: number;
  /** Maximum total size of a request's target and headers, in bytes. A larger request is answered with 431. */
  readonly headerBytes: number;
  /** Maximum number of open connections; further ones are closed at once. */
  readonly connections: number;
  /** Maximum number of unanswered requests on one connection; one more destroys the connection. */
  readonly unansweredRequests: number;
  /**
   * A connection is destroyed if its client reads nothing of a waiting answer for this time, in milliseconds. Node
   * notices it after at most twice this time.
   */
  readonly unreadAnswerTimeoutMs: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  checkEveryMs: 1_000,
  // The largest header in use is a token of an OpenID provider.
  headerBytes: 16 * 1024,
  connections: 10_000,
  // Pipelining clients send only a few requests at once. Each unanswered request may hold a complete answer in memory.
  unansweredRequests: 16,
  unreadAnswerTimeoutMs: 30_000,
};
