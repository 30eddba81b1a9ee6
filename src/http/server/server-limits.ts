/** Bounds on what one client may take of the server. */
export interface ServerLimits {
  /** Time in which a request must have arrived, and its headers, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Interval between two checks for slow clients, in milliseconds. */
  readonly checkEveryMs: number;
  /** Size of all headers of a request together, in bytes; beyond it the answer is 431. */
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
  // A token of an OpenID provider is the largest header in use.
  headerBytes: 16 * 1024,
  connections: 10_000,
  // Clients that pipeline at all send a handful; every one of these may hold a complete answer in memory.
  unansweredRequests: 16,
  unreadAnswerTimeoutMs: 30_000,
};
