import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { Logger } from 'nestjs-pino';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { serveDocuments } from './openapi.js';
import { RequestLog } from './request-log.js';

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
}

/** Express answers OPTIONS by itself; here it is a method like any other that no route has. */
function refuseOptions(request: Request, _response: Response, next: NextFunction): void {
  next(request.method === 'OPTIONS' ? new CroupierError('NOT_FOUND') : undefined);
}
