import { CroupierError } from './croupier-error.js';

/** Refuses a request whose caller has sent too many. */
export function rateLimited(waitSeconds: number): CroupierError {
  return new CroupierError('RATE_LIMITED', undefined, retryAfter(waitSeconds));
}

/** Refuses a request that this instance cannot serve now. */
export function overloaded(waitSeconds: number, why?: string): CroupierError {
  return new CroupierError('OVERLOADED', why, retryAfter(waitSeconds));
}

/** Refuses a request that conflicts with another one until that one has ended. */
export function conflictForNow(why: string): CroupierError {
  return new CroupierError('CONFLICT', why, { 'X-Next-Action': 'wait-then-retry' });
}

function retryAfter(seconds: number): Readonly<Record<string, string>> {
  return { 'Retry-After': String(seconds) };
}
