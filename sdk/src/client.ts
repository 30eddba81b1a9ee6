import { randomBytes, randomUUID } from 'node:crypto';
import { versions } from 'node:process';
import { type AnswerContext, isBalance, isDecisionOn, isSession, judgeAnswer } from './answer.js';
import { type FetchLike, post } from './post.js';
import {
  type Backoff,
  backoffOf,
  type BackoffOptions,
  type CallOptions,
  callWithRetries,
  resolveOptions,
} from './retry.js';
import { checkSecret, checkTenantId, signRequest } from './signature.js';
import { undecodedFetch } from './undecoded-fetch.js';
import { VERSION } from './version.js';
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

/** The platform's address and your credentials. Call options that are given here are the defaults of all calls. */
export interface ProviderClientOptions extends CallOptions {
  /** The platform's address; a path in it is kept and signed. */
  baseUrl: string;
  /** Your own identifier. */
  tenantId: string;
  /** The secret exactly as it was shown at creation. */
  secret: string;
  /**
   * Sends the requests. Default: Node's own client, which leaves a compressed body as it is. The global `fetch`
   * decompresses it while it arrives, before the client can refuse it.
   */
  fetch?: FetchLike;
  /** Unix time in milliseconds. Default: `Date.now`. */
  clock?: () => number;
  /** A new nonce for each attempt. Default: 128 random bits in hex. */
  nonce?: () => string;
  backoff?: BackoffOptions;
}

export interface TransactionOptions extends CallOptions {
  /**
   * Whether an earlier call, perhaps of another process, may have sent this transactionId. If true, the outcome of
   * every error is `unknown`. Default: false.
   */
  sentBefore?: boolean | undefined;
}

interface WalletCall<T> {
  route: string;
  body: object;
  isComplete: AnswerContext<T>['isComplete'];
  advice?: AnswerContext<T>['advice'];
  options: TransactionOptions;
  defaults: { retry: boolean; maxAttempts: number };
  /** Undefined for reads. */
  transactionId?: string;
  movesMoney: boolean;
}

const READ = { retry: false, maxAttempts: 3 };
const TRANSACTION = { retry: false, maxAttempts: 8 };

/** `lateSettlementSeconds` is read at each call, so that it also applies to sessions that have already ended. */
const OF_ENDED_SESSION = {
  SESSION_INVALID:
    'If the session has ended, ask the platform to set lateSettlementSeconds for you now, to more than the time since ' +
    'its end, and send the same request again',
};

const USER_AGENT = `croupier-provider-sdk/${VERSION} node/${versions.node}`;

/**
 * The wallet calls of a provider: verify a session, submit a transaction, read a balance. Each attempt is signed with a
 * fresh timestamp and nonce. A call that fails rejects with a {@link PlatformError}, whose class says what went wrong
 * and whose `outcome` says what is known about the money. It rejects with the reason of its `signal` if that is
 * aborted, and with a TypeError if an option is invalid or a field is a BigInt.
 */
export class ProviderClient {
  readonly #origin: string;
  readonly #basePath: string;
  readonly #tenantId: string;
  readonly #secret: string;
  readonly #fetch: FetchLike;
  readonly #clock: () => number;
  readonly #nonce: () => string;
  readonly #callDefaults: CallOptions;
  readonly #backoff: Backoff;

  /** @throws TypeError naming the invalid option */
  constructor(options: ProviderClientOptions) {
    const url = addressOf(options.baseUrl);
    checkTenantId(options.tenantId);
    checkSecret(options.secret);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/(?<!\/)\/+$/, '');
    this.#tenantId = options.tenantId;
    this.#secret = options.secret;
    this.#fetch = options.fetch ?? undecodedFetch;
    this.#clock = options.clock ?? Date.now;
    this.#nonce = options.nonce ?? (() => randomBytes(16).toString('hex'));
    const { retry, maxAttempts, deadlineMs, timeoutMs, signal, onAttempt } = options;
    this.#callDefaults = { retry, maxAttempts, deadlineMs, timeoutMs, signal, onAttempt };
    this.#backoff = backoffOf(options.backoff);
    resolveOptions({}, this.#callDefaults, READ);
  }

  /**
   * Verifies a session. Calls no operator and returns no balance. Attempted once, or up to three times with
   * `{retry: true}`.
   */
  verifySession({ sessionToken }: SessionRequest, options: CallOptions = {}): Promise<VerifySessionResponse> {
    return this.#send({
      route: '/v1/wallet/session/verify',
      body: { sessionToken },
      isComplete: isSession,
      options,
      defaults: READ,
      movesMoney: false,
    });
  }

  /**
   * Submits a BET, WIN or ROLLBACK. DECLINED is an answer, not an error.
   *
   * By default, the request is sent once: if the outcome of an error is `unknown`, send the same request again until it
   * is decided. With `{retry: true}`, it is sent again after each retryable error, until `maxAttempts` or `deadlineMs`
   * is reached.
   */
  submitTransaction(
    request: TransactionRequest,
    options: TransactionOptions = {},
  ): Promise<TransactionResponse> {
    const { transactionId, kind } = request;
    return this.#send({
      route: '/v1/wallet/transaction',
      body: request,
      isComplete: isDecisionOn(transactionId),
      advice: kind === 'BET' ? undefined : OF_ENDED_SESSION,
      options,
      defaults: TRANSACTION,
      transactionId,
      movesMoney: true,
    });
  }

  /** Takes a stake: {@link submitTransaction} with the kind BET. */
  bet(request: BetRequest, options?: TransactionOptions): Promise<TransactionResponse> {
    return this.submitTransaction({ ...request, kind: 'BET' }, options);
  }

  /** Pays out; an amount of 0 settles a losing round. {@link submitTransaction} with the kind WIN. */
  win(request: WinRequest, options?: TransactionOptions): Promise<TransactionResponse> {
    return this.submitTransaction({ ...request, kind: 'WIN' }, options);
  }

  /** Takes a BET back, whether or not it was booked. {@link submitTransaction} with the kind ROLLBACK. */
  rollback(request: RollbackRequest, options?: TransactionOptions): Promise<TransactionResponse> {
    return this.submitTransaction({ ...request, kind: 'ROLLBACK' }, options);
  }

  /** The player's current balance in the operator's wallet. Attempted up to three times unless `{retry: false}`. */
  getBalance({ sessionToken }: SessionRequest, options: CallOptions = {}): Promise<BalanceResponse> {
    return this.#send({
      route: '/v1/wallet/balance',
      body: { sessionToken },
      isComplete: isBalance,
      options,
      defaults: { ...READ, retry: true },
      movesMoney: false,
    });
  }

  async #send<T>(call: WalletCall<T>): Promise<T> {
    const { route, transactionId, movesMoney } = call;
    const options = resolveOptions(call.options, this.#callDefaults, call.defaults);
    options.signal?.throwIfAborted();
    // Serialised once for all attempts, because the platform compares a repeated request with the first one.
    const body = JSON.stringify(call.body, refuseBigInt);
    const requestId = randomUUID();
    return callWithRetries({
      identity: { route, transactionId, requestId },
      attempt: (timeoutMs) => this.#attempt(call, body, requestId, timeoutMs, options.signal),
      options,
      backoff: this.#backoff,
      initialOutcome: movesMoney && call.options.sentBefore ? 'unknown' : 'not-booked',
      movesMoney,
    });
  }

  async #attempt<T>(
    { route, isComplete, advice }: WalletCall<T>,
    body: string,
    requestId: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ) {
    const path = this.#basePath + route;
    const call = `POST ${path}`;
    const signature = signRequest({
      method: 'POST',
      path,
      body,
      tenantId: this.#tenantId,
      secret: this.#secret,
      nonce: this.#nonce(),
      now: this.#clock() / 1000,
    });
    const headers = {
      'Content-Type': 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': USER_AGENT,
      'X-Request-Id': requestId,
      ...signature,
    };
    const url = this.#origin + path;
    const received = await post(this.#fetch, { url, headers, body, timeoutMs, signal, call, requestId });
    if (!received.arrived) return received.result;
    return judgeAnswer(received.answer, { call, requestId, nowMs: this.#clock(), isComplete, advice });
  }
}

/** For `JSON.stringify`, whose own error does not name the field. */
function refuseBigInt(field: string, value: unknown): unknown {
  if (typeof value === 'bigint') throw new TypeError(`${field} must be a number, not a BigInt`);
  return value;
}

/** @throws TypeError unless it is an http(s) address without credentials, query and fragment */
function addressOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('baseUrl must begin with https:// or http://, as in https://platform.example');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must have no credentials, query or fragment');
  }
  return url;
}
