import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { DropArgument, Socket } from 'node:net';
import type { AddressLimit } from './address-limit.js';
import { ClientConnection, type DestroyReason } from './connection.js';
import {
  framingFault,
  type ParserError,
  refuseFraming,
  refuseOnSocket,
  statusOf,
} from './malformed-request.js';
import { postponeContinue } from './postponed-continue.js';
import type { ServerLimits } from './server-limits.js';
import { isStreaming } from './streamed-body.js';

/**
 * An idle connection is closed after this time, in milliseconds. It exceeds the usual idle time-out of load balancers,
 * so that the load balancer closes the connection first.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Is notified of malformed requests and destroyed connections, which reach no route. */
export interface ServerObserver {
  /**
   * Reports a request that violates HTTP.
   * @param status the status of the answer, such as `400 Bad Request`
   * @param offeredId the request's own `X-Request-Id`, if it could be read
   * @returns the id to answer with
   */
  reportMalformed(status: string, offeredId?: string): string;
  connectionDestroyed(reason: DestroyReason, address: string): void;
}

/**
 * Creates Node's HTTP server with bounds on its connections. Requests that violate RFC 9112 are refused before
 * `handle`.
 */
export function createNodeServer<
  Request extends typeof IncomingMessage,
  Response extends typeof ServerResponse<InstanceType<Request>>,
>(
  messageClasses: Pick<ServerOptions<Request, Response>, 'IncomingMessage' | 'ServerResponse'>,
  handle: RequestListener<Request, Response>,
  limits: ServerLimits,
  addresses: AddressLimit,
  observer: ServerObserver,
): Server<Request, Response> {
  const connections = new Map<Socket, ClientConnection>();
  const server = createServer(
    {
      ...messageClasses,
      requestTimeout: limits.requestTimeoutMs,
      headersTimeout: limits.headersTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: limits.headerBytes,
      // `framingFault` checks the Host header, because Node's own refusal has no request id.
      requireHostHeader: false,
    },
    (request, response) => {
      if (!connections.get(request.socket)?.admit(request, response)) return;
      const fault = framingFault(request);
      if (fault) refuseFraming(fault, response, observer.reportMalformed(fault.status, requestIdOf(request)));
      else handle(request, response);
    },
  );
  server.maxConnections = limits.connections;
  // A connection that its client has closed has no address.
  server.on('drop', (dropped?: DropArgument) =>
    observer.connectionDestroyed('server-limit', dropped?.remoteAddress ?? ''),
  );
  // No limit on the number of headers: Node would silently drop further headers, perhaps a second Host. `headerBytes`
  // bounds their total size.
  server.maxHeadersCount = 0;

  server.on('connection', (socket) => {
    // A closed connection has no address.
    const address = socket.remoteAddress ?? '';
    const leave = addresses.enter(address);
    if (!leave) {
      observer.connectionDestroyed('address-limit', address);
      socket.destroy();
      return;
    }
    const report = (reason: DestroyReason) => observer.connectionDestroyed(reason, address);
    connections.set(socket, new ClientConnection(socket, limits, report));
    socket.once('close', () => {
      connections.delete(socket);
      leave();
    });
  });

  server.on('checkContinue', (request, response) => {
    postponeContinue(response);
    server.emit('request', request, response);
  });
  // RFC 9110 allows ignoring an unknown expectation: the request is handled like any other.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  const refuse = (socket: Socket, status: string, offeredId?: string) => {
    // Paused, because bytes that arrive would postpone the time-out of an answer that the client does not read.
    if (connections.get(socket)?.expectsAnswer === false) socket.pause().destroySoon();
    else refuseOnSocket(socket, status, observer.reportMalformed(status, offeredId));
  };
  server.on('connect', (request) => refuse(request.socket, NOT_FOUND, requestIdOf(request)));
  server.on('clientError', (error: ParserError, socket) => {
    // Node reports a slow request once. A streamed body may take longer, and has time-outs of its own.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isStreaming(socket as Socket)) return;
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy(error);
    else refuse(socket as Socket, statusOf(error));
  });

  // Called while the server closes. Node's own method also destroys connections whose answer is ended, but not yet sent.
  server.closeIdleConnections = () => {
    for (const connection of connections.values()) connection.closeIfIdle();
  };
  // Called at the limit of a stop. After Node's own method, the log would say that the clients disconnected.
  server.closeAllConnections = () => {
    for (const connection of connections.values()) connection.close();
  };

  server.on('timeout', (socket: Socket) => connections.get(socket)?.timedOut());
  return server;
}

/** The answer to CONNECT, as to every unknown method. Contract, section 1. */
const NOT_FOUND = '404 Not Found';

function requestIdOf({ headers }: IncomingMessage): string | undefined {
  const offered = headers['x-request-id'];
  return typeof offered === 'string' ? offered : undefined;
}
