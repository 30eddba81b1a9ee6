import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import helmet from 'helmet';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { ServiceLogger } from '../observability/logging.js';
import { Metrics } from '../observability/metrics.js';
import type { TenantLabels } from '../observability/tenant-labels.js';
import {
  type ActiveSpan,
  type LogFields,
  newTrace,
  REQUEST_ID,
  runTraced,
  type Trace,
} from '../observability/trace.js';
import { Tracing } from '../observability/tracing.js';
import { monotonicMs } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';
import { isCutOff } from '../api/cut-off.js';
import { headersOf } from '../api/security-headers.js';
import type { DestroyReason } from './connection.js';
import { type FirstHandler, pathOf } from './express-adapter.js';
import type { ServerObserver } from './node-server.js';

const UNKNOWN_ROUTE = 'unknown';
/** Number of characters of an unknown route's path in a log line. Contract, section 10, "Log lines". */
const UNKNOWN_PATH_CHARACTERS = 200;

const EXPLANATIONS: Record<DestroyReason, string> = {
  'server-limit': 'the instance has its maximum number of open connections',
  'address-limit': 'the address (for IPv6, its /64) has MAX_CONNECTIONS_PER_ADDRESS open connections',
  pipelining: 'the client pipelined too many requests before their answers were sent',
  'unread-answer': 'the client does not read its answer',
};

/** Headers of every answer, except to a malformed request. */
const HEADERS = new Map(
  Object.entries({
    ...headersOf(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } })),
    // Answers contain balances, tokens and secrets, which no cache may keep.
    'cache-control': 'no-store',
  }),
);

/**
 * Assigns an id to each request. The id is in the answer, in every log line and in every outgoing call. When a request
 * ends, one measurement and at most one log line are recorded. Contract, section 2, `X-Request-Id`.
 */
@Injectable()
export class RequestLog {
  private readonly logger: ServiceLogger['pino'];
  private readonly malformed = new BoundedLogger('Request');
  private readonly unauthenticated = new BoundedLogger('Request');
  private readonly connections = new BoundedLogger('Connection');

  constructor(
    private readonly metrics: Metrics,
    private readonly randomness: Randomness,
    private readonly tracing: Tracing,
    { pino }: ServiceLogger,
  ) {
    // Request lines have no field that contains a secret, so there is nothing to redact.
    this.logger = pino.child({ context: 'Request' }, { redact: [] });
  }

  readonly follow: FirstHandler = (request, response, next) => {
    const offered = String(request.headers['x-request-id'] ?? '');
    const requestId = REQUEST_ID.test(offered) ? offered : this.randomness.uuid();
    const span = this.tracing.startRequest(request.headers);
    const trace = newTrace(requestId, { origin: () => originOf(request), span });
    const started = monotonicMs();
    response.setHeaders(HEADERS).setHeader('X-Request-Id', requestId);
    this.metrics.requestStarted();
    response.once('close', () => {
      // Connections and timers keep the trace of the request in which they were created. A reference to the request
      // would keep it in memory, too.
      const origin = originOf(request);
      trace.origin = () => origin;
      runTraced(trace, () => this.conclude(request, response, trace, monotonicMs() - started));
    });
    if (span?.recording) recordAnswer(response, span);
    runTraced(trace, next);
  };

  /** Logs and counts a request that violates HTTP. The request gets an id, too, so that its log line can be found. */
  readonly reportMalformed: ServerObserver['reportMalformed'] = (status, offered = '') => {
    const requestId = REQUEST_ID.test(offered) ? offered : this.randomness.uuid();
    this.metrics.malformedRequestRefused(status.slice(0, 3));
    runTraced(newTrace(requestId), () => this.malformed.warn({ msg: 'broken HTTP refused', status }));
    return requestId;
  };

  readonly connectionDestroyed: ServerObserver['connectionDestroyed'] = (reason, address) => {
    this.metrics.connectionsDestroyed.inc({ reason });
    this.connections.warn({ msg: `connection destroyed: ${EXPLANATIONS[reason]}`, reason, address });
  };

  private conclude(request: Request, response: Response, trace: Trace, durationMs: number): void {
    const route = routeOf(request);
    const outcome = outcomeOf(response, trace);
    const { tenant, actor } = request as { tenant?: SignedBy; actor?: unknown };
    this.metrics.requestEnded(route, outcome, labelsOf(tenant), durationMs);
    trace.span?.end(
      {
        'http.request.method': request.method,
        ...(route !== UNKNOWN_ROUTE && { 'http.route': route.slice(request.method.length + 1) }),
        'http.response.status_code': response.statusCode,
        'croupier.outcome': outcome,
        'croupier.requestId': trace.requestId,
        ...(tenant && { 'croupier.tenant': tenant.id }),
      },
      { name: route, failed: response.statusCode >= 500 },
    );
    // The signature guard has already logged the reason.
    if (outcome === 'INVALID_SIGNATURE') return;
    const line = {
      msg: `${route} ${outcome}`,
      outcome,
      status: response.statusCode,
      durationMs: rounded(durationMs),
      parts: Object.fromEntries(Object.entries(trace.parts).map(([part, ms]) => [part, rounded(ms)])),
    };
    if (route.startsWith('GET /health') || route === 'GET /metrics') this.logger.debug(line);
    // Unauthenticated callers can cause any number of lines, so their lines are bounded. Of the 5xx, they can cause only
    // CONFIGURATION_UNAVAILABLE at will, by the id of a tenant whose secret cannot be decrypted.
    else if (!tenant && !actor && (response.statusCode < 500 || outcome === 'CONFIGURATION_UNAVAILABLE'))
      this.unauthenticated.info(line);
    else this.logger.info(line);
  }
}

/** Records the time from passing the whole answer to Node until it has been sent or the client has disconnected. */
function recordAnswer(response: Response, span: ActiveSpan): void {
  response.once('prefinish', () => {
    const writtenMs = monotonicMs();
    // Must run before the listener that ends the request's span.
    response.prependOnceListener('close', () => span.record('answer', writtenMs, monotonicMs()));
  });
}

/**
 * The sender, address and route of a request, as far as the guards have determined them. The path is included if the
 * route has parameters or is unknown.
 */
function originOf(request: Request): LogFields {
  const { tenant, actor } = request as { tenant?: SignedBy; actor?: { actor: string; role: string } };
  const route = routeOf(request);
  return {
    tenant: tenant?.id,
    ...(actor && !tenant && { actor: actor.actor, role: actor.role }),
    address: request.ip,
    route,
    ...(route === UNKNOWN_ROUTE && { method: request.method }),
    path: loggedPath(route, request),
  };
}

/** Any caller chooses the path of an unknown route, so it is cut. A query may contain secrets and is never logged. */
function loggedPath(route: string, request: Request): string | undefined {
  if (route === UNKNOWN_ROUTE) return pathOf(request).slice(0, UNKNOWN_PATH_CHARACTERS);
  return route.includes(':') ? pathOf(request) : undefined;
}

/** The tenant that the signature guard has put on the request. */
interface SignedBy {
  readonly id: string;
  readonly kind: 'PROVIDER' | 'OPERATOR';
}

function labelsOf(tenant: SignedBy | undefined): TenantLabels {
  if (!tenant) return {};
  return tenant.kind === 'OPERATOR' ? { operator: tenant.id } : { provider: tenant.id };
}

/** The route's pattern, not the path, because the number of a label's values must be bounded. */
function routeOf({ method, route }: Request): string {
  const { path } = (route ?? {}) as { path?: string };
  return path === undefined ? UNKNOWN_ROUTE : `${method} ${path}`;
}

function outcomeOf(response: Response, { outcome }: Trace): string {
  if (response.writableFinished) return outcome ?? String(response.statusCode);
  return isCutOff(response) ? 'CUT_OFF' : 'CLIENT_WENT_AWAY';
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
