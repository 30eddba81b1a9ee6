import { ApiProperty } from '@nestjs/swagger';
import { columnsOf } from '../api/lists/item.js';
import { type Columns, listOf } from '../api/lists/list.js';
import type { TenantKind } from '../tenancy/tenant.js';
import { HEALTH_STATES, type HealthState, type WindowScore } from './rules/score.js';

export class HealthWindow implements WindowScore {
  @ApiProperty({ type: 'integer', example: 1200 })
  calls: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    minimum: 0,
    maximum: 1,
    example: 0.9975,
    description: 'the share of calls with a valid answer; null if there were no calls',
  })
  successRate: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 84,
    description: '95th percentile of the latency, interpolated; null if there were no calls',
  })
  p95Ms: number | null;

  @ApiProperty({ type: 'integer', example: 3 })
  timeouts: number;
}

export class HealthWindows {
  @ApiProperty({ type: HealthWindow })
  '1': HealthWindow;

  @ApiProperty({ type: HealthWindow })
  '5': HealthWindow;

  @ApiProperty({ type: HealthWindow })
  '60': HealthWindow;
}

export class HealthScoreResponse {
  @ApiProperty({
    enum: HEALTH_STATES,
    example: 'ok',
    description:
      '`open`: a breaker is open at an instance; `degraded`: a success rate below 0.95 over 5 minutes. If ' +
      'several apply, the first of paused, open, degraded and ok is shown',
  })
  state: HealthState;

  @ApiProperty({ type: HealthWindows, description: 'the last 1, 5 and 60 minutes, at all instances' })
  windows: HealthWindows;
}

export class HealthScoreItem extends HealthScoreResponse {
  @ApiProperty({ enum: ['PROVIDER', 'OPERATOR'], example: 'OPERATOR' })
  kind: TenantKind;

  @ApiProperty({ example: 'sandbox-operator' })
  id: string;
}

export const HEALTH_SCORE_COLUMNS: Columns<HealthScoreItem> = {
  kind: true,
  id: true,
  ...columnsOf(HealthScoreResponse),
};

export class HealthScoreListResponse extends listOf(HealthScoreItem) {}
