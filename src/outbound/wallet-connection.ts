import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import type { Socket } from 'node:net';
import type { AnswerHandler, CarryingConnection } from './answer.js';

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

/** The options of a call: undici passes them on to the connection that carries the call. */
export interface WalletCall extends Dispatcher.DispatchOptions {
  readonly handler: AnswerHandler;
}

/** A kept-alive connection, which carries one call at a time. */
class WalletConnection extends Client implements CarryingConnection {
  socket: Socket | undefined;

  override dispatch(call: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (call as WalletCall).handler.connection = this;
    return super.dispatch(call, handler);
  }

  closeSocket(): void {
    this.socket?.destroy();
  }
}

/**
 * The connections to an operator's wallet. Their number has no bound of its own: the callers bound the calls under way.
 * With a bound, undici would let a call wait for ever when all connections are too old for another one.
 */
export function walletAgent(connect: buildConnector.BuildOptions): Agent {
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
    connect,
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
