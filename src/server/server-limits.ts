/** Default bounds on the resources that clients can occupy. */
export const DEFAULT_SERVER_LIMITS = {
  /** Time within which the complete request must have arrived, in milliseconds. */
  requestTimeoutMs: 30_000,
  /** Time within which a request's headers must have arrived, in milliseconds. */
  headersTimeoutMs: 10_000,
  /** Interval between two checks for slow clients, in milliseconds. */
  checkEveryMs: 1_000,
  /**
   * Maximum total size of a request's target and headers, in bytes. A larger request is answered with 431. The largest
   * header in use is a token of an OpenID provider.
   */
  headerBytes: 16 * 1024,
  /** Maximum number of open connections; further ones are closed at once. */
  connections: 10_000,
  /**
   * Maximum number of unanswered requests on one connection; one more destroys the connection. Pipelining clients send
   * only a few requests at once, and each unanswered request may hold a complete answer in memory.
   */
  unansweredRequests: 16,
  /**
   * A connection is destroyed if its client reads nothing of a waiting answer for this time, in milliseconds. Node
   * notices it after at most twice this time.
   */
  unreadAnswerTimeoutMs: 30_000,
};

export type ServerLimits = Readonly<typeof DEFAULT_SERVER_LIMITS>;
