import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApprovalLimit } from '../../approvals/approval.response.js';
import type { GrantTerms } from '../../approvals/guarded-action.js';
import type { LimitPreview } from '../../limits/limits.service.js';

export class PreviewResponse {
  @ApiProperty({ type: 'integer', example: 2 })
  players: number;

  @ApiProperty({ type: 'integer', example: 10, description: 'of each player' })
  spins: number;

  @ApiProperty({
    type: 'integer',
    example: 400,
    description: 'spins × betAmountMinor × players, in minor units',
  })
  stakeMinor: number;

  @ApiProperty({ example: 'EUR' })
  currency: string;

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    description: 'The expiresAt of the request; absent if the spins do not expire',
  })
  expiresAt?: string;

  @ApiProperty({ enum: ['nothing', 'approval'], example: 'nothing' })
  requires: 'nothing' | 'approval';

  @ApiPropertyOptional({ type: ApprovalLimit, description: 'the limit because of which it needs approval' })
  limit?: ApprovalLimit;

  @ApiProperty({
    description: 'whether the currency has any limit on grants or adjustments, of the operator or by default',
    example: true,
  })
  limitsSet: boolean;
}

export function previewResponse(
  { spins, currency, expiresAt }: Pick<GrantTerms, 'spins' | 'currency' | 'expiresAt'>,
  { amountMinor }: { amountMinor: number },
  { exceeded: limit, limitsSet }: LimitPreview,
  players = 1,
): PreviewResponse {
  const requires = limit ? 'approval' : 'nothing';
  return {
    players,
    spins,
    stakeMinor: amountMinor,
    currency,
    ...(expiresAt !== undefined && { expiresAt }),
    requires,
    ...(limit && { limit }),
    limitsSet,
  };
}
