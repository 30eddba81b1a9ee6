import { type Latency, Unmet } from './outcome.js';

/** The share of the platform's time-out that the 99th percentile may take; the rest is a reserve. */
const P99_PART = 0.5;

/** Measures how long calls take. */
export class LatencyMeter {
  private readonly durations = new Map<string, number[]>();

  /** @param nowMs Unix time in milliseconds */
  constructor(private readonly nowMs: () => number) {}

  async measure<Result>(call: string, act: () => Promise<Result>): Promise<Result> {
    const began = this.nowMs();
    const result = await act();
    const durationMs = this.nowMs() - began;
    const durations = this.durations.get(call);
    if (durations) durations.push(durationMs);
    else this.durations.set(call, [durationMs]);
    return result;
  }

  /** The latencies of each kind of call, then those of all calls together. */
  latencies(): { each: Latency[]; all: Latency } {
    const each = [...this.durations].map(([call, durations]) => latencyOf(call, durations));
    return { each, all: latencyOf('all', [...this.durations.values()].flat()) };
  }
}

/**
 * Expects that 99 of 100 calls were answered within half of the platform's time-out.
 * @param report receives the latencies of each kind of call, then those of all calls
 */
export function expectInTime(
  meter: LatencyMeter,
  timeoutMs: number,
  report: (latency: Latency) => void,
): void {
  const { each, all } = meter.latencies();
  for (const latency of [...each, all]) report(latency);
  const limitMs = timeoutMs * P99_PART;
  if (all.p99Ms > limitMs)
    throw new Unmet(
      `p99 of at most ${limitMs} ms`,
      `p50 ${all.p50Ms} ms, p95 ${all.p95Ms} ms, p99 ${all.p99Ms} ms`,
    );
}

/** @param durations in milliseconds */
function latencyOf(call: string, durations: number[]): Latency {
  const sorted = durations.toSorted((a, b) => a - b);
  const percentile = (part: number) => rounded(sorted[Math.ceil(sorted.length * part) - 1] ?? 0);
  return {
    call,
    count: sorted.length,
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
    p99Ms: percentile(0.99),
    maxMs: percentile(1),
  };
}

/** Rounds to a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
