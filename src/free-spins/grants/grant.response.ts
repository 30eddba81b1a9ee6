import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { columnsOf, itemFrom, present } from '../../api/lists/item.js';
import { listOf } from '../../api/lists/list.js';
import { STATES } from '../free-spins.request.js';
import type { Grant, GrantState } from './grant.entity.js';
import { stakeMinorOf } from '../rules/stake.js';
import type { Winnings } from '../winnings/winnings.store.js';

export class GrantFailure {
  @ApiPropertyOptional({
    type: 'integer',
    example: 422,
    description: "The provider's HTTP status, if it answered",
  })
  status?: number;

  @ApiProperty({ example: 'the provider answered 422' })
  error: string;

  @ApiProperty({
    description:
      'Whether the provider may have granted the spins although the call, or an earlier one, failed; it stays true ' +
      'until the provider grants or refuses them',
  })
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

  @ApiPropertyOptional({
    type: 'integer',
    example: 200,
    description: 'spins × betAmountMinor; absent above 2^53−1, which an earlier version accepted',
  })
  stakeMinor?: number;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiPropertyOptional({
    example: 'spins-7',
    description: "The provider's id of the grant; a WIN names it as freeSpinsRef",
  })
  externalRef?: string;

  @ApiPropertyOptional({
    example: 'summer-2026-player-41',
    description:
      'The requestRef of the live grant of the player that already had the externalRef when the provider answered; ' +
      'winnings count in that grant',
  })
  duplicateOf?: string;

  @ApiPropertyOptional({
    type: 'integer',
    example: 9,
    description: 'As the provider reported at statusCheckedAt; 0 for a CANCELLED grant',
  })
  remainingSpins?: number;

  @ApiPropertyOptional({ description: 'As the provider reported at statusCheckedAt' })
  completed?: boolean;

  @ApiPropertyOptional({ type: 'string', format: 'date-time' })
  statusCheckedAt?: Date;

  @ApiPropertyOptional({ type: GrantFailure, description: 'For a FAILED grant' })
  failure?: GrantFailure;

  @ApiPropertyOptional({ description: 'Why the last cancel failed, such as `the provider answered 503`' })
  lastCancelError?: string;

  @ApiPropertyOptional({ format: 'uuid' })
  batchId?: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  createdAt: Date;

  @ApiProperty({ type: 'string', format: 'date-time' })
  updatedAt: Date;

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    description: 'When the platform cancels the remaining spins; absent if they do not expire',
  })
  expiresAt?: Date;

  @ApiPropertyOptional({
    type: Boolean,
    description: 'Present and true if the grant is CANCELLED because its expiresAt had passed',
  })
  expired?: true;
}

export class WinningsResponse {
  @ApiProperty({
    type: 'integer',
    example: 3,
    description: 'Booked WINs of real money that count in the grant',
  })
  count: number;

  @ApiPropertyOptional({
    type: 'integer',
    example: 450,
    description: "Minor units of the grant's currency; absent if the sum exceeds 2^53−1",
  })
  totalMinor?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description:
      'The number of flagged WINs that name it and no newer grant of the same externalRef; absent if there are none',
  })
  flagged?: number;
}

export class DetailedGrantResponse extends GrantResponse {
  @ApiProperty({ type: WinningsResponse })
  winnings: WinningsResponse;
}

/** The columns of an export; a failure is one column, as JSON. */
export const GRANT_COLUMNS = columnsOf(GrantResponse);

export class GrantListResponse extends listOf(GrantResponse) {}

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

/** The response of a grant. Contract, section 6. */
export function grantResponse(grant: Grant): GrantResponse {
  const { state, failureError: error, failureStatus: status, outcomeUnknown } = grant;
  return itemFrom(GRANT_COLUMNS, {
    ...grant,
    stakeMinor: stakeMinorOf(grant) ?? null,
    expired: state === 'CANCELLED' && grant.expiry === 'BEGUN' ? true : null,
    // A provider may still report spins of a grant that it has cancelled.
    remainingSpins: state === 'CANCELLED' ? 0 : grant.remainingSpins,
    failure: error === null ? null : present<GrantFailure>({ status, error, outcomeUnknown }),
  });
}

export function detailedGrantResponse(grant: Grant, winnings: Winnings): DetailedGrantResponse {
  const { count, totalMinor, flagged } = winnings;
  return {
    ...grantResponse(grant),
    winnings: present<WinningsResponse>({ count, totalMinor, flagged: flagged || null }),
  };
}
