import { signatureOf } from '@croupier/provider-sdk';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Agent, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Reply, replyTo } from '../reply.js';
import { UsageError } from '../terminal.js';
import { ConnectionWatch } from './connection-watch.js';
import { Unmet } from './outcome.js';

/** How long the caller of an abandoned call waits, in milliseconds. */
const ABANDONED_AFTER_MS = 20;

/** The server under test, and how its calls are signed. */
export interface Endpoint {
  /** The registered base address; its path is signed with each call. */
  baseUrl: URL;
  tenantId: string;
  secret: string;
  /** Time-out of a call, in milliseconds. */
  timeoutMs: number;
  /** Pause in the middle of a slow body, in milliseconds. */
  slowMs: number;
}

/** Deviations of a call from what the platform sends. */
export interface Deviation {
  tenantId?: string;
  secret?: string | Buffer;
  nonce?: string;
  /** The text of X-Timestamp; it is signed as it stands. */
  timestamp?: string;
  signedMethod?: string;
  /** The signed path, base path included. */
  signedPath?: string;
  /** The signed body, or a change of the body that is sent. */
  signedBody?: string | ((body: string) => string);
  /** Appended to the path without being signed. */
  query?: string;
  /** Changes the headers after they were signed. */
  headers?: (signed: Record<string, string>) => Record<string, string>;
  /** Runs between the two halves of the body. */
  halfway?: () => Promise<unknown>;
  /** Closes the connection soon after the request was sent, unless the answer has arrived by then. */
  abandoned?: boolean;
  /** The connections to use. `false`: a new connection for this call. Default: those that all calls share. */
  agent?: Agent | false;
}

/** Makes signed calls as the platform does, or with a deviation. */
export class SignedCalls {
  private readonly run = randomBytes(4).toString('hex');
  private ids = 0;
  /** The number of calls answered so far. */
  answered = 0;
  readonly connections = new ConnectionWatch();

  /** @param nowMs Unix time in milliseconds */
  constructor(
    readonly endpoint: Endpoint,
    readonly nowMs: () => number,
  ) {}

  /** A new identifier, which no earlier call or run has used. */
  fresh(what: string): string {
    this.ids += 1;
    return `certify-${this.run}-${what}-${this.ids}`;
  }

  /** 32 hexadecimal digits, as in the ids of the platform's own transactions. */
  freshHex(): string {
    return randomBytes(16).toString('hex');
  }

  /** A new nonce for a call that is made now. */
  freshNonce(): UsedNonce {
    return { nonce: this.freshHex(), sentAtMs: this.nowMs() };
  }

  nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }

  /** The path of a route as it stands on the request line. */
  pathOf(route: string): string {
    return this.endpoint.baseUrl.pathname.replace(/(?<!\/)\/+$/, '') + route;
  }

  /**
   * Makes one call and resolves with its reply, whatever its status.
   * @param content an object is sent as JSON, a text as it is
   * @throws Unmet if there is no answer in time
   */
  async post(route: string, content: object | string, deviation: Deviation = {}): Promise<Reply> {
    const body = typeof content === 'string' ? content : JSON.stringify(content);
    const path = this.pathOf(route);
    const requestId = this.fresh('request');
    const headers = this.headers(path, body, requestId, deviation);
    try {
      const target = path + (deviation.query ?? '');
      const name = `POST ${path}, ${requestId}`;
      const reply = await this.send(name, target, headers, body, deviation);
      this.answered += 1;
      return reply;
    } catch (error) {
      throw new Unmet('an answer', `none: ${reasonOf(error)}`);
    }
  }

  /**
   * Opens a connection, with TLS for https, and closes it without a call.
   * @throws UsageError if none can be made
   */
  async reach(): Promise<void> {
    const { baseUrl, timeoutMs } = this.endpoint;
    const secure = baseUrl.protocol === 'https:';
    const call = (secure ? requestHttps : requestHttp)(baseUrl.origin, { agent: false }).on(
      'error',
      () => undefined,
    );
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const [socket] = (await once(call, 'socket', { signal })) as [Socket];
      await once(socket, secure ? 'secureConnect' : 'connect', { signal });
    } catch (error) {
      const reason = signal.aborted ? `not within ${timeoutMs} ms` : reasonOf(error);
      throw new UsageError(`No connection can be made to ${baseUrl.href}: ${reason}`);
    } finally {
      call.destroy();
    }
  }

  /** Makes one call without waiting for its answer longer than a moment, as a caller that dies does. */
  async abandon(route: string, content: object): Promise<void> {
    await this.post(route, content, { abandoned: true }).catch(() => undefined);
  }

  /** Signs without checks: `signRequest` would throw for some of the invalid calls that the cases send. */
  private headers(
    path: string,
    body: string,
    requestId: string,
    deviation: Deviation,
  ): Record<string, string> {
    const timestamp = deviation.timestamp ?? String(this.nowSeconds());
    const nonce = deviation.nonce ?? this.freshHex();
    const { signedBody = body } = deviation;
    const signature = signatureOf(deviation.secret ?? this.endpoint.secret, {
      method: deviation.signedMethod ?? 'POST',
      path: deviation.signedPath ?? path,
      timestamp,
      nonce,
      body: typeof signedBody === 'string' ? signedBody : signedBody(body),
    });
    const headers = {
      'Content-Type': 'application/json',
      'Accept-Encoding': 'identity',
      'X-Request-Id': requestId,
      'X-Tenant-ID': deviation.tenantId ?? this.endpoint.tenantId,
      'X-Timestamp': timestamp,
      'X-Nonce': nonce,
      'X-Signature': signature,
    };
    return deviation.headers?.(headers) ?? headers;
  }

  private send(
    name: string,
    path: string,
    headers: Record<string, string>,
    body: string,
    { halfway, abandoned, agent }: Deviation,
  ): Promise<Reply> {
    const { baseUrl, timeoutMs } = this.endpoint;
    const send = baseUrl.protocol === 'https:' ? requestHttps : requestHttp;
    const bytes = Buffer.from(body);
    const half = bytes.length >> 1;
    const named = { ...headers, 'Content-Length': bytes.length };
    const options = { method: 'POST', path, headers: named, ...(agent !== undefined && { agent }) };
    const call = send(baseUrl.origin, options);
    const reply = replyTo(call, timeoutMs);
    this.connections.follow(call, name);
    if (halfway) {
      const rest = () => void call.end(bytes.subarray(half));
      call.write(bytes.subarray(0, half), () => void halfway().then(rest, rest));
    } else {
      call.end(bytes);
    }
    if (abandoned) setTimeout(() => call.destroy(), ABANDONED_AFTER_MS).unref();
    return reply;
  }
}

/** A deviation whose body pauses halfway. */
export function withSlowBody({ endpoint }: SignedCalls): Deviation {
  return { halfway: () => delay(endpoint.slowMs) };
}

/** The age up to which a nonce is used again, in milliseconds. Leaves 11 of 601 seconds for the call. */
const NONCE_REMEMBERED_MS = 590_000;

/** A nonce that a server has accepted. */
export interface UsedNonce {
  nonce: string;
  /** Unix time in milliseconds. */
  sentAtMs: number;
}

/**
 * A nonce that a server must still remember, after a wait until it is `patienceMs` old, or as old as possible.
 * @param first the nonce of the first call of the run
 * @param use makes a call with a new nonce, because the first one may be forgotten after a long run
 */
export async function rememberedNonce(
  { nowMs }: SignedCalls,
  patienceMs: number,
  first: UsedNonce,
  use: () => Promise<UsedNonce>,
): Promise<string> {
  const isRemembered = nowMs() - first.sentAtMs < NONCE_REMEMBERED_MS;
  const { nonce, sentAtMs } = isRemembered ? first : await use();
  const waitMs = sentAtMs + Math.min(patienceMs, NONCE_REMEMBERED_MS) - nowMs();
  if (waitMs > 0) await delay(waitMs);
  return nonce;
}

/** A fixed nonce and timestamp, so that two calls with the same body have the same signature. */
export function withFixedSignature(calls: SignedCalls): { nonce: string; timestamp: string } {
  return { nonce: calls.fresh('nonce'), timestamp: String(calls.nowSeconds()) };
}

/** Why a call failed. The error of a host with several addresses has a code and no message. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return message || code || String(error);
}
