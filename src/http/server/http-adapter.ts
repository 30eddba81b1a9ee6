import { FastifyAdapter } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Configuration } from '../../config/configuration.js';
import { CroupierError } from '../../errors/croupier-error.js';
import { answerWith } from '../../errors/error.filter.js';
import { AddressLimit } from './address-limit.js';
import { createNodeServer, type ServerObserver } from './node-server.js';
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from './server-limits.js';

/** What goes with each request from its first to its last byte. */
export type Follow = (request: FastifyRequest, reply: FastifyReply, next: () => void) => void;

/** Fastify, told to leave every body to the guard that reads it, and to take a path as it is written. */
export class HttpAdapter extends FastifyAdapter {
  /** Whoever wants to see every request, one that no route can be looked up for included. */
  follow: Follow = (_request, _reply, next) => next();
  /** Names, logs and counts what never reaches a route. */
  observer: ServerObserver = { nameBroken: () => '', connectionDestroyed: () => undefined };
}

export function httpAdapter(
  { trustProxy, maxConnectionsPerAddress }: Pick<Configuration, 'trustProxy' | 'maxConnectionsPerAddress'>,
  overrides: Partial<ServerLimits> = {},
): HttpAdapter {
  const limits = { ...DEFAULT_SERVER_LIMITS, ...overrides };
  const addresses = new AddressLimit(maxConnectionsPerAddress, trustProxy);
  const observer: ServerObserver = {
    nameBroken: (status, offeredId) => adapter.observer.nameBroken(status, offeredId),
    connectionDestroyed: (reason, address) => adapter.observer.connectionDestroyed(reason, address),
  };
  const instance: FastifyInstance = fastify({
    serverFactory: (handle) => createNodeServer(handle, limits, addresses, observer),
    trustProxy: trustProxy.length > 0 && [...trustProxy],
    // Until the last connection is closed it is answered.
    return503OnClosing: false,
    // The headers' limit is the path's as well.
    routerOptions: { maxParamLength: limits.headerBytes },
    // A path that cannot be decoded is on no route.
    frameworkErrors: (_error, request, reply) =>
      adapter.follow(request, reply, () => answerWith(new CroupierError('NOT_FOUND'), reply)),
    // The server answers by itself what is no HTTP.
    clientErrorHandler: () => undefined,
  });
  instance.addHook('onRequest', (request, reply, done) => adapter.follow(request, reply, done));
  // No method has a body as far as Fastify knows: it would judge a Content-Type before the signature is.
  for (const method of instance.supportedMethods) instance.addHttpMethod(method, { overrideExisting: true });
  const adapter: HttpAdapter = new HttpAdapter(instance);
  return adapter;
}

/** The request target without its query. */
export function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url;
}
