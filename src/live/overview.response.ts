import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ATTENTION_KINDS, type AttentionKind } from '../attention/attention.js';
import { HEALTH_STATES, type HealthState } from '../health-scores/rules/score.js';
import { PauseResponse } from '../tenancy/pauses/pause.response.js';
import type { RunningInstance } from './instance.store.js';

/** Contract, section 9, "Live view". */
export class OverviewMinute {
  @ApiProperty({ description: 'the start of the minute' })
  minute: Date;

  @ApiProperty({
    type: 'integer',
    example: 120,
    description: 'BETs that providers submitted, whatever their outcome',
  })
  bets: number;

  @ApiProperty({ type: 'integer', example: 70, description: 'WINs that providers submitted' })
  wins: number;

  @ApiProperty({ type: 'integer', example: 1, description: 'ROLLBACKs that providers submitted' })
  rollbacks: number;

  @ApiProperty({ type: 'integer', example: 4, description: 'settled as DECLINED in this minute' })
  declined: number;

  @ApiProperty({ type: 'integer', example: 0, description: 'TIMED_OUT after the first attempt' })
  undecided: number;

  @ApiProperty({
    type: 'integer',
    example: 2,
    description: 'signed requests that were refused before an attempt',
  })
  refused: number;
}

export class OverviewAmounts {
  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiProperty({
    type: 'integer',
    example: 125_000,
    description: 'approved BETs, without those that were rolled back; at most 2^53−1',
  })
  betMinor: number;

  @ApiProperty({ type: 'integer', example: 118_250, description: 'approved WINs; at most 2^53−1' })
  winMinor: number;
}

export class OverviewTenant {
  @ApiProperty({ example: 'sandbox-operator' })
  id: string;

  @ApiProperty({ example: 'Sandbox operator' })
  name: string;

  @ApiProperty({ enum: HEALTH_STATES, example: 'ok' })
  state: HealthState;

  @ApiProperty({
    type: 'number',
    nullable: true,
    minimum: 0,
    maximum: 1,
    example: 0.9975,
    description: 'the share of calls with a valid answer in the last 5 minutes; null if there were no calls',
  })
  successRate: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 84,
    description: '95th percentile of the latency in the last 5 minutes; null if there were no calls',
  })
  p95Ms: number | null;

  @ApiProperty({ type: 'integer', example: 190, description: 'calls to it in the last minute' })
  perMinute: number;

  @ApiProperty({
    type: 'integer',
    example: 0,
    description: 'its PENDING and TIMED_OUT transactions, also those that are parked',
  })
  undecided: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: null,
    description: 'since the oldest of them was first claimed; null if there are none',
  })
  oldestUndecidedSeconds: number | null;

  @ApiPropertyOptional({ type: PauseResponse, description: 'absent: not paused' })
  pause?: PauseResponse;
}

export class OverviewInstance implements RunningInstance {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: '1.0.0', description: 'the version of the service' })
  version: string;

  @ApiProperty({ description: 'when its process started' })
  startedAt: Date;

  @ApiProperty({ example: true, description: 'whether it answers `GET /health/ready` with 200' })
  ready: boolean;
}

export class OverviewResponse {
  @ApiProperty({ description: 'when the overview was read' })
  at: Date;

  @ApiProperty({ type: [OverviewMinute], description: 'The last 60 minutes, oldest first' })
  perMinute: OverviewMinute[];

  @ApiProperty({ type: [OverviewAmounts], description: 'Sums of the last 60 minutes, by currency' })
  amounts: OverviewAmounts[];

  @ApiProperty({
    type: [OverviewTenant],
    description: 'Every operator, ordered by id; the calls are those to its wallet',
  })
  operators: OverviewTenant[];

  @ApiProperty({
    type: [OverviewTenant],
    description: 'Every provider, ordered by id; the calls are the callbacks to it',
  })
  providers: OverviewTenant[];

  @ApiProperty({ type: 'integer', example: 0, description: 'transactions that wait for a person' })
  parked: number;

  @ApiProperty({ type: 'integer', example: 0, description: 'approvals that are WAITING' })
  approvalsWaiting: number;

  @ApiProperty({
    type: 'object',
    description: 'The number of OPEN items of each kind',
    properties: Object.fromEntries(
      ATTENTION_KINDS.map((kind) => [
        kind,
        { type: 'integer', example: 0, description: `OPEN items of the kind \`${kind}\`` },
      ]),
    ),
    required: [...ATTENTION_KINDS],
    selfRequired: true,
  })
  attention: Readonly<Record<AttentionKind, number>>;

  @ApiProperty({ type: [OverviewInstance], description: 'The running instances, the oldest first' })
  instances: OverviewInstance[];
}
