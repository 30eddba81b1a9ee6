/** Values of `X-Next-Action`. Contract, section 2. */
export type NextAction =
  'fix-request' | 'retry-same-request' | 'wait-then-retry' | 'end-session' | 'contact-platform';

interface CatalogueEntry {
  readonly status: number;
  readonly message: string;
  readonly nextAction: NextAction;
}

const refusal =
  (nextAction: NextAction) =>
  (status: number, message: string): CatalogueEntry => ({ status, message, nextAction });

const fixRequest = refusal('fix-request');
const retrySameRequest = refusal('retry-same-request');
const waitThenRetry = refusal('wait-then-retry');
const contactPlatform = refusal('contact-platform');

/** Every refusal except an invalid signature, with its status, message and next action. Contract, section 2. */
export const CATALOGUE = {
  INVALID_REQUEST: fixRequest(400, 'the request body is invalid'),
  SESSION_MISMATCH: fixRequest(400, 'the request does not match its session'),
  TRANSACTION_ID_REUSED: fixRequest(400, 'this transactionId was already used with another request'),
  KIND_NOT_ACCEPTED: fixRequest(400, 'kind ADJUSTMENT is not accepted from a provider'),
  UNAUTHORIZED: fixRequest(401, 'a valid admin key is required'),
  SESSION_INVALID: refusal('end-session')(401, 'the session token is unknown, expired or revoked'),
  FORBIDDEN: fixRequest(403, 'this key may not do that'),
  SESSION_OF_ANOTHER_PROVIDER: fixRequest(403, 'the session belongs to another provider'),
  NOT_FOUND: fixRequest(404, 'not found'),
  CONFLICT: fixRequest(409, 'this conflicts with what is stored'),
  TRANSACTION_IN_FLIGHT: waitThenRetry(
    409,
    'another attempt for this transaction, its target or its round is in flight',
  ),
  PAYLOAD_TOO_LARGE: fixRequest(413, 'the request body is too large'),
  UNSUPPORTED_ENCODING: fixRequest(415, 'a compressed request body is not accepted'),
  RATE_LIMITED: waitThenRetry(429, 'rate limit exceeded'),
  INTERNAL: retrySameRequest(500, 'internal error'),
  CONFIGURATION_UNAVAILABLE: retrySameRequest(
    500,
    'the configuration could not be resolved; the same request may be tried again',
  ),
  REPLAY_PROTECTION_UNAVAILABLE: retrySameRequest(
    500,
    'replay protection is unavailable; the same request may be tried again, newly signed',
  ),
  OPERATOR_UNAVAILABLE: retrySameRequest(
    500,
    "the operator's wallet gave no usable answer; the same request may be tried again",
  ),
  OPERATOR_TIMED_OUT: retrySameRequest(
    500,
    "the operator's wallet did not answer in time; the same request may be tried again",
  ),
  OVERLOADED: retrySameRequest(500, 'the platform is overloaded; the same request may be tried again'),
  PROVIDER_FAILED: contactPlatform(502, 'the provider failed; nothing is sent again automatically'),
  GAME_NOT_CONFIGURED: contactPlatform(503, 'the game is not configured'),
  OPERATOR_NOT_CONFIGURED: contactPlatform(503, 'the operator is not configured'),
};

export type ErrorCode = keyof typeof CATALOGUE;
