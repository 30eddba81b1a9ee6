export { ProviderClient, type ProviderClientOptions, type TransactionOptions } from './client.js';
export { type BodyReader, type FetchLike } from './post.js';
export {
  InvalidRequestError,
  isCroupierError,
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
  type FailedAttempt,
  type Failure,
  type NextAction,
  type Outcome,
} from './errors.js';
export { type AttemptEvent, type AttemptIdentity, type BackoffOptions, type CallOptions } from './retry.js';
export {
  DEFAULT_TOLERANCE_SECONDS,
  isKey,
  signatureOf,
  signRequest,
  verifyPlatformSignature,
  type HeadersLike,
  type PlainHeaders,
  type RejectionReason,
  type SignatureHeaders,
  type SignedParts,
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
  WinKind,
  WinRequest,
} from './wallet.js';
export {
  type BatchReference,
  type BatchStatus,
  CALLBACK_ROUTES,
  type CallbackName,
  type Grant,
  isExternalRef,
  PLAY_ROUTE,
  type Revocation,
} from './callbacks.js';
export {
  CallbackRefusal,
  createCallbackHandler,
  type CallbackAnswer,
  type CallbackContext,
  type CallbackHandler,
  type CallbackHandlerOptions,
  type CallbackRequest,
  type RefusalReason,
} from './callback-handler.js';
export { visibleText } from './visible.js';
export { MemoryNonceStore, type NonceStore } from './nonce-store.js';
export { type ExpressRequest, toExpressHandler } from './adapters/express.js';
export {
  type FastifyLike,
  type FastifyReplyLike,
  type FastifyRequestLike,
  toFastifyPlugin,
} from './adapters/fastify.js';
export { type FetchRequest, toFetchHandler } from './adapters/fetch.js';
export { type NestRequest, type NestResponse, toNestHandler } from './adapters/nest.js';
export { type NodeRequest, type NodeResponse, toNodeListener } from './adapters/node-http.js';
