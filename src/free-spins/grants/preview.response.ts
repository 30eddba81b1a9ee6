import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApprovalLimit } from '../../approvals/approval.request.js';
import type { ExceededLimit } from '../../limits/rules/judgement.js';

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
}

/** The stake of a grant or batch, and the limit that it exceeds if it needs approval. */
export interface Preview {
  /** In minor units. */
  readonly stakeMinor: number;
  readonly limit: ExceededLimit | undefined;
}

export function previewResponse(
  { spins, currency }: { spins: number; currency: string },
  players: number,
  { stakeMinor, limit }: Preview,
): PreviewResponse {
  const requires = limit ? 'approval' : 'nothing';
  return { players, spins, stakeMinor, currency, requires, ...(limit && { limit }) };
}
