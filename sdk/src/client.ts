import { randomBytes, randomUUID } from 'node:crypto';
import { accepted, type Answer, isBalance, isDecisionOn, isSession } from './answer.js';
import { NetworkError, type PlatformError } from './errors.js';
import {
  readMayGoAgain,
  type RetryOptions,
  retryPolicy,
  type RetryPolicy,
  transactionMayGoAgain,
  withRetries,
} from './retry.js';
import { signRequest } from './signature.js';
import type {
  BalanceResponse,
  BetRequest,
  RollbackRequest,
  SessionRequest,
  TransactionRequest,
  TransactionResponse,
  VerifySessionResponse,
  WinRequest,
} from './wallet.js';

/** Of the standard `fetch`, what the client uses. */
export type FetchLike = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body: string;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<{
  status: number;
  headers: { get(name: string): string | null };
  body: { getReader(): BodyReader } | null;
}>;

/** Of the reader of a standard stream, what the client uses. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

export interface ProviderClientOptions {
  /** The platform's address; a path in it is kept and signed. */
  baseUrl: string;
  /** Your own identifier. */
  tenantId: string;
  /** The secret exactly as it was shown at creation. */
  secret: string;
  /** From connecting to the last byte of the answer, for each try, in milliseconds. Default: 10000. */
  timeoutMs?: number;
  /** Default: the global `fetch`. */
  fetch?: FetchLike;
  /** Unix time in milliseconds. Default: `Date.now`. */
  clock?: () => number;
  /** A new nonce for each try. Default: 128 random bits in hex. */
  nonce?: () => string;
  retry?: RetryOptions;
}

export interface CallOptions {
  /** Ends the call, its pauses included; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Whether the call is tried again. Default: true for `getBalance`, else false. */
  retry?: boolean | undefined;
}

interface Call<T> {
  route: string;
  body: object;
  isWhole: (body: Record<string, unknown>) => body is Record<string, unknown> & T;
  mayGoAgain: (error: PlatformError) => boolean;
  /** How often it is sent at most. */
  tries: number;
  signal: AbortSignal | undefined;
}

/** Far more than any answer of the platform has, in bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * The four wallet calls of a provider. Every call is signed anew with a fresh timestamp and nonce each time it is sent,
 * and rejects with a {@link PlatformError} of the class that says what went wrong.
 */
export class ProviderClient {
  private readonly origin: string;
  private readonly basePath: string;
  private readonly fetch: FetchLike;
  private readonly clock: () => number;
  private readonly nonce: () => string;
  private readonly timeoutMs: number;
  private readonly policy: RetryPolicy;

  /** @throws TypeError with a sentence, when an option cannot be used */
  constructor(private readonly options: ProviderClientOptions) {
    const url = new URL(options.baseUrl);
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw new TypeError('baseUrl must be http(s), without credentials, query and fragment');
    }
    if (!options.tenantId || !options.secret) throw new TypeError('tenantId and secret must not be empty');
    this.origin = url.origin;
    this.basePath = url.pathname.replace(/(?<!\/)\/+$/, '');
    this.fetch = options.fetch ?? ((address, init) => fetch(address, init));
    this.clock = options.clock ?? Date.now;
    this.nonce = options.nonce ?? (() => randomBytes(16).toString('hex'));
    this.timeoutMs = options.timeoutMs ?? 10_000;
    this.policy = retryPolicy(options.retry);
  }

  /** Whose session this is. Does not call the operator, and knows no balance. */
  verifySession({ sessionToken }: SessionRequest, options: CallOptions = {}): Promise<VerifySessionResponse> {
    return this.send({
      route: '/v1/wallet/session/verify',
      body: { sessionToken },
      isWhole: isSession,
      mayGoAgain: readMayGoAgain,
      tries: options.retry ? this.policy.tries : 1,
      signal: options.signal,
    });
  }

  /**
   * Submits a BET, WIN or ROLLBACK. A DECLINED is an answer, not an error.
   *
   * It is sent once by default: after an error that is `retryable` the outcome is open, and the same request has to be
   * sent again until it is decided. `{retry: true}` does that for a while, as the platform's `X-Next-Action` says.
   */
  submitTransaction(request: TransactionRequest, options: CallOptions = {}): Promise<TransactionResponse> {
    return this.send({
      route: '/v1/wallet/transaction',
      body: request,
      isWhole: isDecisionOn(request.transactionId),
      mayGoAgain: transactionMayGoAgain,
      tries: options.retry ? this.policy.transactionTries : 1,
      signal: options.signal,
    });
  }

  /** Takes a stake. {@link submitTransaction} without `kind`. */
  bet(request: BetRequest, options?: CallOptions): Promise<TransactionResponse> {
    return this.submitTransaction({ ...request, kind: 'BET' }, options);
  }

  /** Pays out; an amount of 0 closes a round that was lost. {@link submitTransaction} without `kind`. */
  win(request: WinRequest, options?: CallOptions): Promise<TransactionResponse> {
    return this.submitTransaction({ ...request, kind: 'WIN' }, options);
  }

  /** Takes a BET back, whether or not it was ever booked. {@link submitTransaction} without `kind`. */
  rollback(request: RollbackRequest, options?: CallOptions): Promise<TransactionResponse> {
    return this.submitTransaction({ ...request, kind: 'ROLLBACK' }, options);
  }

  /** What the player has, as the operator's wallet says now. Tried up to three times unless `{retry: false}`. */
  getBalance({ sessionToken }: SessionRequest, options: CallOptions = {}): Promise<BalanceResponse> {
    return this.send({
      route: '/v1/wallet/balance',
      body: { sessionToken },
      isWhole: isBalance,
      mayGoAgain: readMayGoAgain,
      tries: (options.retry ?? true) ? this.policy.tries : 1,
      signal: options.signal,
    });
  }

  private async send<T>(call: Call<T>): Promise<T> {
    call.signal?.throwIfAborted();
    const what = `POST ${call.route}`;
    // One text for all tries: the platform compares what is sent again with what came first.
    const body = JSON.stringify(call.body);
    const requestId = randomUUID();
    const attempt = async () => {
      const answer = await this.post(call.route, body, requestId, call.signal);
      return accepted(what, answer, call.isWhole, requestId, this.clock());
    };
    return withRetries(attempt, call.mayGoAgain, call.tries, this.policy, call.signal);
  }

  /** Sends once. @throws NetworkError, or the reason of the caller's signal */
  private async post(
    route: string,
    body: string,
    requestId: string,
    callersSignal: AbortSignal | undefined,
  ): Promise<Answer> {
    const { tenantId, secret } = this.options;
    const path = this.basePath + route;
    const now = this.clock() / 1000;
    const headers = {
      'Content-Type': 'application/json',
      'X-Request-Id': requestId,
      ...signRequest({ method: 'POST', path, body, tenantId, secret, nonce: this.nonce(), now }),
    };
    const limit = limitOf(this.timeoutMs, callersSignal);
    try {
      const init = { method: 'POST', headers, body, redirect: 'manual', signal: limit.signal } as const;
      const response = await this.fetch(this.origin + path, init);
      const text = await read(response.body?.getReader());
      return { status: response.status, headers: response.headers, text };
    } catch (cause) {
      callersSignal?.throwIfAborted();
      const why = limit.timedOut()
        ? `was not answered within ${this.timeoutMs} ms`
        : `failed: ${reason(cause)}`;
      const message = `POST ${route} ${why} (request ${requestId})`;
      throw new NetworkError({ message, requestId, timedOut: limit.timedOut(), cause });
    } finally {
      limit.release();
    }
  }
}

interface Limit {
  signal: AbortSignal;
  timedOut(): boolean;
  /** Lets go of the timer and of the caller's signal. */
  release(): void;
}

/** A signal that the caller's aborts, and the time. */
function limitOf(timeoutMs: number, callersSignal: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort(new Error('timed out'));
  }, timeoutMs);
  const stop = () => controller.abort(callersSignal?.reason);
  callersSignal?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    release: () => {
      clearTimeout(timer);
      callersSignal?.removeEventListener('abort', stop);
    },
  };
}

/** @throws when there are more bytes than any answer of the platform has */
async function read(reader: BodyReader | undefined): Promise<string> {
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return text + decoder.decode();
    length += value.byteLength;
    if (length > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The standard `fetch` says "fetch failed", and why in the cause. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const told = cause instanceof Error ? cause : error;
  if (!(told instanceof Error)) return String(told);
  return told.message || ((told as { code?: string }).code ?? told.name);
}
