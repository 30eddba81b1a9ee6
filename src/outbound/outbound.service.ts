import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { Configuration } from '../config/configuration.js';
import { namesPrivateAddress } from './address.js';
import { Answer, type CallOutcome, failed } from './answer.js';
import { type Addressee, CallSigner } from './call-signer.js';
import { HostResolver } from './host-resolver.js';

/** Connections to one origin at the same time; further calls wait for one within their time-out. */
const CONNECTIONS_PER_ORIGIN = 128;
/** How long an idle connection is kept, in milliseconds; below what servers usually keep theirs. */
const KEEP_ALIVE_MS = 4_000;

export interface SignedCall extends Addressee {
  /** The full address: base address and route. */
  readonly url: string;
  readonly body: object;
  /** To the last byte of the answer, with the wait for a free connection, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The only way out of the service: signs the exact bytes it sends, sends them once, follows no redirect, and
 * neither connects to a private address (unless configured) nor reads more than a bounded answer.
 */
@Injectable()
export class Outbound implements OnApplicationShutdown {
  private readonly agent: Agent;
  /** What was called so far: two routes of each operator. */
  private readonly addresses = new Map<string, URL>();

  constructor(
    private readonly configuration: Configuration,
    private readonly signer: CallSigner,
    resolver: HostResolver,
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
  post(call: SignedCall): Promise<CallOutcome> {
    return new Promise((resolve) => {
      try {
        this.send(call, resolve);
      } catch (error) {
        resolve(failed(error));
      }
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  private send(call: SignedCall, conclude: (outcome: CallOutcome) => void): void {
    const url = this.addressOf(call);
    if (!this.configuration.outboundAllowPrivate && namesPrivateAddress(url)) {
      return conclude({ kind: 'failed', detail: 'the address is private' });
    }
    const { origin, pathname, search } = url;
    const body = Buffer.from(JSON.stringify(call.body));
    const headers = this.signer.headers(call, url, body);
    const answer = new Answer(call.timeoutMs, conclude);
    this.agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, answer);
  }

  private addressOf({ url }: SignedCall): URL {
    let address = this.addresses.get(url);
    if (!address) this.addresses.set(url, (address = new URL(url)));
    return address;
  }
}
