import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Socket } from 'node:net';
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { Configuration } from '../config/configuration.js';
import { AnswerHandler, type CallOutcome, failed, type Interpretation } from './answer.js';
import { refusalToCall } from './base-url.js';
import { type Addressee, CallSigner } from './call-signer.js';
import { HostResolver } from './host-resolver.js';

/**
 * Time-out of connecting, TLS included, in milliseconds: long enough for one lost packet, which TCP sends again
 * after a second. The call itself may time out earlier.
 */
const CONNECT_TIMEOUT_MS = 3_000;
/**
 * The age at which a connection gets no further call, in milliseconds. A new connection resolves the host name again, so
 * a changed DNS record is followed within a minute. Contract, section 4.
 */
const MAX_AGE_MS = 60_000;
/**
 * How long an idle connection is kept, in milliseconds, if the server sends no `Keep-Alive` header: less than in most
 * servers, so that they rarely close it.
 */
const IDLE_MS = 4_000;
/** Subtracted from the time that a server's `Keep-Alive` header grants, in milliseconds: the answer's way here. */
const HINT_MARGIN_MS = 1_000;
/** Longest time that an idle connection is kept, in milliseconds. A NAT or firewall may forget older ones silently. */
const LONGEST_IDLE_MS = 30_000;

interface SignedCall extends Addressee {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** With a leading slash. */
  readonly route: string;
  readonly body: object;
  /** Time-out from connecting to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
}

interface Counterpart {
  readonly agent: Agent;
  readonly baseUrl: string;
  readonly origin: string;
  readonly basePath: string;
  /** Why the address must not be called. */
  readonly refusal: string | undefined;
}

/**
 * Sends signed calls to wallets: signs the exact bytes, sends them once, follows no redirect, calls private addresses
 * and plain http only if configured, and reads a bounded answer.
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
    const { agent, origin, basePath, refusal } = this.counterpartOf(call);
    if (refusal !== undefined) {
      conclude({ kind: 'failed', answered: false, notSent: true, detail: refusal });
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
    const { outboundAllowPrivate } = this.configuration;
    const counterpart = {
      // The agent closes idle connections to a former address automatically.
      agent:
        known?.agent ??
        walletAgent({
          lookup: outboundAllowPrivate ? this.resolver.any : this.resolver.publicOnly,
        }),
      baseUrl,
      origin: url.origin,
      basePath: url.pathname.replace(/\/$/, ''),
      refusal: refusalToCall(url, outboundAllowPrivate),
    };
    this.counterparts.set(tenantId, counterpart);
    return counterpart;
  }
}

/** The options of a call: undici passes them on to the connection that carries the call. */
interface WalletCall extends Dispatcher.DispatchOptions {
  readonly handler: AnswerHandler;
}

/** A kept-alive connection, which carries one call at a time. */
class WalletConnection extends Client {
  socket: Socket | undefined;

  override dispatch(call: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (call as WalletCall).handler.connection = this;
    return super.dispatch(call, handler);
  }

  /** Closes the socket at once, so that it carries no further call. */
  closeSocket(): void {
    this.socket?.destroy();
  }
}

/**
 * The connections to an operator's wallet. Their number has no bound of its own: the callers bound the calls under way.
 * With a bound, undici would let a call wait for ever when all connections are too old for another one.
 */
function walletAgent(connect: buildConnector.BuildOptions): Agent {
  return new Agent({
    connections: null,
    pipelining: 1,
    clientTtl: MAX_AGE_MS,
    keepAliveTimeout: IDLE_MS,
    keepAliveTimeoutThreshold: HINT_MARGIN_MS,
    keepAliveMaxTimeout: LONGEST_IDLE_MS,
    // 0 switches undici's time-outs off: the call has one time-out for all of its phases.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...connect },
    factory: (origin, options) => new Pool(origin, { ...options, factory: openConnection }),
  });
}

function openConnection(origin: URL, options: Client.Options): WalletConnection {
  const connect = options.connect as buildConnector.connector;
  const connection: WalletConnection = new WalletConnection(origin, {
    ...options,
    connect: (target, done) =>
      connect(target, (...result) => {
        connection.socket = result[1] ?? undefined;
        done(...result);
      }),
  });
  return connection;
}
