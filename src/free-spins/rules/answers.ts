import { isFreeSpinsRef } from '../../wallet/rules/free-spins-ref.js';

/** A provider's answer, or why there is none, as plain values for pure rules. */
export type Answer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The JSON object in the body; absent if the body is incomplete or is no JSON object. */
      readonly fields?: Readonly<Record<string, unknown>>;
      readonly error?: string;
    }
  | {
      readonly kind: 'unanswered';
      readonly error: string;
      readonly mayHaveArrived: boolean;
      readonly notMade?: true;
    };

/** Why a call to a provider failed. */
export interface Failure {
  /** The provider's HTTP status, if it answered. */
  readonly status?: number;
  readonly error: string;
  /** Whether the provider may have booked this call nevertheless. */
  readonly outcomeUnknown: boolean;
  /** Whether the answer also proves that no earlier call with the same requestRef was booked. */
  readonly refused: boolean;
  /** True if the call was not made, which says nothing about the provider. */
  readonly notMade?: true;
}

export type Judged<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly failure: Failure };

/** Judges the answer to a grant: only a 200 with an `externalRef` that a WIN can name is a success. Contract, section 6. */
export function judgeGrant(answer: Answer): Judged<{ readonly externalRef: string }> {
  if (!succeeded(answer)) return failed(answer);
  const externalRef = answer.fields?.['externalRef'];
  if (isFreeSpinsRef(externalRef)) return { ok: true, externalRef };
  return failed(answer, 'a usable externalRef');
}

/**
 * Judges the answer to a status call: only a 200 with an integer `remainingSpins` of at least 0 and a boolean
 * `completed` is a success. Contract, section 6.
 */
export function judgeStatus(
  answer: Answer,
): Judged<{ readonly remainingSpins: number; readonly completed: boolean }> {
  if (!succeeded(answer)) return failed(answer);
  const { remainingSpins, completed } = answer.fields ?? {};
  if (isCount(remainingSpins) && typeof completed === 'boolean')
    return { ok: true, remainingSpins, completed };
  return failed(answer, 'an integer remainingSpins and a boolean completed');
}

/** Judges the answer to a cancel: any 200 is a success, whatever its body. Contract, section 6. */
export function judgeCancel(answer: Answer): Judged<object> {
  return succeeded(answer) ? { ok: true } : failed(answer);
}

function succeeded(answer: Answer): answer is Extract<Answer, { kind: 'answered' }> {
  return answer.kind === 'answered' && answer.status === 200;
}

/** @param lacking the fields that a 200 lacks */
function failed(answer: Answer, lacking?: string): { readonly ok: false; readonly failure: Failure } {
  if (answer.kind === 'unanswered') {
    const { error, mayHaveArrived, notMade } = answer;
    const failure = { error, outcomeUnknown: mayHaveArrived, refused: false, ...(notMade && { notMade }) };
    return { ok: false, failure };
  }
  const { status } = answer;
  const error =
    lacking === undefined
      ? `the provider answered ${status}`
      : `the provider answered 200 without ${lacking}${answer.error === undefined ? '' : `: ${answer.error}`}`;
  // A call answered with a 2xx may have been carried out. A call answered with any other status was not.
  const outcomeUnknown = status >= 200 && status < 300;
  return { ok: false, failure: { status, error, outcomeUnknown, refused: isRefusal(status) } };
}

/**
 * 4xx statuses that prove nothing about earlier calls: a provider may answer them before it looks up the requestRef, or
 * because it has already booked the grant.
 */
const NO_REFUSAL: readonly number[] = [401, 403, 408, 409, 425, 429];

/**
 * Whether a status means that the provider considered the request and rejected it. A redirect, a 5xx and the
 * statuses of authentication, load and conflicts say nothing about an earlier call.
 */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && !NO_REFUSAL.includes(status);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
