import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from '../runtime/clock.js';

/** What accompanies one request unseen: its id, and how long each part of it took, in milliseconds. */
export interface Trace {
  readonly requestId: string;
  readonly parts: Record<string, number>;
  /** What the request's line in the log says beside: ids to search it by, never secrets. */
  readonly notes: Record<string, string>;
  /** The code of the error that it was refused with. */
  outcome?: string;
}

const traces = new AsyncLocalStorage<Trace>();

export function newTrace(requestId: string): Trace {
  return { requestId, parts: {}, notes: {} };
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

/** Adds ids to the line that the log gets for the current request. */
export function addLogFields(notes: Readonly<Record<string, string>>): void {
  Object.assign(traces.getStore()?.notes ?? {}, notes);
}

/** Says with which code the current request is refused. */
export function refusedWith(code: string): void {
  const trace = traces.getStore();
  if (trace) trace.outcome = code;
}

/** Adds the time that the work takes to the named part of the current request. */
export function measure<T>(part: string, work: () => Promise<T>): Promise<T> {
  const startedMs = monotonicMs();
  const result = work();
  const add = () => recordDuration(part, startedMs);
  // Whoever waits for the result is told of a rejection, and after this.
  result.then(add, add);
  return result;
}

/** Adds the time since a moment of the monotonic clock to the named part of the current request. */
export function recordDuration(part: string, sinceMs: number): void {
  const parts = traces.getStore()?.parts;
  if (parts) parts[part] = (parts[part] ?? 0) + monotonicMs() - sinceMs;
}
