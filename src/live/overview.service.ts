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
import { perTenant, type Undecided } from './undecided-per-tenant.js';

/**
 * How long readers share an overview, in milliseconds. Together with the two seconds in which instances share their
 * counts, an overview is at most 5 s old.
 */
const SHARED_MS = 2_000;

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
    const undecidedOf = {
      OPERATOR: perTenant(undecided, ({ operatorId }) => operatorId),
      PROVIDER: perTenant(undecided, ({ providerId }) => providerId),
    };
    const ofKind = (wanted: TenantKind) =>
      health
        .filter(({ tenant: { kind } }) => kind === wanted)
        .map((each) => this.tenant(each, undecidedOf[wanted].get(each.tenant.id)));
    return {
      at,
      perMinute,
      amounts,
      operators: ofKind('OPERATOR'),
      providers: ofKind('PROVIDER'),
      parked: undecided.reduce((sum, { parked, count }) => (parked ? sum + count : sum), 0),
      approvalsWaiting,
      attention,
      instances,
    };
  }

  private tenant(
    { tenant: { kind, id, name }, state, fiveMinutes, perMinute }: CurrentHealth,
    undecided: Undecided | undefined,
  ): OverviewTenant {
    const { successRate, p95Ms } = fiveMinutes;
    const pause = this.tenancy.pause(kind, id);
    return {
      id,
      name,
      state,
      successRate,
      p95Ms,
      perMinute,
      undecided: undecided?.count ?? 0,
      oldestUndecidedSeconds: undecided ? Math.floor(undecided.oldestSeconds) : null,
      ...(pause && { pause: answerOf(PauseResponse, pause) }),
    };
  }
}
