import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApprovalLimit } from '../../approvals/approval.request.js';
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
  { spins, currency }: { spins: number; currency: string },
  { amountMinor }: { amountMinor: number },
  { exceeded: limit, limitsSet }: LimitPreview,
  players = 1,
): PreviewResponse {
  const requires = limit ? 'approval' : 'nothing';
  return { players, spins, stakeMinor: amountMinor, currency, requires, ...(limit && { limit }), limitsSet };
}
