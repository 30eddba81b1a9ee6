import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Agent } from 'undici';
import { Configuration } from '../config/configuration.js';
import { namesPrivateAddress } from './address.js';
import { AnswerHandler, type CallOutcome, failed, type Interpretation } from './answer.js';
import { type Addressee, CallSigner } from './call-signer.js';
import { HostResolver } from './host-resolver.js';
import { walletAgent, type WalletCall } from './wallet-connection.js';

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

  /**
   * Posts a signed JSON body. Never rejects: every outcome is a value.
   * @param interpret must not throw. It is called as soon as the outcome is known, so that the connection of a
   *   misdirected answer is closed before it can carry another call
   */
  post<A extends Interpretation>(call: SignedCall, interpret: (outcome: CallOutcome) => A): Promise<A> {
    return new Promise((resolve) => {
      const conclude = (outcome: CallOutcome) => {
        const interpretation = interpret(outcome);
        resolve(interpretation);
        return interpretation;
      };
      try {
        this.send(call, conclude);
      } catch (error) {
        conclude({ ...failed(error), notSent: true });
      }
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await Promise.all(Array.from(this.counterparts.values(), ({ agent }) => agent.destroy()));
  }

  private send(call: SignedCall, conclude: (outcome: CallOutcome) => Interpretation): void {
    if (this.stopped) throw new Error('the service has shut down');
    const { agent, origin, basePath, isPrivate } = this.counterpartOf(call);
    if (!this.configuration.outboundAllowPrivate && isPrivate) {
      conclude({ kind: 'failed', answered: false, notSent: true, detail: 'the address is private' });
      return;
    }
    const path = basePath + call.route;
    const body = Buffer.from(JSON.stringify(call.body));
    const headers = this.signer.headers(call, path, body);
    const handler = new AnswerHandler(call.timeoutMs, conclude);
    const dispatched: WalletCall = { origin, path, method: 'POST', headers, body, handler };
    agent.dispatch(dispatched, handler);
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
    const { outboundAllowPrivate } = this.configuration;
    return walletAgent({
      timeout: CONNECT_TIMEOUT_MS,
      ...(!outboundAllowPrivate && { lookup: this.resolver.publicOnly }),
    });
  }
}
