import {
  type Failure,
  InvalidRequestError,
  type NextAction,
  NotConfiguredError,
  type PlatformError,
  PlatformUnavailableError,
  RateLimitedError,
  SessionInvalidError,
  SessionOfAnotherProviderError,
  SignatureRejectedError,
  TransactionInFlightError,
  UnexpectedAnswerError,
} from './errors.js';
import type { BalanceResponse, TransactionResponse, VerifySessionResponse } from './wallet.js';

/** What came back, as far as the client looks at it. */
export interface Answer {
  status: number;
  headers: { get(name: string): string | null };
  text: string;
}

type Fields = Record<string, unknown>;

/** How much of an answer that makes no sense an error quotes, in characters. */
const QUOTED = 200;

/**
 * The body of a 200 that has the shape it should have.
 * @param what the call, for the error's message, as in `POST /v1/wallet/balance`
 * @param sentRequestId the request id that was sent, where the answer carries none
 * @throws PlatformError of the class that the status stands for
 */
export function accepted<T>(
  what: string,
  answer: Answer,
  isWhole: (body: Fields) => body is Fields & T,
  sentRequestId: string,
  nowMs: number,
): T {
  const body = jsonObject(answer.text);
  if (answer.status !== 200) throw refusal(what, answer, body, sentRequestId, nowMs);
  if (body && isWhole(body)) return body;
  const requestId = answer.headers.get('x-request-id') ?? sentRequestId;
  const message = `${what} was answered 200 with what is no answer of the platform: ${quoted(answer.text)}`;
  throw new UnexpectedAnswerError({ message, status: 200, requestId });
}

export function isSession(body: Fields): body is Fields & VerifySessionResponse {
  return typeof body['sessionId'] === 'string' && typeof body['playerRef'] === 'string';
}

export function isBalance(body: Fields): body is Fields & BalanceResponse {
  return Number.isSafeInteger(body['balance']);
}

/** A decision on this transaction and on no other. */
export function isDecisionOn(transactionId: string) {
  return (body: Fields): body is Fields & TransactionResponse =>
    body['transactionId'] === transactionId &&
    (body['status'] === 'APPROVED' || body['status'] === 'DECLINED') &&
    isBalance(body);
}

function refusal(
  what: string,
  { status, headers, text }: Answer,
  body: Fields | undefined,
  sentRequestId: string,
  nowMs: number,
): PlatformError {
  const said = typeof body?.['error'] === 'string' ? body['error'] : quoted(text);
  const code = headers.get('x-error-code') ?? undefined;
  const requestId = headers.get('x-request-id') ?? sentRequestId;
  const failure: Failure = {
    message: `${what} was answered ${status}${code ? ` ${code}` : ''}: ${said} (request ${requestId})`,
    status,
    code,
    nextAction: (headers.get('x-next-action') as NextAction | null) ?? undefined,
    requestId,
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after'), nowMs),
  };
  switch (status) {
    case 401:
      return body ? new SessionInvalidError(failure) : new SignatureRejectedError(failure);
    case 403:
      return new SessionOfAnotherProviderError(failure);
    case 409:
      return new TransactionInFlightError(failure);
    case 429:
      return new RateLimitedError(failure);
    case 503:
      return new NotConfiguredError(failure);
  }
  if (status >= 500) return new PlatformUnavailableError(failure);
  if (status >= 400) return new InvalidRequestError(failure);
  return new UnexpectedAnswerError(failure);
}

/** @param value seconds or an HTTP date, as RFC 9110 has it; undefined for anything else */
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
  if (text === '') return 'nothing';
  return text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text;
}
