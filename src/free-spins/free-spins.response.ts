import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Columns } from '../http/lists/list.js';
import type { Grant, GrantState } from './grant.entity.js';
import { STATES } from './free-spins.request.js';
import type { Winnings } from './winnings/winnings.store.js';

export class GrantFailure {
  @ApiPropertyOptional({
    type: 'integer',
    example: 422,
    description: "The provider's HTTP status, where it answered",
  })
  status?: number;

  @ApiProperty({ example: 'the provider answered 422' })
  error: string;

  @ApiProperty({ description: 'Whether the provider may have booked it all the same' })
  outcomeUnknown: boolean;
}

export class GrantResponse {
  @ApiProperty({ example: 'summer-2026-player-42' })
  requestRef: string;

  @ApiProperty({ enum: STATES, example: 'GRANTED' })
  state: GrantState;

  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;

  @ApiProperty({ example: 'sandbox-provider' })
  providerId: string;

  @ApiProperty({ example: 'player-42' })
  playerRef: string;

  @ApiProperty({ example: 'sandbox-slots' })
  gameId: string;

  @ApiProperty({ type: 'integer', example: 10 })
  spins: number;

  @ApiProperty({ type: 'integer', example: 20, description: "Minor units; 0: the provider's default stake" })
  betAmountMinor: number;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiPropertyOptional({
    example: 'spins-7',
    description: "The provider's name for it; a WIN's freeSpinsRef",
  })
  externalRef?: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 9,
    description: 'As the provider said at statusCheckedAt',
  })
  remainingSpins?: number;

  @ApiPropertyOptional({ description: 'As the provider said at statusCheckedAt' })
  completed?: boolean;

  @ApiPropertyOptional({ format: 'date-time' })
  statusCheckedAt?: string;

  @ApiPropertyOptional({ type: GrantFailure, description: 'Of a FAILED grant' })
  failure?: GrantFailure;

  @ApiPropertyOptional({ description: 'Why the last cancel failed, such as `the provider answered 503`' })
  lastCancelError?: string;

  @ApiPropertyOptional({ format: 'uuid' })
  batchId?: string;

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt: string;
}

export class WinningsResponse {
  @ApiProperty({ type: 'integer', example: 3, description: 'Booked WINs of real money that name the grant' })
  count: number;

  @ApiPropertyOptional({
    type: 'integer',
    example: 450,
    description: "Minor units of the grant's currency; absent where the sum is beyond 2^53−1",
  })
  totalMinor?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Where there are any: WINs that name it and are in the list of flagged winnings',
  })
  flagged?: number;
}

export class DetailedGrantResponse extends GrantResponse {
  @ApiProperty({ type: WinningsResponse })
  winnings: WinningsResponse;
}

/** The columns of an export; a failure stands in one of them, as JSON. */
export const GRANT_COLUMNS: Columns<GrantResponse> = {
  requestRef: true,
  state: true,
  operatorId: true,
  providerId: true,
  playerRef: true,
  gameId: true,
  spins: true,
  betAmountMinor: true,
  currency: true,
  externalRef: true,
  remainingSpins: true,
  completed: true,
  statusCheckedAt: true,
  failure: true,
  lastCancelError: true,
  batchId: true,
  createdAt: true,
  updatedAt: true,
};

export class GrantListResponse {
  @ApiProperty({ type: [GrantResponse] })
  items: GrantResponse[];

  @ApiPropertyOptional()
  nextCursor?: string;
}

export class GrantStatusResponse {
  @ApiProperty({ example: 'summer-2026-player-42' })
  requestRef: string;

  @ApiProperty({ example: 'spins-7' })
  externalRef: string;

  @ApiProperty({ type: 'integer', example: 9 })
  remainingSpins: number;

  @ApiProperty({ example: false })
  completed: boolean;
}

export class BatchCreatedResponse {
  @ApiProperty({ format: 'uuid' })
  batchId: string;
}

export class BatchResponse {
  @ApiProperty({ type: 'integer', example: 1000 })
  total: number;

  @ApiProperty({ type: 'integer', example: 997, description: 'Those CANCELLED since then among them' })
  granted: number;

  @ApiProperty({ type: 'integer', example: 1 })
  failed: number;

  @ApiProperty({ type: 'integer', example: 2 })
  pending: number;

  @ApiProperty({ type: [GrantResponse], description: 'In the order of the players' })
  items: GrantResponse[];
}

/**
 * The answer of a grant. Contract, section 6. It is written out, because class-transformer would block the process for 18 ms
 * with a batch of a thousand.
 */
export function grantResponse(grant: Grant): GrantResponse {
  const { externalRef, remainingSpins, completed, statusCheckedAt, failureStatus, failureError } = grant;
  const { lastCancelError, batchId } = grant;
  return {
    requestRef: grant.requestRef,
    state: grant.state,
    operatorId: grant.operatorId,
    providerId: grant.providerId,
    playerRef: grant.playerRef,
    gameId: grant.gameId,
    spins: grant.spins,
    betAmountMinor: grant.betAmountMinor,
    currency: grant.currency,
    ...(externalRef !== null && { externalRef }),
    ...(remainingSpins !== null && { remainingSpins }),
    ...(completed !== null && { completed }),
    ...(statusCheckedAt !== null && { statusCheckedAt: statusCheckedAt.toISOString() }),
    ...(failureError !== null && {
      failure: {
        ...(failureStatus !== null && { status: failureStatus }),
        error: failureError,
        outcomeUnknown: grant.outcomeUnknown,
      },
    }),
    ...(lastCancelError !== null && { lastCancelError }),
    ...(batchId !== null && { batchId }),
    createdAt: grant.createdAt.toISOString(),
    updatedAt: grant.updatedAt.toISOString(),
  };
}

export function detailedGrantResponse(
  grant: Grant,
  { count, totalMinor, flagged }: Winnings,
): DetailedGrantResponse {
  const winnings = {
    count,
    ...(totalMinor !== null && { totalMinor }),
    ...(flagged > 0 && { flagged }),
  };
  return { ...grantResponse(grant), winnings };
}

export function batchResponse(grants: readonly Grant[]): BatchResponse {
  const failed = grants.filter(({ state }) => state === 'FAILED').length;
  const pending = grants.filter(({ state }) => state === 'PENDING').length;
  const granted = grants.length - failed - pending;
  return { total: grants.length, granted, failed, pending, items: grants.map(grantResponse) };
}
