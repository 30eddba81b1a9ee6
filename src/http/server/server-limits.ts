/** Bounds on the resources that clients can occupy. */
export interface ServerLimits {
  /** Time within which the complete request must have arrived, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Time within which a request's headers must have arrived, in milliseconds. */
  readonly headersTimeoutMs: number;
  /** Interval between two checks for slow clients, in milliseconds. */
  readonly checkEveryMs: number;
  /** Total size of a request's target and headers, in bytes; beyond it the answer is 431. */
  readonly headerBytes: number;
  /** Open connections; further ones are closed at once. */
  readonly connections: number;
  /** Requests of one connection that are not answered yet; one more destroys the connection. */
  readonly unansweredRequests: number;
  /** Time without progress in sending an answer after which the connection is destroyed, in milliseconds. */
  readonly unreadAnswerTimeoutMs: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  checkEveryMs: 1_000,
  // The largest header in use is a token of an OpenID provider.
  headerBytes: 16 * 1024,
  connections: 10_000,
  // Clients that pipeline send only a few; each unanswered request may hold a complete answer in memory.
  unansweredRequests: 16,
  unreadAnswerTimeoutMs: 30_000,
};
