import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import { Configuration, SETTLING_FACTOR } from '../config/configuration.js';
import { namesPrivateAddress } from './address.js';
import { AnswerHandler, type CallOutcome, failed } from './answer.js';
import { type Addressee, CallSigner } from './call-signer.js';
import { HostResolver } from './host-resolver.js';

/**
 * How long an idle connection is kept, in milliseconds, if the server sends no `Keep-Alive` header: less than in most
 * servers, so that they rarely close it.
 */
const KEEP_ALIVE_MS = 4_000;
/**
 * Time-out of connecting, TLS included, in milliseconds: long enough for one lost packet, which TCP sends again
 * after a second. The call itself may time out earlier.
 */
const CONNECT_TIMEOUT_MS = 3_000;

export interface SignedCall extends Addressee {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** With a leading slash. */
  readonly route: string;
  readonly body: object;
  /** Time-out from connecting to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** An operator's connections, and the address of its last call. */
interface Counterpart {
  readonly agent: Agent;
  readonly baseUrl: string;
  readonly origin: string;
  readonly basePath: string;
  readonly isPrivate: boolean;
}

/**
 * Sends signed calls to wallets: signs the exact bytes, sends them once, follows no redirect, connects to private
 * addresses only if configured, and reads a bounded answer.
 *
 * Each operator has connections of its own, so that an operator that does not answer never delays another, even at the
 * same address. It may have as many connections as calls under way, so no call waits for a free connection.
 */
@Injectable()
export class Outbound implements OnApplicationShutdown {
  /** By operator id. It needs no bound, because operators are few and never deleted. */
  private readonly counterparts = new Map<string, Counterpart>();
  private stopped = false;

  constructor(
    private readonly configuration: Configuration,
    private readonly signer: CallSigner,
    private readonly resolver: HostResolver,
  ) {}

  /** Posts a signed JSON body. Never rejects: every outcome is a value. */
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
    this.stopped = true;
    await Promise.all(Array.from(this.counterparts.values(), ({ agent }) => agent.destroy()));
  }

  private send(call: SignedCall, conclude: (outcome: CallOutcome) => void): void {
    if (this.stopped) throw new Error('the service has shut down');
    const { agent, origin, basePath, isPrivate } = this.counterpartOf(call);
    if (!this.configuration.outboundAllowPrivate && isPrivate) {
      return conclude({ kind: 'failed', answered: false, detail: 'the address is private' });
    }
    const path = basePath + call.route;
    const body = Buffer.from(JSON.stringify(call.body));
    const headers = this.signer.headers(call, path, body);
    agent.dispatch(
      { origin, path, method: 'POST', headers, body },
      new AnswerHandler(call.timeoutMs, conclude),
    );
  }

  private counterpartOf({ tenantId, baseUrl }: SignedCall): Counterpart {
    const known = this.counterparts.get(tenantId);
    if (known?.baseUrl === baseUrl) return known;
    const url = new URL(baseUrl);
    const counterpart = {
      // The agent closes idle connections to a former address automatically.
      agent: known?.agent ?? this.agent(),
      baseUrl,
      origin: url.origin,
      basePath: url.pathname.replace(/\/$/, ''),
      isPrivate: namesPrivateAddress(url),
    };
    this.counterparts.set(tenantId, counterpart);
    return counterpart;
  }

  private agent(): Agent {
    const { outboundAllowPrivate, operatorMaxInFlight } = this.configuration;
    return new Agent({
      connections: operatorMaxInFlight * SETTLING_FACTOR,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // 0 switches undici's time-outs off: the call has one time-out for all of its phases.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: CONNECT_TIMEOUT_MS,
        ...(!outboundAllowPrivate && { lookup: this.resolver.publicOnly }),
      },
    });
  }
}
