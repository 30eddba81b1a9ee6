import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from '../runtime/clock.js';

/** What accompanies one request unseen: its id, and how long each part of it took, in milliseconds. */
export interface Trace {
  readonly requestId: string;
  readonly parts: Record<string, number>;
}

const traces = new AsyncLocalStorage<Trace>();

export function runTraced<T>(trace: Trace, work: () => T): T {
  return traces.run(trace, work);
}

export function currentRequestId(): string | undefined {
  return traces.getStore()?.requestId;
}

/** Adds the time that the work takes to the named part of the current request. */
export async function timed<T>(part: string, work: () => Promise<T>): Promise<T> {
  const trace = traces.getStore();
  if (!trace) return work();
  const started = monotonicMs();
  try {
    return await work();
  } finally {
    trace.parts[part] = (trace.parts[part] ?? 0) + monotonicMs() - started;
  }
}
