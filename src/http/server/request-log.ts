import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import helmet from 'helmet';
import { BoundedLogger } from '../../observability/bounded-logger.js';
import { ServiceLogger } from '../../observability/logging.js';
import { Metrics } from '../../observability/metrics.js';
import { newTrace, runTraced, type Trace } from '../../observability/trace.js';
import { monotonicMs } from '../../runtime/clock.js';
import { Lifecycle } from '../../runtime/lifecycle.js';
import { Randomness } from '../../runtime/randomness.js';
import { headersOf } from './security-headers.js';
import type { FirstHandler } from './express-adapter.js';
import type { ServerObserver } from './node-server.js';

/** An id that a caller may give its request. Contract, section 2. */
export const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Headers of every answer. */
const HEADERS = new Map(
  Object.entries({
    ...headersOf(helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } })),
    // Answers carry balances, tokens and secrets: no cache between here and the caller keeps one.
    'cache-control': 'no-store',
  }),
);

/**
 * Gives each request its id, on the answer and on every log line and outgoing call, and writes one line and
 * one measurement when it is over. Contract, section 2, `X-Request-Id`.
 */
@Injectable()
export class RequestLog {
  private readonly logger: ServiceLogger['pino'];
  private readonly broken = new BoundedLogger('Request');
  private readonly strangers = new BoundedLogger('Request');

  constructor(
    private readonly metrics: Metrics,
    private readonly randomness: Randomness,
    private readonly lifecycle: Lifecycle,
    { pino }: ServiceLogger,
  ) {
    // Request lines consist of ids and numbers that are made here: there is nothing to redact.
    this.logger = pino.child({ context: 'Request' }, { redact: [] });
  }

  readonly follow: FirstHandler = (request, response, next) => {
    const offered = String(request.headers['x-request-id'] ?? '');
    const requestId = REQUEST_ID.test(offered) ? offered : this.randomness.uuid();
    const trace = newTrace(requestId);
    const started = monotonicMs();
    response.setHeaders(HEADERS).setHeader('X-Request-Id', requestId);
    // The client opens its next connection to another instance, and none is reset when the listener closes.
    if (this.lifecycle.stopping) response.setHeader('Connection', 'close');
    this.metrics.requestStarted();
    response.once('close', () => {
      runTraced(trace, () => this.conclude(request, response, trace, monotonicMs() - started));
    });
    runTraced(trace, next);
  };

  /** Gives what is no HTTP an id as well, by which its line is found. */
  readonly nameBroken: ServerObserver['nameBroken'] = (status, offered = '') => {
    const requestId = REQUEST_ID.test(offered) ? offered : this.randomness.uuid();
    this.metrics.malformedRequestRefused(status.slice(0, 3));
    runTraced(newTrace(requestId), () => this.broken.warn({ msg: 'broken HTTP refused', status }));
    return requestId;
  };

  private conclude(request: Request, response: Response, trace: Trace, durationMs: number): void {
    const route = routeOf(request);
    const outcome = outcomeOf(response, trace);
    this.metrics.requestEnded(route, outcome, durationMs);
    // The signature guard has written a line of its own, with the reason.
    if (outcome === 'INVALID_SIGNATURE') return;
    const line = {
      msg: `${route} ${outcome}`,
      route,
      outcome,
      status: response.statusCode,
      tenant: (request as { tenant?: { id: string } }).tenant?.id,
      ...trace.notes,
      durationMs: rounded(durationMs),
      parts: Object.fromEntries(Object.entries(trace.parts).map(([part, ms]) => [part, rounded(ms)])),
    };
    if (route.startsWith('GET /health') || route === 'GET /metrics') this.logger.debug(line);
    else if (isStranger(request) && response.statusCode < 500) this.strangers.info(line);
    else this.logger.info(line);
  }
}

/**
 * Whether no guard has authenticated the caller, who can then cause such lines at will. Tenants and administrators must
 * not lose theirs to a stranger's flood; a 5xx is a fault of ours.
 */
function isStranger(request: Request): boolean {
  const { tenant, actor } = request as { tenant?: unknown; actor?: unknown };
  return tenant === undefined && actor === undefined;
}

/** The route's pattern, never the path: paths have no end, and a metric's labels must. */
function routeOf({ method, route }: Request): string {
  const { path } = (route ?? {}) as { path?: string };
  return path === undefined ? 'unknown' : `${method} ${path}`;
}

function outcomeOf({ writableFinished, statusCode }: Response, { outcome }: Trace): string {
  return writableFinished ? (outcome ?? String(statusCode)) : 'CLIENT_WENT_AWAY';
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
