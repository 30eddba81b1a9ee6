export { ProviderClient, type CallOptions, type FetchLike, type ProviderClientOptions } from './client.js';
export {
  InvalidRequestError,
  NetworkError,
  NotConfiguredError,
  PlatformError,
  PlatformUnavailableError,
  RateLimitedError,
  SessionInvalidError,
  SessionOfAnotherProviderError,
  SignatureRejectedError,
  TransactionInFlightError,
  UnexpectedAnswerError,
  type Failure,
  type NextAction,
} from './errors.js';
export { type RetryOptions } from './retry.js';
export {
  DEFAULT_TOLERANCE_SECONDS,
  signRequest,
  verifyPlatformSignature,
  type HeadersLike,
  type RejectionReason,
  type SignatureHeaders,
  type SignInput,
  type Verification,
  type VerifyInput,
} from './signature.js';
export type {
  BalanceResponse,
  BetRequest,
  DeclineReason,
  RollbackRequest,
  SessionRequest,
  TransactionRequest,
  TransactionResponse,
  VerifySessionResponse,
  WinRequest,
} from './wallet.js';
