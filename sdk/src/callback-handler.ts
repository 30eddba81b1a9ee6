import {
  type BatchReference,
  type BatchStatus,
  CALLBACK_ROUTES,
  type CallName,
  EXTERNAL_REF_WORDS,
  type Grant,
  isExternalRef,
  PLAY_ROUTE,
  readCallback,
  type Revocation,
} from './callbacks.js';
import { MemoryNonceStore, type NonceStore } from './nonce-store.js';
import {
  checkSecret,
  checkTenantId,
  DEFAULT_TOLERANCE_SECONDS,
  headerOf,
  type HeadersLike,
  isKey,
  isTextOrBytes,
  type RejectionReason,
  verifyPlatformSignature,
} from './signature.js';

/** A received call. */
export interface CallbackRequest {
  method: string;
  /** The request target as it stood on the request line, query string included: Node's `request.url`. */
  path: string;
  headers: HeadersLike;
  /** The raw bytes; undefined if a body parser has consumed them. */
  body: string | Uint8Array | undefined;
}

export interface CallbackAnswer {
  status: number;
  headers: { 'Content-Type': string };
  body: string;
}

/** The context of a callback, in addition to its body. */
export interface CallbackContext {
  /** The platform's `X-Request-Id`, for your logs. */
  requestId: string | undefined;
}

export type RefusalReason = RejectionReason | 'nonce_replayed';

export interface CallbackHandlerOptions {
  /** Your own identifier. `X-Tenant-ID` must be equal to it. */
  tenantId: string;
  /** Your secret; use `secrets` while it is being rotated. */
  secret?: string;
  /**
   * The valid secrets while one is being rotated: a call signed with any of them, or with `secret`, is accepted. An empty
   * or blank one is ignored beside another.
   */
  secrets?: readonly string[];
  /** Largest difference between `X-Timestamp` and the clock, in seconds. Default: 300. */
  toleranceSeconds?: number;
  /** Remembers used nonces. Default: the memory of this process. */
  nonceStore?: NonceStore;
  /** Unix time in milliseconds. Default: `Date.now`. */
  clock?: () => number;
  /**
   * A path prefix, such as `/rgs`, that a proxy removes before the request arrives. It is put back to verify the
   * signature, which covers the whole path. Default: none.
   */
  strippedPrefix?: string;
  /** Maximum size of a body in bytes; a larger one is answered 413. Default: 65536. */
  maxBodyBytes?: number;

  /**
   * Books a batch of free spins and returns its identifier: 1 to 256 characters without control characters, line
   * separators, bidirectional controls and lone surrogates, which no other batch of the player has. The same requestRef
   * may arrive again, also concurrently: return the same externalRef and grant nothing more.
   */
  onGrant?(
    grant: Grant,
    context: CallbackContext,
  ): { externalRef: string } | Promise<{ externalRef: string }>;
  /** Returns the remaining spins of a batch, and changes nothing. */
  onStatus?(batch: BatchReference, context: CallbackContext): BatchStatus | Promise<BatchStatus>;
  /**
   * Voids the remaining spins of a batch; spins already played remain valid. May be called again for the same batch.
   */
  onCancel?(batch: BatchReference, context: CallbackContext): unknown;
  /** Ends the session in the game; on the platform it has already ended. May be called again for the same session. */
  onRevoke?(revocation: Revocation, context: CallbackContext): unknown;
  /**
   * Plays one spin of a batch and returns the remaining ones, for `npx @croupier/cli certify` in a test environment.
   * With this function, the handler also accepts signed calls at {@link PLAY_ROUTE}, which the platform never makes.
   * Leave it out in production. Throw `CallbackRefusal(409, …)` if no spin is left.
   */
  onPlay?(batch: BatchReference, context: CallbackContext): BatchStatus | Promise<BatchStatus>;

  /** Called for each 401 with its reason, which the caller does not get. Log it, at a bounded rate. */
  onRefused?(reason: RefusalReason, request: CallbackRequest): void;
  /**
   * Called for each unexpected error, which is answered 500 or 503, and for errors thrown by `onRefused`. Default:
   * `console.error`.
   */
  onError?(error: unknown, request: CallbackRequest): void;
}

/** Shared by the ES module and the CommonJS copy of this package, whose classes differ. */
const BRAND = Symbol.for('@croupier/provider-sdk/callback-refusal');

/** Throw this from a callback function to answer with a status and message of your own, which the platform logs. */
export class CallbackRefusal extends Error {
  override readonly name: string = 'CallbackRefusal';

  /**
   * @param status 400 to 599; 404 for a batch that is not known, 422 for a grant that cannot be booked
   * @throws RangeError for any other status
   */
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    if (!(status >= 400 && status <= 599)) throw new RangeError('a refusal has a status from 400 to 599');
  }

  get [BRAND](): true {
    return true;
  }
}

/** Whether something thrown is a {@link CallbackRefusal} of any copy of this package. */
function isCallbackRefusal(error: unknown): error is CallbackRefusal {
  return typeof error === 'object' && error !== null && BRAND in error;
}

/** Verifies one call, runs its callback function, and resolves with the answer. Never rejects. */
export interface CallbackHandler {
  (request: CallbackRequest): Promise<CallbackAnswer>;
  readonly maxBodyBytes: number;
  /** The routes that the handler serves: a call belongs to the route with which its path ends. */
  readonly routes: readonly string[];
}

const MAX_BODY_BYTES = 64 * 1024;

const NAMES = new Map<string, CallName>([
  ...(Object.entries(CALLBACK_ROUTES) as [CallName, string][]).map(([name, route]) => [route, name] as const),
  [PLAY_ROUTE, 'play'],
]);

/** The route with which the path of a call ends; undefined if there is none, or the method is not POST. */
export function routeOf(
  { routes }: Pick<CallbackHandler, 'routes'>,
  method: string,
  path: string,
): string | undefined {
  const [pathname = ''] = path.split('?');
  return method.toUpperCase() === 'POST' ? routes.find((route) => pathname.endsWith(route)) : undefined;
}

/**
 * Handles the platform's callbacks: verifies signature, nonce and body, then calls your function. A callback without a
 * function is answered 501. An adapter connects the handler to a server: {@link toNodeListener},
 * {@link toExpressHandler}, {@link toFastifyPlugin}, {@link toNestHandler} or {@link toFetchHandler}.
 * @throws TypeError naming the invalid option
 */
export function createCallbackHandler(options: CallbackHandlerOptions): CallbackHandler {
  const callbacks = new Callbacks(options);
  return Object.assign((request: CallbackRequest) => callbacks.answer(request), {
    maxBodyBytes: callbacks.maxBodyBytes,
    routes: callbacks.routes,
  });
}

class Callbacks {
  readonly maxBodyBytes: number;
  readonly routes: readonly string[];
  private readonly secrets: readonly string[];
  private readonly nonces: NonceStore;
  private readonly toleranceSeconds: number;
  private readonly strippedPrefix: string;

  constructor(private readonly options: CallbackHandlerOptions) {
    checkTenantId(options.tenantId);
    checkHandlers(options);
    this.secrets = secretsOf(options);
    this.maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;
    this.routes = [...Object.values(CALLBACK_ROUTES), ...(options.onPlay ? [PLAY_ROUTE] : [])];
    this.nonces = options.nonceStore ?? new MemoryNonceStore();
    this.toleranceSeconds = options.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
    this.strippedPrefix = options.strippedPrefix ?? '';
    checkLimits(this.maxBodyBytes, this.toleranceSeconds);
    checkPrefix(this.strippedPrefix);
  }

  async answer(request: CallbackRequest): Promise<CallbackAnswer> {
    try {
      return await this.judge(request);
    } catch (error) {
      if (isCallbackRefusal(error)) return problem(error.status, error.message);
      this.report(error, request);
      return problem(500, 'internal error');
    }
  }

  private async judge(request: CallbackRequest): Promise<CallbackAnswer> {
    const { method, headers, body } = request;
    const name = NAMES.get(routeOf(this, method, request.path) ?? '');
    if (!name) return problem(404, 'not found');
    if (!isTextOrBytes(body)) throw new Error(RAW_BODY_IS_MISSING);
    if (sizeOf(body) > this.maxBodyBytes) return problem(413, 'the request body is too large');

    const now = Math.floor((this.options.clock ?? Date.now)() / 1000);
    const { tenantId } = this.options;
    const { secrets, toleranceSeconds } = this;
    const path = this.strippedPrefix + request.path;
    const signed = { method, path, headers, body, tenantId, secrets, now, toleranceSeconds };
    const verification = verifyPlatformSignature(signed);
    if (!verification.ok) return this.refuse(verification.reason, request);
    const claimed = await this.claim(request, now);
    if (claimed === 'unknown') return problem(503, 'replay protection is unavailable');
    if (claimed === 'replayed') return this.refuse('nonce_replayed', request);

    const fields = readCallback(name, typeof body === 'string' ? body : new TextDecoder().decode(body));
    if (typeof fields === 'string') return problem(400, fields);
    return this.carryOut(name, fields, { requestId: headerOf(headers, 'x-request-id') });
  }

  private async claim(request: CallbackRequest, now: number): Promise<'claimed' | 'replayed' | 'unknown'> {
    // A timestamp may be one tolerance ahead of now, and is accepted until it is more than one tolerance old.
    const forgetAt = now + 2 * this.toleranceSeconds + 1;
    try {
      const nonce = headerOf(request.headers, 'x-nonce') ?? '';
      return (await this.nonces.claim(nonce, forgetAt, now)) ? 'claimed' : 'replayed';
    } catch (error) {
      this.report(error, request);
      return 'unknown';
    }
  }

  private async carryOut(name: CallName, fields: object, context: CallbackContext): Promise<CallbackAnswer> {
    const { options } = this;
    if (name === 'grant' && options.onGrant) {
      return json(200, externalRefOf(await options.onGrant(fields as Grant, context)));
    }
    if (name === 'status' && options.onStatus) {
      return json(200, statusOf('onStatus', await options.onStatus(fields as BatchReference, context)));
    }
    if (name === 'play' && options.onPlay) {
      return json(200, statusOf('onPlay', await options.onPlay(fields as BatchReference, context)));
    }
    if (name === 'cancel' && options.onCancel) {
      await options.onCancel(fields as BatchReference, context);
      return json(200, {});
    }
    if (name === 'revoke' && options.onRevoke) {
      await options.onRevoke(fields as Revocation, context);
      return json(200, {});
    }
    return problem(501, `this provider takes no ${name} callbacks`);
  }

  private refuse(reason: RefusalReason, request: CallbackRequest): CallbackAnswer {
    new Promise((resolve) => resolve(this.options.onRefused?.(reason, request))).catch((error: unknown) =>
      this.report(error, request),
    );
    return answer(401, 'text/plain', 'invalid signature');
  }

  private report(error: unknown, request: CallbackRequest): void {
    if (!this.options.onError) return console.error(error);
    // An `onError` that throws or rejects must neither change the answer nor end the process.
    new Promise((resolve) => resolve(this.options.onError?.(error, request))).catch(() => undefined);
  }
}

const HANDLERS = ['onGrant', 'onStatus', 'onCancel', 'onRevoke', 'onPlay', 'onRefused', 'onError'];

/** Refuses a misspelt handler, which would never be called: its callback would be answered 501. */
function checkHandlers(options: object): void {
  for (const [name, handler] of Object.entries(options) as [string, unknown][]) {
    if (!/^on[A-Z]/.test(name)) continue;
    if (!HANDLERS.includes(name)) throw new TypeError(`${name} is not one of ${HANDLERS.join(', ')}`);
    if (handler !== undefined && typeof handler !== 'function') {
      throw new TypeError(`${name} must be a function`);
    }
  }
}

/** Refuses limits that limit nothing: any comparison with NaN is false, and a text is joined to the time. */
function checkLimits(maxBodyBytes: unknown, toleranceSeconds: unknown): void {
  if (!Number.isSafeInteger(maxBodyBytes) || Number(maxBodyBytes) < 1) {
    throw new TypeError('maxBodyBytes must be a whole number of at least 1');
  }
  if (!Number.isFinite(toleranceSeconds) || Number(toleranceSeconds) < 0) {
    throw new TypeError('toleranceSeconds must be a number of seconds, at least 0');
  }
}

/** Refuses a prefix that makes no path together with `/v1/…`: each callback would be a 401. */
function checkPrefix(prefix: unknown): void {
  if (prefix === '' || (typeof prefix === 'string' && prefix.startsWith('/') && !prefix.endsWith('/')))
    return;
  throw new TypeError('strippedPrefix must begin with a slash and not end with one, as in /rgs');
}

function secretsOf({ secret, secrets }: CallbackHandlerOptions): readonly string[] {
  // A plain string would be spread into a list of one-character secrets.
  const list: unknown = secrets ?? [secret];
  if (!Array.isArray(list) || list.length === 0) {
    throw new TypeError('secrets must be a list of at least one secret, as in [newSecret, oldSecret]');
  }
  const all = [...(secrets ?? []), ...(secret === undefined ? [] : [secret])];
  if (all.length === 0) throw new TypeError('secret is missing');
  // The variable of an old secret may be empty between two rotations.
  const isBlank = (each: unknown) => isTextOrBytes(each) && !isKey(each);
  const isIgnored = (each: unknown) => isBlank(each) && all.some(isKey);
  all.forEach((each, index) => {
    if (!isIgnored(each)) checkSecret(each, each === secret ? 'secret' : `secrets[${index}]`);
  });
  return all.filter(isKey);
}

const RAW_BODY_IS_MISSING =
  'the raw body is missing: a body parser ran before the callbacks. Mount them before express.json(), keep the bytes ' +
  'as request.rawBody, or start Nest with {rawBody: true}; the signature covers the bytes as they were received.';

/**
 * Checks the result of `onGrant`. The platform would treat an invalid one as a failure, so it is reported to `onError`
 * and answered 500.
 */
function externalRefOf(booked: { externalRef: string }): object {
  const { externalRef } = booked;
  if (isExternalRef(externalRef)) return { externalRef };
  throw new TypeError(`onGrant must answer {externalRef}: a text of ${EXTERNAL_REF_WORDS}`);
}

function statusOf(handler: string, { remainingSpins, completed }: BatchStatus): object {
  if (Number.isSafeInteger(remainingSpins) && remainingSpins >= 0 && typeof completed === 'boolean') {
    return { remainingSpins, completed };
  }
  throw new TypeError(
    `${handler} must answer {remainingSpins, completed}: a whole number of at least 0, and a boolean`,
  );
}

function problem(status: number, error: string): CallbackAnswer {
  return json(status, { error });
}

function json(status: number, body: object): CallbackAnswer {
  return answer(status, 'application/json', JSON.stringify(body));
}

function answer(status: number, type: string, body: string): CallbackAnswer {
  return { status, headers: { 'Content-Type': `${type}; charset=utf-8` }, body };
}

function sizeOf(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}
