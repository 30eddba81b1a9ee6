import { FastifyAdapter } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import type { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { answerWith } from '../errors/error.filter.js';

/** What a client may take of the service before it has said anything worth an answer. */
export interface ServerLimits {
  /** How long it may take to send a request, and its headers, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** How often slow clients are looked for, in milliseconds. */
  readonly checkEveryMs: number;
  /** All of a request's headers together, in bytes; beyond, it is a 431. */
  readonly headerBytes: number;
  /** Connections at the same time; further ones are closed at once. */
  readonly connections: number;
}

const LIMITS: ServerLimits = {
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  checkEveryMs: 1_000,
  // A token of an OpenID provider is the largest header there is a use for.
  headerBytes: 16 * 1024,
  connections: 10_000,
};

/** Above what load balancers keep an idle connection, so that they close it first; in milliseconds. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** What goes with each request from its first to its last byte. */
export type Follow = (request: FastifyRequest, reply: FastifyReply, next: () => void) => void;

/** What the answer to something that is no HTTP is known by, where its status is given. */
export type NameBroken = (status: string) => string;

/** Fastify, told to leave every body to the guard that reads it, and to take a path as it is written. */
export class HttpAdapter extends FastifyAdapter {
  /** Whoever wants to see every request, one that no route can be looked up for included. */
  follow: Follow = (_request, _reply, next) => next();
  /** Whoever names what never became a request. */
  nameBroken: NameBroken = () => '';
}

export function httpAdapter(
  { trustProxy }: Pick<Configuration, 'trustProxy'>,
  limits: ServerLimits = LIMITS,
): HttpAdapter {
  const instance: FastifyInstance = fastify({
    http: {
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: limits.headerBytes,
      // Looked at below: Node's own refusal has no id.
      requireHostHeader: false,
    },
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    // Until the last connection is closed it is answered.
    return503OnClosing: false,
    // The headers' limit is the path's as well.
    routerOptions: { maxParamLength: limits.headerBytes },
    // A path that cannot be decoded is on no route.
    frameworkErrors: (_error, request, reply) =>
      adapter.follow(request, reply, () => answerWith(new CroupierError('NOT_FOUND'), reply)),
    clientErrorHandler: (error, socket) => refuseBrokenHttp(error, socket, adapter.nameBroken),
  });
  instance.addHook('onRequest', (request, reply, done) =>
    adapter.follow(request, reply, () => {
      if (namesHost(request)) done();
      else answerWith(NO_HOST, reply);
    }),
  );
  // An expectation that nobody knows may be ignored: the request is answered as any other.
  instance.server.on('checkExpectation', (request, response) =>
    instance.server.emit('request', request, response),
  );
  // No method has a body as far as Fastify knows: it would judge a Content-Type before the signature is.
  for (const method of instance.supportedMethods) instance.addHttpMethod(method, { overrideExisting: true });
  instance.server.maxConnections = limits.connections;
  const adapter: HttpAdapter = new HttpAdapter(instance);
  return adapter;
}

/** What is no HTTP is answered in as few words as Node does by itself, but for the id, and cut off. */
function refuseBrokenHttp(error: Error & { code?: string }, socket: Socket, nameBroken: NameBroken): void {
  const status = BROKEN_HTTP.get(error.code ?? '') ?? '400 Bad Request';
  if (socket.writable && error.code !== 'ECONNRESET') {
    socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nX-Request-Id: ${nameBroken(status)}\r\n\r\n`);
  }
  socket.destroy(error);
}

const BROKEN_HTTP = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
]);

const NO_HOST = new CroupierError('INVALID_REQUEST', 'the Host header is missing', { Connection: 'close' });

/** Whether the request says which host it is for, as of HTTP/1.1 each must. */
function namesHost({ headers, raw }: FastifyRequest): boolean {
  return headers.host !== undefined || raw.httpVersion === '1.0';
}

/** The request target without its query. */
export function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url;
}
