import {
  type Failure,
  InvalidRequestError,
  type NextAction,
  NotConfiguredError,
  type Outcome,
  type PlatformError,
  PlatformUnavailableError,
  RateLimitedError,
  SessionInvalidError,
  SessionOfAnotherProviderError,
  SignatureRejectedError,
  TransactionInFlightError,
  UnexpectedAnswerError,
} from './errors.js';
import { visibleText } from './visible.js';
import type { BalanceResponse, TransactionResponse, VerifySessionResponse } from './wallet.js';

/** The part of an HTTP answer that the client reads. */
export interface Answer {
  status: number;
  headers: { get(name: string): string | null };
  text: string;
}

/** The result of one attempt. A failure becomes an error once the call gives up. */
export type AttemptResult<T> =
  { answered: true; value: T } | { answered: false; failure: Failure; toError: ErrorConstructor };

type ErrorConstructor = (failure: Failure) => PlatformError;

export interface AnswerContext<T> {
  /** Names the call in error messages, such as `POST /v1/wallet/balance`. */
  call: string;
  requestId: string;
  nowMs: number;
  isComplete: (body: Fields) => body is Fields & T;
  /** What a person can do after a code, for error messages. */
  advice?: Readonly<Record<string, string>> | undefined;
}

type Fields = Record<string, unknown>;

interface Meaning {
  ErrorClass: new (failure: Failure) => PlatformError;
  outcome: Outcome;
  /** Whether the error is retryable if the answer has no known `X-Next-Action`. */
  retryable: boolean;
}

/**
 * The meaning of the statuses that the platform sends. Any other 5xx means UNAVAILABLE, any other 4xx OTHER_REFUSAL.
 * Contract, section 2.
 */
const PLATFORM_STATUSES = new Map<number, Meaning>([
  [400, { ErrorClass: InvalidRequestError, outcome: 'not-booked', retryable: false }],
  [401, { ErrorClass: SessionInvalidError, outcome: 'not-booked', retryable: false }],
  [403, { ErrorClass: SessionOfAnotherProviderError, outcome: 'not-booked', retryable: false }],
  [404, { ErrorClass: InvalidRequestError, outcome: 'not-booked', retryable: false }],
  [409, { ErrorClass: TransactionInFlightError, outcome: 'unknown', retryable: true }],
  [413, { ErrorClass: InvalidRequestError, outcome: 'not-booked', retryable: false }],
  [415, { ErrorClass: InvalidRequestError, outcome: 'not-booked', retryable: false }],
  [429, { ErrorClass: RateLimitedError, outcome: 'not-booked', retryable: true }],
  [503, { ErrorClass: NotConfiguredError, outcome: 'not-booked', retryable: false }],
]);
const UNAVAILABLE: Meaning = { ErrorClass: PlatformUnavailableError, outcome: 'unknown', retryable: true };
const UNEXPECTED: Meaning = { ErrorClass: UnexpectedAnswerError, outcome: 'unknown', retryable: true };
const OTHER_REFUSAL: Meaning = { ErrorClass: InvalidRequestError, outcome: 'unknown', retryable: false };

const IS_RETRIED: Record<NextAction, boolean> = {
  'retry-same-request': true,
  'wait-then-retry': true,
  'fix-request': false,
  'end-session': false,
  'contact-platform': false,
};

/** The whole body of the plain-text 401, the only error without `X-Error-Code`. Contract, section 1. */
const INVALID_SIGNATURE = 'invalid signature';
/** The error of a refused signature mentions the clocks only if they differ by at least this many seconds. */
const NOTABLE_CLOCK_OFFSET_SECONDS = 30;
/** Longest quotation of an unexpected answer in an error, in characters. */
const MAX_QUOTED = 200;

/** Interprets an answer: returns the body of a valid 200, or else the failure. */
export function judgeAnswer<T>(answer: Answer, context: AnswerContext<T>): AttemptResult<T> {
  if (isEncoded(answer.headers)) return encodingRefused(answer, context);
  const body = jsonObject(answer.text);
  if (answer.status === 200 && body && context.isComplete(body)) return { answered: true, value: body };
  if (answer.status === 401 && answer.text.trim() === INVALID_SIGNATURE && !comesFromPlatform(answer)) {
    return signatureRejected(answer, context);
  }
  const meaning = meaningOf(answer);
  const { status, headers } = answer;
  const code = headers.get('x-error-code') ?? undefined;
  const nextAction = nextActionOf(answer);
  const requestId = headers.get('x-request-id') ?? context.requestId;
  const reported = typeof body?.['error'] === 'string' ? body['error'] : quoted(answer.text);
  const kind = meaning === UNEXPECTED ? ', which is not an answer of the platform' : '';
  const advice = comesFromPlatform(answer) ? context.advice?.[code ?? ''] : undefined;
  const location = status >= 300 && status < 400 ? headers.get('location') : null;
  const target = location ? ` to ${quoted(location)}` : '';
  const said = `${status}${code ? ` ${code}` : ''}${target}${kind}: ${reported} (request ${requestId})`;
  const failure: Failure = {
    message: `${context.call} was answered ${visibleText(said)}${advice ? `. ${advice}` : ''}`,
    status,
    code,
    nextAction,
    requestId,
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after'), context.nowMs),
    // The other request with this id may have been booked.
    outcome: code === 'TRANSACTION_ID_REUSED' ? 'unknown' : meaning.outcome,
    retryable: nextAction === undefined ? meaning.retryable : IS_RETRIED[nextAction],
  };
  return { answered: false, failure, toError: (final) => new meaning.ErrorClass(final) };
}

export function isSession(body: Fields): body is Fields & VerifySessionResponse {
  return typeof body['sessionId'] === 'string' && typeof body['playerRef'] === 'string';
}

export function isBalance(body: Fields): body is Fields & BalanceResponse {
  return Number.isSafeInteger(body['balance']);
}

/** Whether the answer is a decision on this transaction. */
export function isDecisionOn(transactionId: string) {
  return (body: Fields): body is Fields & TransactionResponse =>
    body['transactionId'] === transactionId &&
    (body['status'] === 'APPROVED' || body['status'] === 'DECLINED') &&
    isBalance(body);
}

/**
 * Whether the headers of a platform error are present and valid. An error status without them comes from a proxy, and
 * the platform may have processed the request nevertheless. Faulty proxies may also empty or double the headers.
 */
function comesFromPlatform({ headers }: Answer): boolean {
  const code = headers.get('x-error-code') ?? '';
  const nextAction = headers.get('x-next-action') ?? '';
  return /^[A-Z][A-Z0-9_]*$/.test(code) && /^[a-z][a-z-]*$/.test(nextAction);
}

function meaningOf(answer: Answer): Meaning {
  const { status } = answer;
  if (status < 400) return UNEXPECTED;
  if (!comesFromPlatform(answer)) {
    return status >= 500 || status === 408 || status === 429 ? UNAVAILABLE : UNEXPECTED;
  }
  return PLATFORM_STATUSES.get(status) ?? (status >= 500 ? UNAVAILABLE : OTHER_REFUSAL);
}

function nextActionOf(answer: Answer): NextAction | undefined {
  const action = answer.headers.get('x-next-action');
  if (action === null || !comesFromPlatform(answer)) return undefined;
  return Object.hasOwn(IS_RETRIED, action) ? (action as NextAction) : undefined;
}

/**
 * Whether the body is compressed, or encoded in another way. The client asks for `identity`, and feeds no decoder with
 * what a counterpart or a proxy sends.
 */
export function isEncoded(headers: Answer['headers']): boolean {
  return encodingOf(headers.get('content-encoding')) !== 'identity';
}

/** @param header `Content-Encoding`: absent, empty and `identity` all mean that the body is not encoded */
function encodingOf(header: string | null | undefined): string {
  return header?.trim().toLowerCase() || 'identity';
}

/** Not even the status counts: a proxy has changed the answer on its way. */
function encodingRefused<T>({ status, headers }: Answer, context: AnswerContext<T>): AttemptResult<T> {
  const said = `${status} with the Content-Encoding ${encodingOf(headers.get('content-encoding'))}`;
  const failure: Failure = {
    message: `${context.call} was answered ${visibleText(said)}, which is not read (request ${context.requestId})`,
    status,
    requestId: context.requestId,
    outcome: UNEXPECTED.outcome,
    retryable: UNEXPECTED.retryable,
  };
  return { answered: false, failure, toError: (final) => new UnexpectedAnswerError(final) };
}

function signatureRejected<T>({ headers }: Answer, context: AnswerContext<T>): AttemptResult<T> {
  const requestId = headers.get('x-request-id') ?? context.requestId;
  const date = Date.parse(headers.get('date') ?? '');
  const offset = Number.isNaN(date) ? undefined : Math.round((date - context.nowMs) / 1000);
  const failure: Failure = {
    message: `${context.call} was answered 401 invalid signature${clockHint(offset)} (request ${visibleText(requestId)})`,
    status: 401,
    requestId,
    outcome: 'not-booked',
    retryable: false,
  };
  const toError = (final: Failure) => new SignatureRejectedError({ ...final, clockOffsetSeconds: offset });
  return { answered: false, failure, toError };
}

function clockHint(offsetSeconds: number | undefined): string {
  if (offsetSeconds === undefined || Math.abs(offsetSeconds) < NOTABLE_CLOCK_OFFSET_SECONDS) return '';
  const direction = offsetSeconds > 0 ? 'ahead of' : 'behind';
  return `: the platform's clock is ${Math.abs(offsetSeconds)} s ${direction} this one`;
}

/**
 * Parses `Retry-After`.
 * @param value seconds or an HTTP date, as in RFC 9110
 * @returns undefined for anything else
 */
function retryAfterSeconds(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}

function jsonObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined;
  } catch {
    return undefined;
  }
}

function quoted(text: string): string {
  if (text === '') return 'an empty body';
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}
