import { NetworkError, PlatformError, PlatformUnavailableError, RateLimitedError } from './errors.js';

/** How a call is tried again. All but `tries` is best left alone. */
export interface RetryOptions {
  /** How often a read is sent at most, the first time included. Default: 3. */
  tries?: number;
  /** How often a transaction with `{retry: true}` is sent at most. Default: 8. */
  transactionTries?: number;
  /** The first pause is up to this, each further one up to twice the last, in milliseconds. Default: 200. */
  baseDelayMs?: number;
  /** No pause of our own is longer, in milliseconds. Default: 5000. */
  maxDelayMs?: number;
  /** A `Retry-After` beyond this ends the tries, in seconds. Default: 60. */
  maxRetryAfterSeconds?: number;
  /** 0 ≤ x < 1. Default: `Math.random`. */
  random?: () => number;
  /** Resolves after that many milliseconds, or rejects with the signal's reason once it is aborted. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export type RetryPolicy = Required<RetryOptions>;

export function retryPolicy(options: RetryOptions = {}): RetryPolicy {
  const policy = {
    tries: 3,
    transactionTries: 8,
    baseDelayMs: 200,
    maxDelayMs: 5000,
    maxRetryAfterSeconds: 60,
    random: Math.random,
    sleep,
    ...options,
  };
  for (const name of ['tries', 'transactionTries'] as const) {
    if (!Number.isInteger(policy[name]) || policy[name] < 1) {
      throw new TypeError(`retry.${name} must be a whole number from 1`);
    }
  }
  return policy;
}

/** A read goes again after a 500, a 429 or silence. */
export function readMayGoAgain(error: PlatformError): boolean {
  return (
    error instanceof NetworkError ||
    error instanceof RateLimitedError ||
    error instanceof PlatformUnavailableError
  );
}

/** A transaction goes again where the platform says so, or where nobody said anything. */
export function transactionMayGoAgain(error: PlatformError): boolean {
  return error.retryable;
}

/**
 * Carries out `attempt` until it succeeds, fails for good, or was tried often enough; then rejects with its last error.
 * Pauses have full jitter, so that those who failed together do not come back together.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  mayGoAgain: (error: PlatformError) => boolean,
  tries: number,
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tried >= tries || !(error instanceof PlatformError) || !mayGoAgain(error)) throw error;
      if ((error.retryAfterSeconds ?? 0) > policy.maxRetryAfterSeconds) throw error;
      await policy.sleep(pauseMs(error, tried, policy), signal);
    }
  }
}

function pauseMs(error: PlatformError, tried: number, policy: RetryPolicy): number {
  const ceiling = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (tried - 1));
  const jitter = Math.round(ceiling * policy.random());
  if (error.retryAfterSeconds !== undefined) return Math.max(error.retryAfterSeconds * 1000, jitter);
  // Whoever is told to wait does wait: the attempt in flight needs its time.
  return error.nextAction === 'wait-then-retry' ? Math.max(policy.baseDelayMs, jitter) : jitter;
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
