import { Injectable, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Metrics } from '../observability/metrics.js';
import { newTrace, runTraced, type Trace } from '../observability/trace.js';
import { monotonicMs } from '../runtime/clock.js';
import { Randomness } from '../runtime/randomness.js';

const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Gives each request its id, on the answer and on every log line and outgoing call, and writes one line and
 * one measurement when it is over. Contract, section 2, `X-Request-Id`.
 */
@Injectable()
export class RequestLog {
  private readonly logger = new Logger('Request');

  constructor(
    private readonly metrics: Metrics,
    private readonly randomness: Randomness,
  ) {}

  readonly follow = (request: Request, response: Response, next: NextFunction): void => {
    const offered = request.get('X-Request-Id') ?? '';
    const requestId = SANE_REQUEST_ID.test(offered) ? offered : this.randomness.uuid();
    const trace = newTrace(requestId);
    const started = monotonicMs();
    response.setHeader('X-Request-Id', requestId);
    // Answers carry balances, tokens and secrets: no cache between here and the caller keeps one.
    response.setHeader('Cache-Control', 'no-store');
    this.metrics.requestsInFlight.inc();
    response.once('close', () => {
      this.metrics.requestsInFlight.dec();
      runTraced(trace, () => this.conclude(request, response, trace, monotonicMs() - started));
    });
    runTraced(trace, next);
  };

  private conclude(request: Request, response: Response, trace: Trace, durationMs: number): void {
    const route = routeOf(request);
    const outcome = outcomeOf(response);
    this.metrics.requests.inc({ route, outcome });
    this.metrics.requestSeconds.observe({ route }, durationMs / 1000);
    // Strangers cause these at will: the signature's own bounded log tells of them.
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
    else this.logger.log(line);
  }
}

/** The route's pattern, never the path: paths have no end, and a metric's labels must. */
function routeOf(request: Request): string {
  const path = (request as { route?: { path?: string } }).route?.path;
  return path === undefined ? 'unknown' : `${request.method} ${path}`;
}

function outcomeOf(response: Response): string {
  if (!response.writableFinished) return 'CLIENT_WENT_AWAY';
  const outcome: unknown = response.locals['outcome'];
  return typeof outcome === 'string' ? outcome : String(response.statusCode);
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
