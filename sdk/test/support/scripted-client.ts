import { onTestFinished } from 'vitest';
import {
  isCroupierError,
  type PlatformError,
  ProviderClient,
  type ProviderClientOptions,
} from '../../src/index.js';
import { type Scripted, startPlatform } from './platform.js';

export const BET = {
  sessionToken: 'the token that no log may show',
  transactionId: 'bet-1',
  playerRef: 'ann',
  gameId: 'reels',
  currency: 'EUR',
  amountMinor: 250,
  roundId: 'round-1',
};
export const APPROVED = {
  transactionId: 'bet-1',
  platformTransactionId: 'p-1',
  status: 'APPROVED',
  balance: 750,
  currency: 'EUR',
};

/** An answer with the platform's headers. */
export const refusal = (status: number, code: string, nextAction: string, headers = {}): Scripted => ({
  status,
  body: { error: `the words of ${code}` },
  headers: { 'X-Error-Code': code, 'X-Next-Action': nextAction, 'X-Request-Id': 'request-7', ...headers },
});
export const IN_FLIGHT = refusal(409, 'TRANSACTION_IN_FLIGHT', 'wait-then-retry');
export const TIMED_OUT = refusal(500, 'OPERATOR_TIMED_OUT', 'retry-same-request');
export const LIMITED = refusal(429, 'RATE_LIMITED', 'wait-then-retry', { 'Retry-After': '2' });
export const SESSION_INVALID = refusal(401, 'SESSION_INVALID', 'end-session');
export const INVALID_SIGNATURE: Scripted = { status: 401, body: 'invalid signature' };

export const TENANT = { tenantId: 'spinwell', secret: 'the secret, ünïcode, that no log may show' };

/** A client of a scripted platform. Its pauses are recorded, in milliseconds, and end at once. */
export async function scriptedClient(script: Scripted[], options: Partial<ProviderClientOptions> = {}) {
  const platform = await startPlatform(...script);
  onTestFinished(() => platform.stop());
  const { client, pauses } = clientAt(platform.url, options);
  return { client, pauses, ...platform };
}

export function clientAt(baseUrl: string, options: Partial<ProviderClientOptions> = {}) {
  const pauses: number[] = [];
  const client = new ProviderClient({
    baseUrl,
    ...TENANT,
    ...options,
    backoff: {
      random: () => 0.5,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        pauses.push(ms);
      },
      ...options.backoff,
    },
  });
  return { client, pauses };
}

/** The error of a call that is expected to fail. */
export async function failure(call: Promise<unknown>): Promise<PlatformError> {
  const error: unknown = await call.then(
    () => new Error('the call was expected to fail'),
    (reason: unknown) => reason,
  );
  if (!isCroupierError(error)) throw error;
  return error;
}
