import { onAbort } from './abort.js';
import { type Answer, type AttemptResult, isEncoded } from './answer.js';
import { neverConnected } from './connecting.js';
import { type Failure, NetworkError, type Outcome } from './errors.js';
import { visibleText } from './visible.js';

/** The part of the standard `fetch` that the client uses. */
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

/** The part of the standard `ReadableStreamDefaultReader` that the client and the `fetch` adapter use. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** The call's name in error messages, such as `POST /v1/wallet/balance`. */
  call: string;
  requestId: string;
}

/** Maximum size of an answer, in bytes. The platform's answers are far smaller. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Sends one request and reads the whole answer. A failure is returned, not thrown.
 * @throws the reason of the caller's signal, if that signal is aborted
 */
export async function post(
  fetch: FetchLike,
  { url, headers, body, timeoutMs, signal, call, requestId }: PostRequest,
): Promise<{ arrived: true; answer: Answer } | { arrived: false; result: AttemptResult<never> }> {
  const limit = limitOf(timeoutMs, signal);
  try {
    const answer = await exchange(fetch, { url, method: 'POST', headers, body, signal: limit.signal });
    return { arrived: true, answer };
  } catch (cause) {
    signal?.throwIfAborted();
    const timedOut = limit.timedOut();
    const reason = timedOut
      ? `was not ${neverConnected(limit.signal) ? 'connected' : 'answered'} within ${Math.round(timeoutMs)} ms`
      : `failed: ${reasonOf(cause)}`;
    const failure: Failure = {
      message: `${call} ${visibleText(reason)} (request ${requestId})`,
      requestId,
      outcome: outcomeOf(cause, limit.signal),
      retryable: true,
      cause,
    };
    const toError = (final: Failure) => new NetworkError({ ...final, timedOut });
    return { arrived: false, result: { answered: false, failure, toError } };
  } finally {
    limit.release();
  }
}

/**
 * Sends one request and reads the whole answer, unless it is encoded: then its text is empty. Ends with the signal even
 * if the transport does not, such as Deno's `node:http` on a connection that is used again.
 * @throws Error if there is no answer, or it is larger than `MAX_ANSWER_BYTES`; the reason of the signal
 */
function exchange(
  fetch: FetchLike,
  { url, ...init }: Omit<Parameters<FetchLike>[1], 'redirect'> & { url: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(init.signal, () => reject(init.signal.reason as Error));
    void send(fetch, url, { ...init, redirect: 'manual' })
      .then(resolve, reject)
      .finally(stopListening);
  });
}

async function send(fetch: FetchLike, url: string, init: Parameters<FetchLike>[1]): Promise<Answer> {
  const { status, headers, body } = await fetch(url, init);
  const reader = body?.getReader();
  const text = isEncoded(headers) ? await refuse(reader) : await read(reader);
  return { status, headers, text };
}

interface Limit {
  signal: AbortSignal;
  timedOut(): boolean;
  /** Clears the timer and stops listening to the caller's signal. */
  release(): void;
}

/** Creates a signal that aborts when the caller's signal aborts or the time-out expires. */
function limitOf(timeoutMs: number, callersSignal: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort(new Error('timed out'));
  }, timeoutMs);
  const stopListening = callersSignal && onAbort(callersSignal, () => controller.abort(callersSignal.reason));
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    release: () => {
      clearTimeout(timer);
      stopListening?.();
    },
  };
}

/** Leaves the body unread, and closes its connection. */
async function refuse(reader: BodyReader | undefined): Promise<string> {
  await reader?.cancel();
  return '';
}

/** @throws Error if the body is larger than `MAX_ANSWER_BYTES` */
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
      throw new Error(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** System calls that precede a connection. If one of them fails, the request was not sent. */
const BEFORE_CONNECTION = new Set(['connect', 'getaddrinfo']);
/** Error codes of connections that were never made; a failed certificate check also precedes the request. */
const NEVER_CONNECTED = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UND_ERR_CONNECT_TIMEOUT',
  // The errors of Bun's `fetch` name no system call.
  'ECONNREFUSED',
  'ConnectionRefused',
]);
/** The errors of Deno's `fetch` have a message only. */
const DENO_NEVER_CONNECTED = /^error sending request .*client error \(Connect\)/s;

/** `not-booked` only if the error or the connection proves that the request was not sent. */
function outcomeOf(error: unknown, signal: AbortSignal): Outcome {
  return reportsNoConnection(error) || neverConnected(signal) ? 'not-booked' : 'unknown';
}

function reportsNoConnection(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { errors, syscall, code, message, cause } = error as Record<string, unknown>;
  // An AggregateError has one error for each address that was tried.
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(reportsNoConnection);
  if (typeof syscall === 'string' && BEFORE_CONNECTION.has(syscall)) return true;
  if (typeof code === 'string' && NEVER_CONNECTED.has(code)) return true;
  if (typeof message === 'string' && DENO_NEVER_CONNECTED.test(message)) return true;
  return reportsNoConnection(cause);
}

/** The standard `fetch` throws "fetch failed", with the reason as its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const reported = cause instanceof Error ? cause : error;
  if (!(reported instanceof Error)) return String(reported);
  return reported.message || ((reported as { code?: string }).code ?? reported.name);
}
