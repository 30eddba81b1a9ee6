/** Values of `X-Next-Action`. Contract, section 2. */
export type NextAction =
  'fix-request' | 'retry-same-request' | 'wait-then-retry' | 'end-session' | 'contact-platform';

interface CatalogueEntry {
  readonly status: number;
  readonly message: string;
  readonly nextAction: NextAction;
}

/** Every refusal except an invalid signature, with its status, message and next action. Contract, section 2. */
export const CATALOGUE = {
  INVALID_REQUEST: {
    status: 400,
    message: 'the request body is invalid',
    nextAction: 'fix-request',
  },
  SESSION_MISMATCH: {
    status: 400,
    message: 'the request does not match its session',
    nextAction: 'fix-request',
  },
  TRANSACTION_ID_REUSED: {
    status: 400,
    message: 'this transactionId was already used with another request',
    nextAction: 'fix-request',
  },
  KIND_NOT_ACCEPTED: {
    status: 400,
    message: 'kind ADJUSTMENT is not accepted from a provider',
    nextAction: 'fix-request',
  },
  UNAUTHORIZED: {
    status: 401,
    message: 'a valid admin key is required',
    nextAction: 'fix-request',
  },
  SESSION_INVALID: {
    status: 401,
    message: 'the session token is unknown, expired or revoked',
    nextAction: 'end-session',
  },
  FORBIDDEN: {
    status: 403,
    message: 'this key may not do that',
    nextAction: 'fix-request',
  },
  SESSION_OF_ANOTHER_PROVIDER: {
    status: 403,
    message: 'the session belongs to another provider',
    nextAction: 'fix-request',
  },
  NOT_FOUND: {
    status: 404,
    message: 'not found',
    nextAction: 'fix-request',
  },
  CONFLICT: {
    status: 409,
    message: 'this conflicts with what is stored',
    nextAction: 'fix-request',
  },
  TRANSACTION_IN_FLIGHT: {
    status: 409,
    message: 'another attempt for this transaction, its target or its round is in flight',
    nextAction: 'wait-then-retry',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'the request body is too large',
    nextAction: 'fix-request',
  },
  UNSUPPORTED_ENCODING: {
    status: 415,
    message: 'a compressed request body is not accepted',
    nextAction: 'fix-request',
  },
  RATE_LIMITED: {
    status: 429,
    message: 'rate limit exceeded',
    nextAction: 'wait-then-retry',
  },
  INTERNAL: {
    status: 500,
    message: 'internal error',
    nextAction: 'retry-same-request',
  },
  CONFIGURATION_UNAVAILABLE: {
    status: 500,
    message: 'the configuration could not be resolved; the same request may be tried again',
    nextAction: 'retry-same-request',
  },
  REPLAY_PROTECTION_UNAVAILABLE: {
    status: 500,
    message: 'replay protection is unavailable; the same request may be tried again, newly signed',
    nextAction: 'retry-same-request',
  },
  OPERATOR_UNAVAILABLE: {
    status: 500,
    message: "the operator's wallet gave no usable answer; the same request may be tried again",
    nextAction: 'retry-same-request',
  },
  OPERATOR_TIMED_OUT: {
    status: 500,
    message: "the operator's wallet did not answer in time; the same request may be tried again",
    nextAction: 'retry-same-request',
  },
  OVERLOADED: {
    status: 500,
    message: 'the platform is overloaded; the same request may be tried again',
    nextAction: 'retry-same-request',
  },
  PROVIDER_FAILED: {
    status: 502,
    message: 'the provider failed; nothing is sent again automatically',
    nextAction: 'contact-platform',
  },
  GAME_NOT_CONFIGURED: {
    status: 503,
    message: 'the game is not configured',
    nextAction: 'contact-platform',
  },
  OPERATOR_NOT_CONFIGURED: {
    status: 503,
    message: 'the operator is not configured',
    nextAction: 'contact-platform',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof CATALOGUE;
