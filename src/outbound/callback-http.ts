import { HttpService } from '@nestjs/axios';
import { Injectable } from '@nestjs/common';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { addAbortSignal, type Readable } from 'node:stream';
import { firstValueFrom } from 'rxjs';
import { Configuration } from '../config/configuration.js';
import { type Addressee, CallSigner } from './call-signer.js';
import { namesPrivateAddress } from './address.js';
import { Resolver } from './resolver.js';

/** What of an answer is read at most, in bytes. Contract, section 6. */
const ANSWER_LIMIT_BYTES = 64 * 1024;

export interface Callback extends Addressee {
  /** The full address: base address and route. */
  readonly url: string;
  /** The exact bytes that are signed and sent. */
  readonly body: Buffer;
  /** From connect to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** What a 200 carries says nothing: it counts as soon as it is received. */
  readonly ignoresBodyOf200: boolean;
}

/** What is known after a callback was sent once. The details name hosts: they are for the log alone. */
export type CallbackAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** What was read of it. */
      readonly body: Buffer;
      /** Why that is not the whole; absent where it is, or where nobody wanted it. */
      readonly cut?: 'timeout' | 'too-large' | 'lost';
    }
  | {
      readonly kind: 'unanswered';
      readonly cause: 'timeout' | 'refused' | 'lost';
      /** False where the connection never stood, so that nobody can have acted on it. */
      readonly mayHaveArrived: boolean;
      /** Such as ECONNREFUSED. */
      readonly code?: string;
      readonly detail: string;
    };

/**
 * Sends callbacks to providers: the signed bytes once, over a connection of their own, following no redirect,
 * within one time-out, to public addresses alone unless configured. Never rejects: whatever happens is a value.
 */
@Injectable()
export class CallbackHttp {
  constructor(
    private readonly configuration: Configuration,
    private readonly http: HttpService,
    private readonly signer: CallSigner,
    private readonly resolver: Resolver,
  ) {}

  async post(callback: Callback): Promise<CallbackAnswer> {
    const url = new URL(callback.url);
    if (!this.configuration.outboundAllowPrivate && namesPrivateAddress(url)) {
      return {
        kind: 'unanswered',
        cause: 'refused',
        mayHaveArrived: false,
        detail: 'the address is private',
      };
    }
    const patience = AbortSignal.timeout(callback.timeoutMs);
    const line = this.line(url);
    try {
      const { status, data } = await this.send(callback, url, patience, line.agent);
      if (status === 200 && callback.ignoresBodyOf200) {
        data.on('error', () => undefined).destroy();
        return { kind: 'answered', status, body: Buffer.alloc(0) };
      }
      return { kind: 'answered', status, ...(await read(data, patience)) };
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      return {
        kind: 'unanswered',
        cause: patience.aborted ? 'timeout' : line.stood() ? 'lost' : 'refused',
        mayHaveArrived: line.stood(),
        ...(code !== undefined && { code }),
        detail: (message ?? String(error)).slice(0, 500),
      };
    } finally {
      line.agent.destroy();
    }
  }

  private send(
    callback: Callback,
    url: URL,
    signal: AbortSignal,
    agent: HttpAgent,
  ): Promise<{ status: number; data: Readable }> {
    const headers = this.signer.headers(callback, url, callback.body);
    return firstValueFrom(
      this.http.post<Readable>(url.href, callback.body, {
        headers: {
          ...headers,
          Accept: 'application/json',
          'Accept-Encoding': 'identity',
          'User-Agent': 'croupier',
        },
        responseType: 'stream',
        maxRedirects: 0,
        proxy: false,
        decompress: false,
        validateStatus: () => true,
        signal,
        httpAgent: agent,
        httpsAgent: agent,
      }),
    );
  }

  /**
   * A connection for one call: an idle one that the provider closes at this moment would lose a callback that
   * nobody may send again. It knows whether it ever stood, which is what tells a refusal from a loss.
   */
  private line(url: URL): { agent: HttpAgent; stood: () => boolean } {
    const options = {
      keepAlive: false,
      ...(!this.configuration.outboundAllowPrivate && { lookup: this.resolver.publicOnly }),
    };
    const secure = url.protocol === 'https:';
    const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
    const connect: HttpAgent['createConnection'] = agent.createConnection.bind(agent);
    let stood = false;
    agent.createConnection = (target, callback) => {
      const socket = connect(target, callback);
      socket?.once(secure ? 'secureConnect' : 'connect', () => (stood = true));
      return socket;
    };
    return { agent, stood: () => stood };
  }
}

async function read(
  answer: Readable,
  patience: AbortSignal,
): Promise<{ body: Buffer; cut?: 'timeout' | 'too-large' | 'lost' }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(patience, answer) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > ANSWER_LIMIT_BYTES) {
        return { body: Buffer.concat(chunks).subarray(0, ANSWER_LIMIT_BYTES), cut: 'too-large' };
      }
    }
    return { body: Buffer.concat(chunks) };
  } catch {
    return { body: Buffer.concat(chunks), cut: patience.aborted ? 'timeout' : 'lost' };
  }
}
