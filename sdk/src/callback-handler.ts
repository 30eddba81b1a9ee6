import {
  type BatchReference,
  type BatchStatus,
  CALLBACK_ROUTES,
  type CallbackName,
  type Grant,
  readCallback,
  type Revocation,
} from './callbacks.js';
import { MemoryNonceStore, type NonceStore } from './nonce-store.js';
import {
  DEFAULT_TOLERANCE_SECONDS,
  headerOf,
  type HeadersLike,
  type RejectionReason,
  verifyPlatformSignature,
} from './signature.js';

/** One call as it came in. */
export interface CallbackRequest {
  method: string;
  /** The request target as it stood on the request line, query string included: Node's `request.url`. */
  path: string;
  headers: HeadersLike;
  /** The bytes as they came; undefined where somebody has parsed them and thrown them away. */
  body: string | Uint8Array | undefined;
}

export interface CallbackAnswer {
  status: number;
  headers: { 'Content-Type': string };
  body: string;
}

/** What is known of a call beside its body. */
export interface CallbackContext {
  /** The platform's `X-Request-Id`, for your logs. */
  requestId: string | undefined;
}

export type RefusalReason = RejectionReason | 'nonce_replayed';

export interface CallbackHandlerOptions {
  /** Your own identifier, that `X-Tenant-ID` must carry. */
  tenantId: string;
  /** One secret, or `secrets` while one is being rotated. */
  secret?: string;
  secrets?: readonly string[];
  /** In seconds. Default: 300. */
  toleranceSeconds?: number;
  /** Where used nonces are remembered. Default: the memory of this process. */
  nonceStore?: NonceStore;
  /** Unix time in milliseconds. Default: `Date.now`. */
  clock?: () => number;
  /** What a proxy cuts off the path before the call arrives here, as `/rgs`: it was signed. Default: nothing. */
  strippedPrefix?: string;
  /** The most bytes of a body; beyond them the answer is 413. Default: 65536. */
  maxBodyBytes?: number;

  /**
   * Books a batch of free spins and answers its identifier. The same requestRef may come again, and twice at once: answer
   * the same externalRef and grant nothing more.
   */
  onGrant?(
    grant: Grant,
    context: CallbackContext,
  ): { externalRef: string } | Promise<{ externalRef: string }>;
  /** What is left of a batch. Changes nothing. */
  onStatus?(batch: BatchReference, context: CallbackContext): BatchStatus | Promise<BatchStatus>;
  /** Voids what is left of a batch; spins that were taken stand. May come again. */
  onCancel?(batch: BatchReference, context: CallbackContext): unknown;
  /** Ends the session in the game. It has ended on the platform already. May come again. */
  onRevoke?(revocation: Revocation, context: CallbackContext): unknown;

  /** Told of each 401 and its reason, which is never answered: log it, at a bounded rate. */
  onRefused?(reason: RefusalReason, request: CallbackRequest): void;
  /** Told of each 500 and 503. Default: `console.error`. */
  onError?(error: unknown, request: CallbackRequest): void;
}

/** Throw it from an `on…` to answer the platform with a status and words of your own; they go to its error log. */
export class CallbackRefusal extends Error {
  override readonly name: string = 'CallbackRefusal';

  /** @param status 400 to 599; 404 for a batch that is not known, 422 for a grant that cannot be booked */
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
    if (!(status >= 400 && status <= 599)) throw new RangeError('a refusal has a status from 400 to 599');
  }
}

/** Judges one call, has it carried out, and says how to answer. Never rejects. */
export interface CallbackHandler {
  (request: CallbackRequest): Promise<CallbackAnswer>;
  readonly maxBodyBytes: number;
}

export const MAX_BODY_BYTES = 64 * 1024;

/** The callback that a call is for, if it is one: every address ends as the routes do. */
export function callbackNamed(method: string, path: string): CallbackName | undefined {
  const [pathname = ''] = path.split('?');
  const names = Object.keys(CALLBACK_ROUTES) as CallbackName[];
  return method.toUpperCase() === 'POST'
    ? names.find((name) => pathname.endsWith(CALLBACK_ROUTES[name]))
    : undefined;
}

/**
 * A provider's side of the callbacks: signature, nonce, body, then your `on…`. An `on…` that is left out is answered 501.
 * The adapters put it behind a server: {@link toNodeListener}, {@link toExpressHandler}, {@link toFastifyPlugin},
 * {@link toNestHandler}.
 * @throws TypeError with a sentence, when an option cannot be used
 */
export function createCallbackHandler(options: CallbackHandlerOptions): CallbackHandler {
  const callbacks = new Callbacks(options);
  return Object.assign((request: CallbackRequest) => callbacks.answer(request), {
    maxBodyBytes: callbacks.maxBodyBytes,
  });
}

class Callbacks {
  readonly maxBodyBytes: number;
  private readonly secrets: readonly string[];
  private readonly nonces: NonceStore;
  private readonly toleranceSeconds: number;

  constructor(private readonly options: CallbackHandlerOptions) {
    this.secrets = [...(options.secrets ?? []), ...(options.secret === undefined ? [] : [options.secret])];
    if (!options.tenantId) throw new TypeError('tenantId must not be empty');
    if (this.secrets.length === 0 || this.secrets.includes('')) throw new TypeError('a secret is missing');
    this.maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;
    this.nonces = options.nonceStore ?? new MemoryNonceStore();
    this.toleranceSeconds = options.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
  }

  async answer(request: CallbackRequest): Promise<CallbackAnswer> {
    try {
      return await this.judge(request);
    } catch (error) {
      if (error instanceof CallbackRefusal) return problem(error.status, error.message);
      this.report(error, request);
      return problem(500, 'internal error');
    }
  }

  private async judge(request: CallbackRequest): Promise<CallbackAnswer> {
    const { method, headers, body } = request;
    const name = callbackNamed(method, request.path);
    if (!name) return problem(404, 'not found');
    if (body === undefined) throw new Error(RAW_BODY_IS_MISSING);
    if (sizeOf(body) > this.maxBodyBytes) return problem(413, 'the request body is too large');

    const now = Math.floor((this.options.clock ?? Date.now)() / 1000);
    const { tenantId } = this.options;
    const { secrets, toleranceSeconds } = this;
    const path = (this.options.strippedPrefix ?? '') + request.path;
    const signed = { method, path, headers, body, tenantId, secrets, now, toleranceSeconds };
    const verification = verifyPlatformSignature(signed);
    if (!verification.ok) return this.refused(verification.reason, request);
    const claimed = await this.claim(request, now);
    if (claimed === 'unknown') return problem(503, 'replay protection is unavailable');
    if (claimed === 'replayed') return this.refused('nonce_replayed', request);

    const fields = readCallback(name, typeof body === 'string' ? body : new TextDecoder().decode(body));
    if (typeof fields === 'string') return problem(400, fields);
    return this.carryOut(name, fields, { requestId: headerOf(headers, 'x-request-id') });
  }

  private async claim(request: CallbackRequest, now: number): Promise<'claimed' | 'replayed' | 'unknown'> {
    // A timestamp from the future stays valid for twice the tolerance, its last second included.
    const forgetAt = now + 2 * this.toleranceSeconds + 1;
    try {
      const nonce = headerOf(request.headers, 'x-nonce') ?? '';
      return (await this.nonces.claim(nonce, forgetAt, now)) ? 'claimed' : 'replayed';
    } catch (error) {
      this.report(error, request);
      return 'unknown';
    }
  }

  private async carryOut(
    name: CallbackName,
    fields: object,
    context: CallbackContext,
  ): Promise<CallbackAnswer> {
    const { options } = this;
    if (name === 'grant' && options.onGrant) {
      return json(200, externalRefOf(await options.onGrant(fields as Grant, context)));
    }
    if (name === 'status' && options.onStatus) {
      return json(200, statusOf(await options.onStatus(fields as BatchReference, context)));
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

  private refused(reason: RefusalReason, request: CallbackRequest): CallbackAnswer {
    this.options.onRefused?.(reason, request);
    return answer(401, 'text/plain', 'invalid signature');
  }

  private report(error: unknown, request: CallbackRequest): void {
    try {
      if (this.options.onError) this.options.onError(error, request);
      // eslint-disable-next-line no-console -- whoever gave no onError still has to hear of it
      else console.error(error);
    } catch {
      // A log that fails must not cost the answer.
    }
  }
}

const RAW_BODY_IS_MISSING =
  'the raw body is missing: a body parser ran before the callbacks. Put them in front of express.json(), ' +
  'or start Nest with {rawBody: true}; the signature is over the bytes as they came.';

/** What an `on…` answered, looked at: what the platform would take for a failure should show up here first. */
function externalRefOf(booked: { externalRef: string }): object {
  const { externalRef } = booked;
  if (typeof externalRef === 'string' && externalRef !== '') return { externalRef };
  throw new TypeError('onGrant must answer {externalRef} with a text that is not empty');
}

function statusOf({ remainingSpins, completed }: BatchStatus): object {
  if (Number.isSafeInteger(remainingSpins) && remainingSpins >= 0 && typeof completed === 'boolean') {
    return { remainingSpins, completed };
  }
  throw new TypeError(
    'onStatus must answer {remainingSpins, completed}: a whole number from 0, and a boolean',
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
