import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace as spans,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from '../runtime/clock.js';

/** A request id that is accepted from a caller. Contract, section 2. */
export const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The context of one request or one piece of background work: its id, its log fields, and the duration of each of its
 * parts, in milliseconds.
 */
export interface Trace {
  readonly requestId: string;
  readonly parts: Record<string, number>;
  /** Fields added to the request's log lines by `addLogFields`, mostly ids; never secrets. */
  readonly fields: Record<string, string>;
  /**
   * The sender, address and route of the request, as far as they are known when a line is written. For background work,
   * the fields that identify the work.
   */
  origin?: () => LogFields;
  /** Present if tracing is on. */
  readonly span?: ActiveSpan | undefined;
  /** The error code with which the request was refused. */
  outcome?: string;
}

/** Fields of a log line; those without a value are left out. */
export type LogFields = Readonly<Record<string, string | undefined>>;

const traces = new AsyncLocalStorage<Trace>();

export function newTrace(requestId: string, context: Pick<Trace, 'origin' | 'span'> = {}): Trace {
  return { requestId, parts: {}, fields: {}, ...context };
}

export function runTraced<T>(trace: Trace, work: () => T): T {
  return traces.run(trace, work);
}

/** Runs work without the trace of a request, even if a request caused the work. */
export function runUntraced<T>(work: () => T): T {
  return traces.exit(work);
}

/** Returns the work so that it runs with the current trace, even if work of another request starts it. */
export function withCurrentTrace<T>(work: () => T): () => T {
  const trace = traces.getStore();
  return () => (trace ? traces.run(trace, work) : traces.exit(work));
}

export function currentRequestId(): string | undefined {
  return traces.getStore()?.requestId;
}

/** Headers with which a counterpart continues the current trace; none if tracing is off. */
export function traceHeaders(): Readonly<Record<string, string>> {
  return traces.getStore()?.span?.headers() ?? {};
}

export function currentLogFields(): LogFields {
  const trace = traces.getStore();
  if (!trace) return {};
  const { requestId, origin, fields, span } = trace;
  return { requestId, ...(span && { traceId: span.traceId }), ...origin?.(), ...fields };
}

/** Adds fields, mostly ids, to the later log lines of the current request. */
export function addLogFields(fields: Readonly<Record<string, string>>): void {
  Object.assign(traces.getStore()?.fields ?? {}, fields);
}

export function refusedWith(code: string): void {
  const trace = traces.getStore();
  if (trace) trace.outcome = code;
}

/** Adds the duration of the work to the named part of the current request, and a span to its trace. */
export function measure<T>(part: string, work: () => Promise<T>): Promise<T> {
  const startedMs = monotonicMs();
  const result = work();
  const add = () => recordDuration(part, startedMs);
  // `add` also runs after a rejection. The caller still gets the rejection, from the returned promise.
  result.then(add, add);
  return result;
}

/**
 * Measures a call to a counterpart, in a span that the counterpart continues.
 * @param describe computes the span's attributes from the result, which is undefined if `work` rejected
 */
export function measureCall<T>(
  part: string,
  work: () => Promise<T>,
  describe: (result: T | undefined) => Attributes,
): Promise<T> {
  const trace = traces.getStore();
  const span = trace?.span?.startCall(part);
  if (!trace || !span) return measure(part, work);
  const startedMs = monotonicMs();
  const result = traces.run({ ...trace, span }, work);
  const end = (value?: T) => {
    addDuration(trace, part, startedMs);
    span.end(describe(value));
  };
  result.then(end, () => end());
  return result;
}

/**
 * Adds the time since a moment of the monotonic clock to the named part of the current request, and a span to its
 * trace.
 */
export function recordDuration(part: string, sinceMs: number): void {
  const trace = traces.getStore();
  if (!trace) return;
  addDuration(trace, part, sinceMs);
  trace.span?.record(part, sinceMs, monotonicMs());
}

function addDuration({ parts }: Trace, part: string, sinceMs: number): void {
  parts[part] = (parts[part] ?? 0) + monotonicMs() - sinceMs;
}

/** A span that has not ended, and can have child spans. Instants are milliseconds of the monotonic clock. */
export class ActiveSpan {
  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
    private readonly context: Context,
  ) {}

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  /** W3C Trace Context headers for the counterpart that is called within this span. */
  headers(): Record<string, string> {
    const { traceId, spanId, traceFlags, traceState } = this.span.spanContext();
    const sampled = (traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01';
    const state = traceState?.serialize();
    return { traceparent: `00-${traceId}-${spanId}-${sampled}`, ...(state && { tracestate: state }) };
  }

  /** Starts a span for a call to a counterpart. If the trace is not sampled, returns undefined, which costs nothing. */
  startCall(name: string): ActiveSpan | undefined {
    if (!this.span.isRecording()) return undefined;
    const span = this.tracer.startSpan(name, { kind: SpanKind.CLIENT }, this.context);
    return new ActiveSpan(this.tracer, span, spans.setSpan(this.context, span));
  }

  record(name: string, startedMs: number, endedMs: number): void {
    if (!this.span.isRecording()) return;
    this.tracer.startSpan(name, { startTime: startedMs }, this.context).end(endedMs);
  }

  get recording(): boolean {
    return this.span.isRecording();
  }

  /** @param failed whether the span ended with a fault of Croupier or a counterpart; a refusal is no fault */
  end(attributes: Attributes, { name, failed = false }: { name?: string; failed?: boolean } = {}): void {
    if (name !== undefined) this.span.updateName(name);
    if (failed) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.setAttributes(attributes).end();
  }
}
