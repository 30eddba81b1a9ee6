import type { INestApplication } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { ServiceLogger } from '../observability/logging.js';
import { serveDocuments } from '../openapi/documents.js';
import type { RenderDocuments } from '../openapi/pages/pages.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { RequestLog } from './request-log.js';
import type { CroupierExpressAdapter } from './express-adapter.js';

/**
 * Options for creating the application. Nest does not parse bodies: they are read as bytes after routing. Nothing is
 * logged until our own logger is set; a failure before that is thrown.
 */
export const APPLICATION_OPTIONS = { bodyParser: false, logger: false, abortOnError: false } as const;

/** Sets up what applies to every route, in production and in tests alike. */
export function setUp(app: INestApplication): RenderDocuments {
  app.useLogger(app.get(ServiceLogger));
  const adapter = app.getHttpAdapter() as CroupierExpressAdapter;
  const { follow, reportMalformed, connectionDestroyed } = app.get(RequestLog);
  const lifecycle = app.get(Lifecycle);
  adapter.firstHandler = follow;
  adapter.closesConnections = () => lifecycle.stopping;
  adapter.observer = { reportMalformed, connectionDestroyed };
  const { docsEnabled, sandbox, port } = app.get(Configuration);
  return docsEnabled ? serveDocuments(app, adapter.lastRoutes, { sandbox, port }) : () => undefined;
}
