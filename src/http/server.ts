import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { createServer } from 'node:http';

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

/** Express, told to take a path as it is written: `/V1/wallet/balance/` is another one. */
export function httpAdapter(limits: ServerLimits = LIMITS): ExpressAdapter {
  const app = express();
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  return new BoundedAdapter(app, limits);
}

class BoundedAdapter extends ExpressAdapter {
  constructor(
    app: express.Express,
    private readonly limits: ServerLimits,
  ) {
    super(app);
  }

  /** Some of the limits can be told only to a server that is being made. */
  override initHttpServer(): void {
    const { requestTimeoutMs, headersTimeoutMs, checkEveryMs, headerBytes, connections } = this.limits;
    const options = {
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: checkEveryMs,
      maxHeaderSize: headerBytes,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    };
    const server = createServer(options, this.getInstance<express.Express>());
    server.maxConnections = connections;
    this.httpServer = server;
  }
}
