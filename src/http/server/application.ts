import type { INestApplication } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import { ServiceLogger } from '../../observability/logging.js';
import { serveDocuments } from '../../openapi/documents.js';
import { Lifecycle } from '../../runtime/lifecycle.js';
import { RequestLog } from './request-log.js';
import { ConnectionLog } from './connection-log.js';
import type { CroupierExpressAdapter } from './express-adapter.js';

/**
 * What the application must be created with: the body is read as bytes, after the route is known; until our own
 * logger is there nobody logs, and what fails until then is thrown.
 */
export const APPLICATION_OPTIONS = { bodyParser: false, logger: false, abortOnError: false } as const;

/**
 * Sets up what surrounds every route; the same in production and under test.
 * @returns renders the documents: called at start, no request has to wait for it
 */
export function setUp(app: INestApplication): () => void {
  app.useLogger(app.get(ServiceLogger));
  const adapter = app.getHttpAdapter() as CroupierExpressAdapter;
  const { follow, nameBroken } = app.get(RequestLog);
  const connections = app.get(ConnectionLog);
  const lifecycle = app.get(Lifecycle);
  adapter.firstHandler = follow;
  adapter.closesConnections = () => lifecycle.stopping;
  adapter.observer = {
    nameBroken,
    connectionDestroyed: (reason, address) => connections.destroyed(reason, address),
  };
  const { docsEnabled, sandbox } = app.get(Configuration);
  return docsEnabled
    ? serveDocuments(app, adapter.lastRoutes, { keepAuthorizations: sandbox })
    : () => undefined;
}
