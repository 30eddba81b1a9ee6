import { HttpService } from '@nestjs/axios';
import { Injectable } from '@nestjs/common';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { addAbortSignal, type Readable } from 'node:stream';
import { Configuration } from '../config/configuration.js';
import { type Addressee, CallSigner } from './call-signer.js';
import { AnswerBody } from './answer.js';
import { refusalToCall } from './base-url.js';
import { HostResolver } from './host-resolver.js';

export interface Callback extends Addressee {
  readonly url: string;
  readonly body: Buffer;
  /** Time-out from connecting to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly ignoresBodyOf200: boolean;
}

/** The outcome of a callback. `detail` may name hosts, so it belongs in the log only. */
export type CallbackAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: Buffer;
      /** Why the body is incomplete; absent if it is complete or was not needed. */
      readonly cut?: 'timeout' | 'too-large' | 'lost';
    }
  | {
      readonly kind: 'unanswered';
      readonly cause: 'timeout' | 'refused' | 'lost';
      /** False if the connection was never established, so that the provider cannot have acted on the call. */
      readonly mayHaveArrived: boolean;
      readonly code?: string;
      readonly detail: string;
    };

/**
 * Sends callbacks to providers. Each is sent once, over a new connection, with one time-out. Redirects are not
 * followed. Addresses must be public and https unless `OUTBOUND_ALLOW_PRIVATE` is set. A failed call is returned as a
 * value.
 */
@Injectable()
export class CallbackHttp {
  constructor(
    private readonly configuration: Configuration,
    private readonly http: HttpService,
    private readonly signer: CallSigner,
    private readonly resolver: HostResolver,
  ) {}

  /**
   * Sends a callback and reads its answer.
   * @throws TypeError if `url` is not a URL; stored addresses have been checked
   */
  async post(callback: Callback): Promise<CallbackAnswer> {
    const url = new URL(callback.url);
    const refusal = refusalToCall(url, this.configuration.outboundAllowPrivate);
    if (refusal !== undefined)
      return { kind: 'unanswered', cause: 'refused', mayHaveArrived: false, detail: refusal };
    const timeout = AbortSignal.timeout(callback.timeoutMs);
    const connection = this.connectionFor(url);
    try {
      const headers = this.signer.headers(callback, url.pathname + url.search, callback.body);
      const { status, data } = await this.http.axiosRef.post<Readable>(url.href, callback.body, {
        headers: {
          ...headers,
          Accept: 'application/json',
          'User-Agent': 'croupier',
        },
        responseType: 'stream',
        maxRedirects: 0,
        proxy: false,
        decompress: false,
        validateStatus: () => true,
        signal: timeout,
        httpAgent: connection.agent,
        httpsAgent: connection.agent,
      });
      if (status === 200 && callback.ignoresBodyOf200) {
        data.on('error', () => undefined).destroy();
        return { kind: 'answered', status, body: Buffer.alloc(0) };
      }
      return { kind: 'answered', status, ...(await read(data, timeout)) };
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      return {
        kind: 'unanswered',
        cause: timeout.aborted ? 'timeout' : connection.wasEstablished() ? 'lost' : 'refused',
        mayHaveArrived: connection.wasEstablished(),
        ...(code !== undefined && { code }),
        detail: (message ?? String(error)).slice(0, 500),
      };
    } finally {
      connection.agent.destroy();
    }
  }

  /**
   * Prepares a new connection for one call. A provider could close a kept connection just when it is reused; then the
   * callback would be lost, because it must not be sent again. `wasEstablished` distinguishes a refused call from a
   * lost one.
   */
  private connectionFor(url: URL): { agent: HttpAgent; wasEstablished: () => boolean } {
    const options = {
      keepAlive: false,
      lookup: this.configuration.outboundAllowPrivate ? this.resolver.any : this.resolver.publicOnly,
    };
    const secure = url.protocol === 'https:';
    const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
    const connect: HttpAgent['createConnection'] = agent.createConnection.bind(agent);
    let established = false;
    agent.createConnection = (target, callback) => {
      const socket = connect(target, callback);
      socket?.once(secure ? 'secureConnect' : 'connect', () => (established = true));
      return socket;
    };
    return { agent, wasEstablished: () => established };
  }
}

async function read(
  answer: Readable,
  timeout: AbortSignal,
): Promise<{ body: Buffer; cut?: 'timeout' | 'too-large' | 'lost' }> {
  const body = new AnswerBody();
  try {
    for await (const chunk of addAbortSignal(timeout, answer) as AsyncIterable<Buffer>) {
      if (!body.add(chunk)) return { body: body.bytes(), cut: 'too-large' };
    }
    return { body: body.bytes() };
  } catch {
    return { body: body.bytes(), cut: timeout.aborted ? 'timeout' : 'lost' };
  }
}
