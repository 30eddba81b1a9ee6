import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { Logger } from 'nestjs-pino';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { serveDocuments } from './openapi.js';
import { RequestLog } from './request-log.js';

/** How long a client may take to send a request, and its headers, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Above what load balancers keep an idle connection, so that they close it first; in milliseconds. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Express, told to take a path as it is written: `/V1/wallet/balance/` is another one. */
export function httpAdapter(): ExpressAdapter {
  const app = express();
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  return new ExpressAdapter(app);
}

/**
 * What the application must be created with: the body is read as bytes, after the route is known; until our own
 * logger is there nobody logs, and what fails until then is thrown.
 */
export const APPLICATION_OPTIONS = { bodyParser: false, logger: false, abortOnError: false } as const;

/** Sets up what surrounds every route; the same in production and under test. */
export function setUp(application: INestApplication): void {
  const app = application as NestExpressApplication;
  const configuration = app.get(Configuration);
  app.useLogger(app.get(Logger));
  if (configuration.trustProxy.length > 0) app.set('trust proxy', [...configuration.trustProxy]);
  app.use(app.get(RequestLog).follow);
  app.use(refuseOptions);
  app.use(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } }));
  if (configuration.docsEnabled) serveDocuments(app);
  const server = app.getHttpServer();
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
}

/** Express answers OPTIONS by itself; here it is a method like any other that no route has. */
function refuseOptions(request: Request, _response: Response, next: NextFunction): void {
  next(request.method === 'OPTIONS' ? new CroupierError('NOT_FOUND') : undefined);
}
