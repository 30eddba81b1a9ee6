import { onAbort } from './abort.js';
import type { AttemptResult } from './answer.js';
import type { FailedAttempt, Failure, Outcome } from './errors.js';

/** How a call is attempted. Each option may be given for a single call, or to the client as the default. */
export interface CallOptions {
  /** Whether failed attempts are repeated. Default: true for `getBalance`, else false. */
  retry?: boolean | undefined;
  /** Maximum number of attempts with `retry`, the first included. Default: 8 for transactions, 3 for reads. */
  maxAttempts?: number | undefined;
  /** Limit for the whole call, all attempts and pauses included, in milliseconds. Default: 30000. */
  deadlineMs?: number | undefined;
  /** Limit for each attempt, from connecting to the last byte of the answer, in milliseconds. Default: 10000. */
  timeoutMs?: number | undefined;
  /**
   * Aborts the call, even during a pause. The call then rejects with the signal's reason, and its transaction may have
   * been booked.
   */
  signal?: AbortSignal | undefined;
  /**
   * Called before and after each attempt, for logs and metrics. It receives neither secret nor session token. Errors
   * that it throws are ignored, because logging must not change the outcome of a transaction.
   */
  onAttempt?: ((event: AttemptEvent) => void) | undefined;
}

export interface AttemptIdentity {
  /** The number of the attempt, counted from 1. */
  attempt: number;
  /** The path without that of `baseUrl`, such as `/v1/wallet/transaction`. */
  route: string;
  /** Undefined for reads. */
  transactionId: string | undefined;
  /** The `X-Request-Id` that was sent. */
  requestId: string;
}

export type AttemptEvent =
  | (AttemptIdentity & { phase: 'before' })
  | (AttemptIdentity & {
      phase: 'after';
      durationMs: number;
      /** Undefined if no answer arrived. */
      status: number | undefined;
      /** The platform's `X-Error-Code`. */
      code: string | undefined;
      /** Undefined if the attempt succeeded; otherwise the outcome of this attempt only. */
      outcome: Outcome | undefined;
      /** The pause before the next attempt, in milliseconds; undefined if this was the last one. */
      pauseMs: number | undefined;
    });

/** The pauses between attempts. The defaults suit nearly everyone. */
export interface BackoffOptions {
  /** Upper limit of the first pause, in milliseconds. The limit doubles with each further pause. Default: 200. */
  baseDelayMs?: number | undefined;
  /**
   * Upper limit of each pause, in milliseconds. `Retry-After` may exceed it, and so may the second after
   * `wait-then-retry` without this header. Default: 5000.
   */
  maxDelayMs?: number | undefined;
  /** Returns a number x with 0 ≤ x < 1. Default: `Math.random`. */
  random?: (() => number) | undefined;
  /** Resolves after this many milliseconds, or rejects with the signal's reason once it is aborted. */
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** The same with every option. */
export type Backoff = { [Name in keyof BackoffOptions]-?: NonNullable<BackoffOptions[Name]> };

/** One call, from the first attempt to the last. */
interface Call<T> {
  identity: Omit<AttemptIdentity, 'attempt'>;
  /**
   * Sends the request once.
   * @throws the reason of the caller's signal, or TypeError if the request cannot be signed
   */
  attempt: (timeoutMs: number) => Promise<AttemptResult<T>>;
  options: ResolvedOptions;
  backoff: Backoff;
  /** `unknown` if an earlier call may have sent the transaction, else `not-booked`. */
  initialOutcome: Outcome;
  /** False for reads, which never book anything. */
  movesMoney: boolean;
}

interface ResolvedOptions extends Pick<CallOptions, 'signal' | 'onAttempt'> {
  /** 1 without `retry`. */
  maxAttempts: number;
  deadlineMs: number;
  timeoutMs: number;
}

/** Longest delay of a timer, in milliseconds. A timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Shortest time for another attempt, in milliseconds. A shorter attempt would only time out, its outcome unknown. */
const LEAST_ATTEMPT_MS = 50;

/** Shortest pause after `wait-then-retry` without `Retry-After`, in milliseconds. Contract, section 2. */
const LEAST_WAIT_MS = 1000;

const DEFAULTS = { deadlineMs: 30_000, timeoutMs: 10_000 };

/**
 * The options of one call: its own, else the client's, else the defaults.
 * @throws TypeError naming the invalid option
 */
export function resolveOptions(
  own: CallOptions,
  client: CallOptions,
  defaults: { retry: boolean; maxAttempts: number },
): ResolvedOptions {
  const maxAttempts = own.maxAttempts ?? client.maxAttempts ?? defaults.maxAttempts;
  const deadlineMs = own.deadlineMs ?? client.deadlineMs ?? DEFAULTS.deadlineMs;
  const timeoutMs = own.timeoutMs ?? client.timeoutMs ?? DEFAULTS.timeoutMs;
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1) {
    throw new TypeError('maxAttempts must be a whole number of at least 1');
  }
  for (const [name, value] of Object.entries({ deadlineMs, timeoutMs })) {
    if (typeof value !== 'number' || !(value > 0 && value <= MAX_TIMER_MS)) {
      throw new TypeError(`${name} must be a positive number of milliseconds, at most ${MAX_TIMER_MS}`);
    }
  }
  const retry = own.retry ?? client.retry ?? defaults.retry;
  return {
    maxAttempts: retry ? maxAttempts : 1,
    deadlineMs,
    timeoutMs,
    signal: own.signal ?? client.signal,
    onAttempt: own.onAttempt ?? client.onAttempt,
  };
}

/**
 * The given options; a default for each that is missing or undefined.
 * @throws TypeError naming the invalid option
 */
export function backoffOf(options: BackoffOptions = {}): Backoff {
  const backoff = {
    baseDelayMs: options.baseDelayMs ?? 200,
    maxDelayMs: options.maxDelayMs ?? 5000,
    random: options.random ?? Math.random,
    sleep: options.sleep ?? sleep,
  };
  for (const name of ['baseDelayMs', 'maxDelayMs'] as const) {
    if (!Number.isFinite(backoff[name]) || backoff[name] < 0) {
      throw new TypeError(`backoff.${name} must be a number of milliseconds, at least 0`);
    }
  }
  for (const name of ['random', 'sleep'] as const) {
    if (typeof backoff[name] !== 'function') throw new TypeError(`backoff.${name} must be a function`);
  }
  return backoff;
}

/**
 * Repeats the attempt until it succeeds or fails with a failure that is not retryable, or until the attempts or the
 * time are used up. The error's `outcome` is `unknown` if the initial outcome or that of any attempt is `unknown`.
 * @throws PlatformError, what `attempt` throws, or the reason of the caller's signal if it aborts during a pause
 */
export async function callWithRetries<T>(call: Call<T>): Promise<T> {
  const { deadlineMs, timeoutMs, signal } = call.options;
  const endsAt = performance.now() + deadlineMs;
  const attempts: FailedAttempt[] = [];
  for (;;) {
    const attempt = attempts.length + 1;
    const startedAt = performance.now();
    notify(call, { phase: 'before', attempt, ...call.identity });
    const result = await call.attempt(Math.min(timeoutMs, endsAt - startedAt)).catch((reason: unknown) => {
      const durationMs = performance.now() - startedAt;
      notifyAfter(call, { attempt, durationMs, outcome: failedOutcome(call, 'unknown') });
      throw reason;
    });
    const durationMs = performance.now() - startedAt;
    if (result.answered) {
      notifyAfter(call, { attempt, durationMs, status: 200 });
      return result.value;
    }
    const { failure } = result;
    const { status, code } = failure;
    const outcome = failedOutcome(call, failure.outcome ?? 'unknown');
    attempts.push({ status, code, outcome, durationMs });
    const pauseMs = pauseAfter(failure, attempt, call, endsAt - performance.now());
    notifyAfter(call, { attempt, durationMs, status, code, outcome, pauseMs });
    if (pauseMs !== undefined) await call.backoff.sleep(pauseMs, signal);
    // A pause may take longer than asked for, such as in a process that stalls.
    if (pauseMs === undefined || endsAt - performance.now() < LEAST_ATTEMPT_MS)
      throw result.toError(forAllAttempts(failure, attempts, call.initialOutcome));
  }
}

function failedOutcome(call: Call<unknown>, outcome: Outcome): Outcome {
  return call.movesMoney ? outcome : 'not-booked';
}

function forAllAttempts(last: Failure, attempts: readonly FailedAttempt[], initialOutcome: Outcome): Failure {
  const outcomes = [initialOutcome, ...attempts.map(({ outcome }) => outcome)];
  const outcome = outcomes.includes('unknown') ? 'unknown' : 'not-booked';
  const count = attempts.length > 1 ? `, attempt ${attempts.length}` : '';
  const warning =
    outcome === 'unknown' && attempts.at(-1)?.outcome === 'not-booked'
      ? '; an earlier attempt may have been booked'
      : '';
  return { ...last, message: `${last.message}${count}${warning}`, outcome, attempts };
}

/**
 * The pause before the next attempt, in milliseconds; undefined if the call ends. Full jitter spreads out calls that
 * failed at the same time.
 */
function pauseAfter(
  failure: Failure,
  attempt: number,
  call: Call<unknown>,
  remainingMs: number,
): number | undefined {
  const { options, backoff } = call;
  if (!failure.retryable || attempt >= options.maxAttempts) return undefined;
  const ceiling = Math.min(backoff.maxDelayMs, backoff.baseDelayMs * 2 ** (attempt - 1));
  const jitter = Math.round(ceiling * backoff.random());
  const least = failure.nextAction === 'wait-then-retry' ? LEAST_WAIT_MS : 0;
  const pause = Math.max(jitter, (failure.retryAfterSeconds ?? 0) * 1000 || least);
  // Timers end late, so a pause must leave more than the shortest attempt needs.
  return pause + 2 * LEAST_ATTEMPT_MS <= remainingMs ? pause : undefined;
}

function notifyAfter(
  call: Call<unknown>,
  event: { attempt: number; durationMs: number } & Partial<AttemptEvent>,
): void {
  const unknown = { status: undefined, code: undefined, outcome: undefined, pauseMs: undefined };
  notify(call, { ...unknown, ...event, ...call.identity, phase: 'after' });
}

function notify({ options }: Call<unknown>, event: AttemptEvent): void {
  // `onAttempt` is called synchronously. The promise catches what it throws and, if it is asynchronous, its rejection.
  new Promise((resolve) => resolve(options.onAttempt?.(event))).catch(() => undefined);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stopListening?.();
      resolve();
    }, ms);
    const stopListening =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
  });
}
