import { monotonicMs } from '../runtime/clock.js';

/**
 * Shares the results of a computation among callers. The computation starts at most once per period, and never while it
 * is still running.
 * @param periodMs in milliseconds
 * @returns a function whose promise settles like the latest computation
 */
export function atMostEvery<T>(periodMs: number, compute: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let startedMs = 0;
  let running = false;
  return () => {
    if (latest && (running || monotonicMs() - startedMs < periodMs)) return latest;
    startedMs = monotonicMs();
    running = true;
    latest = compute().finally(() => (running = false));
    return latest;
  };
}
