import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export class AdjustmentResponse {
  @ApiProperty({ example: 'adjustment-4711' })
  adjustmentId: string;
  @ApiProperty({ format: 'uuid' })
  platformTransactionId: string;
  @ApiProperty({ enum: ['APPROVED', 'DECLINED'] })
  status: 'APPROVED' | 'DECLINED';
  @ApiProperty({
    type: 'integer',
    example: 99750,
    description: 'Minor units, as the operator reported it when it decided',
  })
  balance: number;
  @ApiPropertyOptional({ description: 'Why it was DECLINED, such as `INSUFFICIENT_FUNDS`' })
  declineReason?: string;
  @ApiProperty({ example: 'sandbox-operator' })
  operatorId: string;
  @ApiProperty({ example: 'player-42' })
  playerRef: string;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ type: 'integer', example: 250 })
  amountMinor: number;
  @ApiProperty({ example: 'refund of a disputed round, ticket 4711' })
  reason: string;
}
