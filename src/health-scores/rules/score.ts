/** Inclusive upper bounds of the latency histogram's cells, in milliseconds. One more cell counts longer calls. */
export const LATENCY_BOUNDS_MS = [
  1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000,
  15_000, 30_000,
] as const;

export const LATENCY_CELLS = LATENCY_BOUNDS_MS.length + 1;

export type WindowMinutes = 1 | 5 | 60;

export interface CallCounts {
  readonly calls: number;
  /** Calls with a valid answer. */
  readonly succeeded: number;
  readonly timeouts: number;
  /** Number of calls in each cell of the latency histogram. */
  readonly latency: readonly number[];
}

export interface WindowScore {
  readonly calls: number;
  /** 0 to 1; null if there were no calls. */
  readonly successRate: number | null;
  readonly p95Ms: number | null;
  readonly timeouts: number;
}

export const HEALTH_STATES = ['ok', 'degraded', 'open', 'paused'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** Success rate over five minutes below which a tenant is `degraded`. Contract, section 9. */
const DEGRADED_BELOW = 0.95;
const PERCENTILE = 0.95;

/** The index of the latency histogram's cell for a duration. */
export function latencyCell(durationMs: number): number {
  const cell = LATENCY_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return cell === -1 ? LATENCY_BOUNDS_MS.length : cell;
}

export function scoreOf(counts: readonly CallCounts[]): WindowScore {
  const sum = (of: (each: CallCounts) => number) => counts.reduce((total, each) => total + of(each), 0);
  const calls = sum((each) => each.calls);
  const timeouts = sum((each) => each.timeouts);
  if (calls === 0) return { calls, successRate: null, p95Ms: null, timeouts };
  const latency = Array.from({ length: LATENCY_CELLS }, (_, cell) => sum((each) => each.latency[cell] ?? 0));
  const successRate = sum(({ succeeded }) => succeeded) / calls;
  return { calls, successRate, p95Ms: percentileMs(latency, calls), timeouts };
}

/**
 * The state of a tenant. A pause takes precedence over an open breaker, and an open breaker over a low success rate.
 */
export function stateOf(
  fiveMinutes: WindowScore,
  { paused, breakerOpen }: { readonly paused: boolean; readonly breakerOpen: boolean },
): HealthState {
  if (paused) return 'paused';
  if (breakerOpen) return 'open';
  return fiveMinutes.successRate !== null && fiveMinutes.successRate < DEGRADED_BELOW ? 'degraded' : 'ok';
}

/**
 * The 95th percentile in whole milliseconds, interpolated within its cell. If it lies in the last cell, which has no
 * upper bound, the lower bound of that cell is returned.
 */
function percentileMs(latency: readonly number[], calls: number): number {
  const rank = PERCENTILE * calls;
  let below = 0;
  for (const [cell, bound] of LATENCY_BOUNDS_MS.entries()) {
    const inCell = latency[cell] ?? 0;
    if (inCell > 0 && below + inCell >= rank) {
      const from = LATENCY_BOUNDS_MS[cell - 1] ?? 0;
      return Math.round(from + ((bound - from) * (rank - below)) / inCell);
    }
    below += inCell;
  }
  return LATENCY_BOUNDS_MS.at(-1)!;
}
