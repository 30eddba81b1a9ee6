/** What to do next, as the platform says it in `X-Next-Action`. */
export type NextAction =
  'fix-request' | 'retry-same-request' | 'wait-then-retry' | 'end-session' | 'contact-platform';

const TO_BE_SENT_AGAIN = new Set<NextAction>(['retry-same-request', 'wait-then-retry']);

/** What is known of a call that came to no answer one could use. */
export interface Failure {
  message: string;
  /** The HTTP status; undefined where nothing was answered. */
  status?: number | undefined;
  /** The platform's `X-Error-Code`. */
  code?: string | undefined;
  nextAction?: NextAction | undefined;
  /** The platform's id of the request: name it when you ask about it. */
  requestId?: string | undefined;
  /** The platform's `Retry-After`, in seconds. */
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

/**
 * What every call of the client rejects with, unless its signal was aborted. `retryable` says that the very same request
 * may be sent again, newly signed, and may then succeed; a transaction moves money once however often it is sent.
 * Each class writes its `name` out, because a minifier renames classes.
 */
export abstract class PlatformError extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly nextAction: NextAction | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly retryable: boolean;

  /** @param retryable what holds where the platform does not say what to do next */
  constructor(failure: Failure, retryable: boolean) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.status = failure.status;
    this.code = failure.code;
    this.nextAction = failure.nextAction;
    this.requestId = failure.requestId;
    this.retryAfterSeconds = failure.retryAfterSeconds;
    this.retryable = failure.nextAction === undefined ? retryable : TO_BE_SENT_AGAIN.has(failure.nextAction);
  }
}

/** 400 and the other 4xx: the request itself is wrong; `code` says how. */
export class InvalidRequestError extends PlatformError {
  override readonly name: string = 'InvalidRequestError';

  constructor(failure: Failure) {
    super(failure, false);
  }
}

/** 401 in plain text: tenant, secret, clock or signing. `croupier-provider debug-signature` finds which. */
export class SignatureRejectedError extends PlatformError {
  override readonly name: string = 'SignatureRejectedError';

  constructor(failure: Failure) {
    super(failure, false);
  }
}

/** 401: the session is unknown, expired or revoked. End it. */
export class SessionInvalidError extends PlatformError {
  override readonly name: string = 'SessionInvalidError';

  constructor(failure: Failure) {
    super(failure, false);
  }
}

/** 403: the session belongs to another provider. */
export class SessionOfAnotherProviderError extends PlatformError {
  override readonly name: string = 'SessionOfAnotherProviderError';

  constructor(failure: Failure) {
    super(failure, false);
  }
}

/** 409: another attempt for this transactionId, or for a rollback's target, is under way. Wait, then send it again. */
export class TransactionInFlightError extends PlatformError {
  override readonly name: string = 'TransactionInFlightError';

  constructor(failure: Failure) {
    super(failure, true);
  }
}

/** 429: wait for `retryAfterSeconds`. */
export class RateLimitedError extends PlatformError {
  override readonly name: string = 'RateLimitedError';

  constructor(failure: Failure) {
    super(failure, true);
  }
}

/**
 * 500, and what a gateway in front of the platform answers in its place: nobody knows yet what became of a transaction.
 * Send the same request again until there is a decision.
 */
export class PlatformUnavailableError extends PlatformError {
  override readonly name: string = 'PlatformUnavailableError';

  constructor(failure: Failure) {
    super(failure, true);
  }
}

/** 503: the game or the operator is not configured. Nothing was booked; only the platform can mend it. */
export class NotConfiguredError extends PlatformError {
  override readonly name: string = 'NotConfiguredError';

  constructor(failure: Failure) {
    super(failure, false);
  }
}

/** No answer: not connected, cut off, or not in time. As with a 500, a transaction may have been booked. */
export class NetworkError extends PlatformError {
  override readonly name: string = 'NetworkError';
  /** True where the client's `timeoutMs` ended the call. */
  readonly timedOut: boolean;

  constructor(failure: Failure & { timedOut?: boolean }) {
    super(failure, true);
    this.timedOut = failure.timedOut ?? false;
  }
}

/** An answer that is not the platform's: a redirect, a page, JSON of another shape. Look at `baseUrl`. */
export class UnexpectedAnswerError extends PlatformError {
  override readonly name: string = 'UnexpectedAnswerError';

  constructor(failure: Failure) {
    super(failure, false);
  }
}
