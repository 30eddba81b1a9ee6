/** Values of the platform's `X-Next-Action`. */
export type NextAction =
  'fix-request' | 'retry-same-request' | 'wait-then-retry' | 'end-session' | 'contact-platform';

/**
 * What a failed call means for the money. `not-booked`: none of its attempts was booked. `unknown`: one of them may
 * have been booked, so send the same request until it is decided, or take a BET back with a ROLLBACK. After the code
 * `TRANSACTION_ID_REUSED` do neither: a ROLLBACK could reverse the other request with this id.
 */
export type Outcome = 'not-booked' | 'unknown';

/** A failed attempt of a call. */
export interface FailedAttempt {
  /** The HTTP status; undefined if no answer arrived. */
  readonly status: number | undefined;
  /** The platform's `X-Error-Code`. */
  readonly code: string | undefined;
  readonly outcome: Outcome;
  readonly durationMs: number;
}

/** The properties of a {@link PlatformError}. */
export interface Failure {
  message: string;
  /** The HTTP status; undefined if no answer arrived. */
  status?: number | undefined;
  /** The platform's `X-Error-Code`. */
  code?: string | undefined;
  nextAction?: NextAction | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  /** Default: `unknown`. */
  outcome?: Outcome | undefined;
  /** Default: false. */
  retryable?: boolean | undefined;
  attempts?: readonly FailedAttempt[] | undefined;
  cause?: unknown;
}

/** Shared by the ES module and the CommonJS copy of this package, whose classes differ. */
const BRAND = Symbol.for('@croupier/provider-sdk/error');

/**
 * A client call that fails rejects with this error, unless its signal was aborted or an option is invalid.
 *
 * Decide about money by `outcome`, never by `retryable`: a call that is not worth repeating may still have been booked.
 * Each class writes its `name` out because minifiers rename classes.
 */
export abstract class PlatformError extends Error {
  /** The HTTP status of the last attempt; undefined if no answer arrived. */
  readonly status: number | undefined;
  /** The platform's `X-Error-Code` of the last attempt. */
  readonly code: string | undefined;
  /** The platform's `X-Next-Action` of the last attempt; undefined if it is missing or unknown to this version. */
  readonly nextAction: NextAction | undefined;
  /** Identifies the request in the platform's logs: quote it when you ask about it. */
  readonly requestId: string | undefined;
  /** `Retry-After` of the last attempt, in seconds. */
  readonly retryAfterSeconds: number | undefined;
  /** `unknown` if any attempt of this call, or an earlier call (`sentBefore`), may have been booked. */
  readonly outcome: Outcome;
  /** Whether the same request, newly signed, may succeed later. Says nothing about the money. */
  readonly retryable: boolean;
  /** All attempts of this call, the oldest first. */
  readonly attempts: readonly FailedAttempt[];

  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.status = failure.status;
    this.code = failure.code;
    this.nextAction = failure.nextAction;
    this.requestId = failure.requestId;
    this.retryAfterSeconds = failure.retryAfterSeconds;
    this.outcome = failure.outcome ?? 'unknown';
    this.retryable = failure.retryable ?? false;
    this.attempts = failure.attempts ?? [];
  }

  get [BRAND](): true {
    return true;
  }
}

/**
 * Whether something thrown is a {@link PlatformError} of any copy of this package: `instanceof` fails between the ES
 * module and the CommonJS copy.
 */
export function isCroupierError(error: unknown): error is PlatformError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

/** 400, 404, 413, 415 or another 4xx of the platform: the request itself is wrong; `code` says how. */
export class InvalidRequestError extends PlatformError {
  override readonly name: string = 'InvalidRequestError';
}

/**
 * 401 `invalid signature`: the tenant id, the secret, the clock or the signed text is wrong, or the tenant is disabled.
 * `npx @croupier/cli debug-signature` helps to find the cause.
 */
export class SignatureRejectedError extends PlatformError {
  override readonly name: string = 'SignatureRejectedError';
  /** How far the platform's clock is ahead of this one, in seconds; undefined if the answer has no `Date`. */
  readonly clockOffsetSeconds: number | undefined;

  constructor(failure: Failure & { clockOffsetSeconds?: number | undefined }) {
    super(failure);
    this.clockOffsetSeconds = failure.clockOffsetSeconds;
  }
}

/**
 * 401 `SESSION_INVALID`: the session is unknown, expired or revoked. End it in the game.
 *
 * The platform refuses WINs and ROLLBACKs, too. If your rounds can outlive a session, ask the platform to set
 * `lateSettlementSeconds` for you; we recommend one day. For that time after the session's end, the platform accepts:
 *
 * - a WIN or ROLLBACK whose round has a BET of this session that was not declined
 * - a WIN with a `freeSpinsRef`, or whose `winKind` is `JACKPOT`, `PROMOTION` or `TOURNAMENT`
 *
 * The setting is read at each call: the platform can set it after a refusal, to more than the time since the session's
 * end, and the same WIN or ROLLBACK is then accepted. One that is still refused must be settled between you and the
 * platform.
 */
export class SessionInvalidError extends PlatformError {
  override readonly name: string = 'SessionInvalidError';
}

/** 403: the session belongs to another provider. */
export class SessionOfAnotherProviderError extends PlatformError {
  override readonly name: string = 'SessionOfAnotherProviderError';
}

/**
 * 409: the answer depends on an undecided transaction: this one, its ROLLBACK, or another one of its round. Wait, then
 * send the same request again.
 */
export class TransactionInFlightError extends PlatformError {
  override readonly name: string = 'TransactionInFlightError';
}

/** 429: you sent too many requests. Wait for `retryAfterSeconds`. */
export class RateLimitedError extends PlatformError {
  override readonly name: string = 'RateLimitedError';
}

/**
 * A 5xx of the platform except 503, or a 5xx, 408 or 429 of a proxy in front of it: a transaction may have been
 * booked. Send the same request until it is decided.
 */
export class PlatformUnavailableError extends PlatformError {
  override readonly name: string = 'PlatformUnavailableError';
}

/**
 * 503 of the platform itself: the game, its provider or the operator is unknown, disabled or paused. Contact the
 * platform.
 */
export class NotConfiguredError extends PlatformError {
  override readonly name: string = 'NotConfiguredError';
}

/**
 * No complete answer: not connected, connection lost, timed out, or an answer of more than 1 MiB. A transaction may
 * have been booked, unless `outcome` is `not-booked`.
 */
export class NetworkError extends PlatformError {
  override readonly name: string = 'NetworkError';
  /** Whether `timeoutMs` or `deadlineMs` ended the attempt. */
  readonly timedOut: boolean;

  constructor(failure: Failure & { timedOut?: boolean | undefined }) {
    super(failure);
    this.timedOut = failure.timedOut ?? false;
  }
}

/**
 * An answer that is not the platform's: a redirect, a proxy's page, JSON of another shape, a body with a
 * `Content-Encoding`, or a 4xx without the platform's headers, except 408, 429 and the 401 `invalid signature`. A
 * transaction may have been booked. If the error persists, check `baseUrl` and the proxies in front of the platform.
 */
export class UnexpectedAnswerError extends PlatformError {
  override readonly name: string = 'UnexpectedAnswerError';
}
