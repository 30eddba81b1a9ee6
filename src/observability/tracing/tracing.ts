import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import { newTrace, runTraced } from '../trace.js';
import { ActiveSpan } from './active-span.js';

/** A tracer provider that exports its spans. */
export interface ExportingProvider extends TracerProvider {
  /** Exports the waiting spans. Never rejects, and ends within two seconds. */
  shutdown(): Promise<void>;
}

/** Starts the root spans of requests and background work. Without a provider, tracing is off. Contract, section 10. */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  constructor(private readonly provider?: ExportingProvider) {}

  /**
   * Starts the span of a request. If the request has a valid `traceparent`, the span continues the caller's trace.
   * @returns undefined if tracing is off
   */
  startRequest(headers: IncomingHttpHeaders): ActiveSpan | undefined {
    return this.provider && this.start(this.provider, 'request', SpanKind.SERVER, callersContext(headers));
  }

  /**
   * Runs background work, in a span of its own if tracing is on.
   * @param requestId identifies the work in its log lines and outgoing calls, like the id of a request
   * @param fields fields of the work's log lines and span
   */
  async runWork<T>(
    name: string,
    requestId: string,
    fields: Readonly<Record<string, string>>,
    work: () => Promise<T>,
  ): Promise<T> {
    const span = this.provider && this.start(this.provider, name, SpanKind.INTERNAL, ROOT_CONTEXT);
    const trace = newTrace(requestId, { span, origin: () => fields });
    try {
      return await runTraced(trace, work);
    } finally {
      const ids = Object.entries(fields).map(([field, value]) => [`croupier.${field}`, value] as const);
      span?.end({ 'croupier.requestId': requestId, ...Object.fromEntries(ids) });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.provider?.shutdown();
  }

  private start(provider: TracerProvider, name: string, kind: SpanKind, parent: Context): ActiveSpan {
    const tracer = provider.getTracer('croupier');
    const span = tracer.startSpan(name, { kind }, parent);
    return new ActiveSpan(tracer, span, trace.setSpan(parent, span));
  }
}

/** W3C Trace Context, level 1: later versions may append fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
/** Longest tracestate that is passed on, in characters. W3C recommends passing on at least this many. */
const LONGEST_STATE = 512;

/** An invalid header counts as absent. */
function callersContext({ traceparent, tracestate }: IncomingHttpHeaders): Context {
  if (typeof traceparent !== 'string') return ROOT_CONTEXT;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const state = typeof tracestate === 'string' && tracestate.length <= LONGEST_STATE ? tracestate : '';
  const context = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(state && { traceState: createTraceState(state) }),
  };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}
