import { Injectable } from '@nestjs/common';
import { answerOf } from '../api/answer.js';
import { ApprovalsService } from '../approvals/approvals.service.js';
import { AttentionService } from '../attention/attention.service.js';
import { DatabaseClock } from '../database/database-clock.js';
import { type CurrentHealth, HealthScores } from '../health-scores/health-scores.service.js';
import { atMostEvery } from '../observability/at-most-every.js';
import { PauseResponse } from '../tenancy/pauses/pause.response.js';
import { TenancyService } from '../tenancy/tenancy.service.js';
import type { TenantKind } from '../tenancy/tenant.js';
import { Activity } from '../wallet/activity/activity.service.js';
import { UndecidedCounts } from '../wallet/resolving/undecided-counts.js';
import { Instances } from './instances.service.js';
import type { OverviewResponse, OverviewTenant } from './overview.response.js';

/**
 * How long readers share an overview, in milliseconds. Together with the two seconds in which instances share their
 * counts, an overview is at most 5 s old.
 */
const SHARED_MS = 2_000;

type UndecidedCount = Awaited<ReturnType<UndecidedCounts['read']>>[number];

/**
 * What happens at all instances, from what they have counted, and from tables and partial indexes that do not grow with
 * the transactions stored. Contract, section 9, "Live view".
 */
@Injectable()
export class Overview {
  /** Computed once for all readers of this instance. */
  readonly read = atMostEvery(SHARED_MS, () => this.compute());

  constructor(
    private readonly databaseClock: DatabaseClock,
    private readonly activity: Activity,
    private readonly health: HealthScores,
    private readonly tenancy: TenancyService,
    private readonly undecidedCounts: UndecidedCounts,
    private readonly approvals: ApprovalsService,
    private readonly attention: AttentionService,
    private readonly instances: Instances,
  ) {}

  private async compute(): Promise<OverviewResponse> {
    const at = this.databaseClock.now();
    const [perMinute, amounts, health, undecided, approvalsWaiting, attention, instances] = await Promise.all(
      [
        this.activity.perMinute(),
        this.activity.amounts(),
        this.health.current(),
        this.undecidedCounts.read(),
        this.approvals.countWaiting(),
        this.attention.openByKind(),
        this.instances.running(),
      ],
    );
    const ofKind = (wanted: TenantKind) =>
      health.filter(({ tenant: { kind } }) => kind === wanted).map((each) => this.tenant(each, undecided));
    return {
      at,
      perMinute,
      amounts,
      operators: ofKind('OPERATOR'),
      providers: ofKind('PROVIDER'),
      parked: sumOf(undecided.filter(({ parked }) => parked)),
      approvalsWaiting,
      attention,
      instances,
    };
  }

  private tenant(
    { tenant: { kind, id, name }, state, fiveMinutes, perMinute }: CurrentHealth,
    counts: readonly UndecidedCount[],
  ): OverviewTenant {
    const own = counts.filter(
      ({ operatorId, providerId }) => (kind === 'OPERATOR' ? operatorId : providerId) === id,
    );
    const { successRate, p95Ms } = fiveMinutes;
    const pause = this.tenancy.pause(kind, id);
    return {
      id,
      name,
      state,
      successRate,
      p95Ms,
      perMinute,
      undecided: sumOf(own),
      oldestUndecidedSeconds:
        own.length > 0 ? Math.floor(Math.max(...own.map(({ oldestSeconds }) => oldestSeconds))) : null,
      ...(pause && { pause: answerOf(PauseResponse, pause) }),
    };
  }
}

function sumOf(counts: readonly UndecidedCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}
