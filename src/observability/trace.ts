import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from '../runtime/clock.js';
import type { ActiveSpan, Attributes } from './tracing/active-span.js';

/** What accompanies one request unseen: its id, and how long each part of it took, in milliseconds. */
export interface Trace {
  readonly requestId: string;
  readonly parts: Record<string, number>;
  /** Ids to search every line of the request by, never secrets. */
  readonly notes: Record<string, string>;
  /** Who sent the request, from where and to which route, as far as it is known when a line is written. */
  readonly origin?: () => LogFields;
  /** Present where tracing is on. */
  readonly span?: ActiveSpan | undefined;
  /** The code of the error that it was refused with. */
  outcome?: string;
}

/** Fields of a log line; those without a value are left out. */
export type LogFields = Readonly<Record<string, string | undefined>>;

const traces = new AsyncLocalStorage<Trace>();

export function newTrace(requestId: string, context: Pick<Trace, 'origin' | 'span'> = {}): Trace {
  return { requestId, parts: {}, notes: {}, ...context };
}

export function runTraced<T>(trace: Trace, work: () => T): T {
  return traces.run(trace, work);
}

/** Runs work that belongs to no request, though a request may have caused it. */
export function runUntraced<T>(work: () => T): T {
  return traces.exit(work);
}

export function currentRequestId(): string | undefined {
  return traces.getStore()?.requestId;
}

/** Headers by which a counterpart continues the current trace; none where tracing is off. */
export function traceHeaders(): Readonly<Record<string, string>> {
  return traces.getStore()?.span?.headers() ?? {};
}

/** What every log line of the current request says. */
export function currentLogFields(): LogFields {
  const trace = traces.getStore();
  if (!trace) return {};
  const { requestId, origin, notes, span } = trace;
  return { requestId, ...(span && { traceId: span.traceId }), ...origin?.(), ...notes };
}

/** Adds ids to the log lines that the current request still writes. */
export function addLogFields(notes: Readonly<Record<string, string>>): void {
  Object.assign(traces.getStore()?.notes ?? {}, notes);
}

/** Says with which code the current request is refused. */
export function refusedWith(code: string): void {
  const trace = traces.getStore();
  if (trace) trace.outcome = code;
}

/** Adds the time that the work takes to the named part of the current request, and a span of it to its trace. */
export function measure<T>(part: string, work: () => Promise<T>): Promise<T> {
  const startedMs = monotonicMs();
  const result = work();
  const add = () => recordDuration(part, startedMs);
  // Whoever waits for the result is told of a rejection, and after this.
  result.then(add, add);
  return result;
}

/**
 * Measures a call to a counterpart, which continues the trace below a span of its own.
 * @param describe the span's attributes, from the result; undefined if the call threw
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

/** Adds the time since a moment of the monotonic clock to the named part of the current request, and a span of it. */
export function recordDuration(part: string, sinceMs: number): void {
  const trace = traces.getStore();
  if (!trace) return;
  addDuration(trace, part, sinceMs);
  trace.span?.record(part, sinceMs, monotonicMs());
}

function addDuration({ parts }: Trace, part: string, sinceMs: number): void {
  parts[part] = (parts[part] ?? 0) + monotonicMs() - sinceMs;
}
