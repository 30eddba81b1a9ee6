import { Injectable, Logger } from '@nestjs/common';
import { DatabaseClock } from '../database/database-clock.js';
import { CroupierError } from '../errors/croupier-error.js';
import { pageById, type PageOf, type PageQuery } from '../api/lists/page.js';
import { Background } from '../runtime/background.js';
import type { BackgroundLoop } from '../runtime/background-loop.js';
import { Instance } from '../runtime/instance.js';
import { nounOf, type Tenant, type TenantKind } from '../tenancy/tenant.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import { type CallResult, CallsOfPeriod } from './calls-of-period.js';
import { type CallsWithin, HealthPeriodStore } from './health-period.store.js';
import type { HealthScoreItem, HealthScoreResponse } from './health-score.response.js';
import { type HealthState, scoreOf, stateOf, type WindowMinutes, type WindowScore } from './rules/score.js';

/** Interval at which an instance shares its calls, in milliseconds, so that a score is at most 5 s old. */
const SHARE_MS = 2_000;
/**
 * Length of a period, in milliseconds. A score of the last 5 minutes covers the periods that began in them, to within 5 s.
 */
const PERIOD_MS = 10_000;
/** Maximum number of periods kept while the database is unavailable; older ones are dropped. */
const MAX_PERIODS = 30;
/** Maximum number of rows removed at once: the instances merge 10,000 rows in a period for 10,000 tenants. */
const ROWS_PER_REMOVAL = 20_000;
/** How long a stop waits until the sharing that is under way has ended, in milliseconds. */
const STOP_MS = 1_000;

/** The health of one tenant in the last 5 minutes. */
export interface CurrentHealth {
  readonly tenant: Tenant;
  readonly state: HealthState;
  readonly fiveMinutes: WindowScore;
  /** Number of calls in the last minute. */
  readonly perMinute: number;
}

/**
 * Health scores of operators and providers over all instances. Each instance counts its own calls in memory and shares
 * them through the database. Contract, section 9, "Health and pauses".
 */
@Injectable()
export class HealthScores {
  private readonly logger = new Logger('HealthScores');
  /** The periods that are not fully shared yet; the last one is the current period. */
  private periods: CallsOfPeriod[];
  /** When the periods began that are shared, but not merged yet. */
  private unmerged: Date[] = [];
  private openBreakers: () => Iterable<string> = () => [];
  private readonly loop: BackgroundLoop;
  private readonly mergeLoop: BackgroundLoop;

  constructor(
    private readonly instance: Instance,
    private readonly databaseClock: DatabaseClock,
    private readonly tenancy: TenancyService,
    private readonly store: HealthPeriodStore,
    background: Background,
  ) {
    this.periods = [new CallsOfPeriod(databaseClock.now())];
    this.loop = background.add({
      name: 'share the calls that health scores count',
      intervalMs: SHARE_MS,
      stopMs: STOP_MS,
      work: () => this.pass(),
      onError: (detail) =>
        this.logger.warn({ msg: 'the calls of this instance are missing from the health scores', detail }),
    });
    // A loop of its own: a merge waits for those of other instances, and meanwhile calls and open breakers are shared.
    this.mergeLoop = background.add({
      name: 'merge the calls of all instances',
      intervalMs: PERIOD_MS,
      stopMs: STOP_MS,
      work: () => this.mergeAll(),
      onError: (detail) =>
        this.logger.warn({
          msg: 'calls that health scores count are not merged; they count all the same',
          detail,
        }),
    });
  }

  /** Counts a finished call to an operator's wallet, or a finished callback to a provider. */
  callEnded(tenantId: string, outcome: CallResult, durationMs: number): void {
    this.periods.at(-1)!.record(tenantId, outcome, durationMs);
  }

  /**
   * Registers the source of open breakers.
   * @param read returns the operators whose breaker is open at this instance
   */
  readOpenBreakersFrom(read: () => Iterable<string>): void {
    this.openBreakers = read;
  }

  /** Shares the calls counted so far. Never rejects. */
  share(): Promise<void> {
    return this.loop.run();
  }

  /** Merges the calls of periods that are over. Never rejects. */
  merge(): Promise<void> {
    return this.mergeLoop.run();
  }

  /** @throws CroupierError NOT_FOUND */
  async find(kind: TenantKind, id: string): Promise<HealthScoreResponse> {
    const tenant = kind === 'OPERATOR' ? this.tenancy.operator(id) : this.tenancy.provider(id);
    if (!tenant) throw new CroupierError('NOT_FOUND', `no such ${nounOf(kind)}`);
    const [score] = await this.scoresOf([tenant]);
    const { state, windows } = score!;
    return { state, windows };
  }

  /**
   * One page of the scores of all operators and providers, ordered by id.
   * @throws CroupierError INVALID_REQUEST
   */
  async list(query: PageQuery): Promise<PageOf<HealthScoreItem>> {
    const { items, ...page } = await pageById(
      query,
      async ({ after, limit }) =>
        this.tenancy
          .tenants()
          .filter(({ id }) => id > after)
          .slice(0, limit),
      ({ id }) => id,
    );
    return { items: await this.scoresOf(items), ...page };
  }

  /** The scores of all operators and providers in the last 5 minutes, ordered by id; it reads no older calls. */
  async current(): Promise<CurrentHealth[]> {
    const tenants = this.tenancy.tenants();
    const calls = await this.callsOf(tenants, 5);
    return tenants.map((tenant) => {
      const own = calls.get(tenant.id) ?? [];
      const fiveMinutes = scoreOf(own);
      const state = this.stateOf(tenant, own, fiveMinutes);
      const perMinute = scoreOf(own.filter(({ minutes }) => minutes === 1)).calls;
      return { tenant, state, fiveMinutes, perMinute };
    });
  }

  private async scoresOf(tenants: readonly Tenant[]): Promise<HealthScoreItem[]> {
    const calls = await this.callsOf(tenants, 60);
    return tenants.map((tenant) => {
      const own = calls.get(tenant.id) ?? [];
      const within = (window: WindowMinutes) => scoreOf(own.filter(({ minutes }) => minutes <= window));
      const windows = { 1: within(1), 5: within(5), 60: within(60) };
      const { kind, id } = tenant;
      return { kind, id, state: this.stateOf(tenant, own, windows[5]), windows };
    });
  }

  /** The calls of the last `minutes` by tenant. */
  private async callsOf(tenants: readonly Tenant[], minutes: WindowMinutes) {
    const byTenant = new Map<string, CallsWithin[]>(tenants.map(({ id }) => [id, []]));
    for (const calls of await this.store.read([...byTenant.keys()], minutes)) {
      byTenant.get(calls.tenantId)?.push(calls);
    }
    return byTenant;
  }

  private stateOf(
    { kind, id }: Tenant,
    calls: readonly CallsWithin[],
    fiveMinutes: WindowScore,
  ): HealthState {
    return stateOf(fiveMinutes, {
      paused: this.tenancy.pause(kind, id) !== undefined,
      breakerOpen: calls.some(({ breakerOpen }) => breakerOpen),
    });
  }

  /** Starts a new period if the current one is over, shares all periods and drops all but the current one. */
  private async pass(): Promise<void> {
    const now = this.databaseClock.now();
    const current = this.periods.at(-1)!;
    if (now.getTime() - current.startedAt.getTime() >= PERIOD_MS) {
      this.periods = [...this.periods.slice(1 - MAX_PERIODS), new CallsOfPeriod(now)];
    }
    for (const period of this.periods.slice()) {
      const isCurrent = period === this.periods.at(-1);
      const counts = period.unshared(new Set(isCurrent ? this.openBreakers() : []));
      if (counts.length > 0) await this.store.share(this.instance.id, period.startedAt, counts);
      period.markShared(counts);
      if (isCurrent) continue;
      this.periods = this.periods.filter((other) => other !== period);
      this.unmerged = [...this.unmerged.slice(1 - MAX_PERIODS), period.startedAt];
    }
  }

  private async mergeAll(): Promise<void> {
    for (const startedAt of this.unmerged) {
      await this.store.merge(this.instance.id, startedAt);
      this.unmerged = this.unmerged.filter((other) => other !== startedAt);
    }
    await this.store.removeOld(ROWS_PER_REMOVAL);
  }
}
