import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, request } from 'undici';
import { Configuration } from '../config/configuration.js';
import { type Addressee, CallSigner } from './call-signer.js';
import { namesPrivateAddress } from './address.js';
import { Resolver } from './resolver.js';

/** What of an answer is read at most, in bytes. */
const ANSWER_LIMIT_BYTES = 64 * 1024;
/** Connections to one origin at the same time; further calls wait for one within their time-out. */
const CONNECTIONS_PER_ORIGIN = 128;
/** How long an idle connection is kept, in milliseconds; below what servers usually keep theirs. */
const KEEP_ALIVE_MS = 4_000;

export interface SignedCall extends Addressee {
  /** The full address: base address and route. */
  readonly url: string;
  readonly body: object;
  /** From connect to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** What is known after a call was sent once. */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer }
  | { readonly kind: 'timeout'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string };

/**
 * The only way out of the service: signs the exact bytes it sends, sends them once, follows no redirect, and
 * neither connects to a private address (unless configured) nor reads more than a bounded answer.
 */
@Injectable()
export class Outbound implements OnApplicationShutdown {
  private readonly agent: Agent;

  constructor(
    private readonly configuration: Configuration,
    private readonly signer: CallSigner,
    resolver: Resolver,
  ) {
    this.agent = new Agent({
      connections: CONNECTIONS_PER_ORIGIN,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The call's own time-out covers these.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: 0, ...(!configuration.outboundAllowPrivate && { lookup: resolver.publicOnly }) },
    });
  }

  /** Posts a signed JSON body. Never rejects: whatever happens is a value. */
  async post(call: SignedCall): Promise<CallOutcome> {
    const url = new URL(call.url);
    if (!this.configuration.outboundAllowPrivate && namesPrivateAddress(url)) {
      return { kind: 'failed', detail: 'the address is private' };
    }
    const body = Buffer.from(JSON.stringify(call.body));
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), call.timeoutMs);
    try {
      const answer = await request(url, {
        dispatcher: this.agent,
        method: 'POST',
        headers: this.signer.headers(call, url, body),
        body,
        signal: patience.signal,
      });
      return { kind: 'answered', status: answer.statusCode, body: await bounded(answer.body) };
    } catch (error) {
      const detail = describe(error);
      return patience.signal.aborted ? { kind: 'timeout', detail } : { kind: 'failed', detail };
    } finally {
      clearTimeout(timer);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}

async function bounded(answer: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.length;
    if (size > ANSWER_LIMIT_BYTES) throw new Error(`the answer is larger than ${ANSWER_LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return [code, message].filter(Boolean).join(': ').slice(0, 500).toWellFormed().replaceAll('\0', '\uFFFD');
}
