import type { Latency } from './outcome.js';

/** Measures how long calls take. */
export class LatencyMeter {
  private readonly durations = new Map<string, number[]>();

  /** @param nowMs Unix time in milliseconds */
  constructor(private readonly nowMs: () => number) {}

  async measure<Result>(call: string, act: () => Promise<Result>): Promise<Result> {
    const began = this.nowMs();
    const result = await act();
    this.durations.set(call, [...(this.durations.get(call) ?? []), this.nowMs() - began]);
    return result;
  }

  /** The latencies of each kind of call, then those of all calls together. */
  latencies(): { each: Latency[]; all: Latency } {
    const each = [...this.durations].map(([call, durations]) => latencyOf(call, durations));
    return { each, all: latencyOf('all', [...this.durations.values()].flat()) };
  }
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
