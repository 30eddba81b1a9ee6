import { type CallCounts, LATENCY_CELLS, latencyCell } from './rules/score.js';

/** The result of a call: a valid answer, a time-out, or any other failure. */
export type CallResult = 'succeeded' | 'timeout' | 'failed';

/** The counts of the calls to one tenant in one period, as they are shared with the other instances. */
export interface PeriodCounts extends CallCounts {
  readonly tenantId: string;
  readonly breakerOpen: boolean;
}

interface Counts {
  calls: number;
  succeeded: number;
  timeouts: number;
  readonly latency: number[];
  /** Number of the calls that have been shared so far. */
  sharedCalls: number;
  /** Whether the tenant's breaker was open when its calls were last shared. */
  sharedOpen: boolean;
}

/** This instance's calls within one period, by tenant. */
export class CallsOfPeriod {
  private readonly tenants = new Map<string, Counts>();

  /** @param startedAt by the database's clock */
  constructor(readonly startedAt: Date) {}

  record(tenantId: string, outcome: CallResult, durationMs: number): void {
    const counts = this.countsOf(tenantId);
    counts.calls += 1;
    if (outcome === 'succeeded') counts.succeeded += 1;
    if (outcome === 'timeout') counts.timeouts += 1;
    counts.latency[latencyCell(durationMs)]! += 1;
  }

  /** The counts of each tenant that has new calls, or whose breaker is open or was last shared as open. */
  unshared(openBreakers: ReadonlySet<string>): PeriodCounts[] {
    for (const operatorId of openBreakers) this.countsOf(operatorId);
    return [...this.tenants]
      .filter(
        ([tenantId, { calls, sharedCalls, sharedOpen }]) =>
          calls > sharedCalls || sharedOpen || openBreakers.has(tenantId),
      )
      .map(([tenantId, { calls, succeeded, timeouts, latency }]) => ({
        tenantId,
        calls,
        succeeded,
        timeouts,
        latency: [...latency],
        breakerOpen: openBreakers.has(tenantId),
      }));
  }

  /** Records that these counts, returned by `unshared`, were stored. */
  markShared(stored: readonly PeriodCounts[]): void {
    for (const { tenantId, calls, breakerOpen } of stored) {
      const counts = this.countsOf(tenantId);
      counts.sharedCalls = calls;
      counts.sharedOpen = breakerOpen;
    }
  }

  private countsOf(tenantId: string): Counts {
    let counts = this.tenants.get(tenantId);
    if (!counts) {
      const latency = new Array<number>(LATENCY_CELLS).fill(0);
      counts = { calls: 0, succeeded: 0, timeouts: 0, latency, sharedCalls: 0, sharedOpen: false };
      this.tenants.set(tenantId, counts);
    }
    return counts;
  }
}
