import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** Contract, section 3, "TransactionResponse". */
export class TransactionResponse {
  @ApiProperty({ example: 'bet-1001' })
  transactionId: string;
  @ApiProperty({ format: 'uuid' })
  platformTransactionId: string;
  @ApiProperty({ enum: ['APPROVED', 'DECLINED'] })
  status: 'APPROVED' | 'DECLINED';
  @ApiProperty({ type: 'integer', example: 99750, description: 'Minor units, as the operator named it then' })
  balance: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiPropertyOptional({
    enum: [
      'INSUFFICIENT_FUNDS',
      'PLAYER_BLOCKED',
      'LIMIT_REACHED',
      'TRANSACTION_ROLLED_BACK',
      'ROUND_ALREADY_SETTLED',
      'NOT_ROLLBACKABLE',
      'OTHER',
    ],
  })
  declineReason?: string;
}

export class BalanceResponse {
  @ApiProperty({ type: 'integer', example: 99750, description: 'Minor units' })
  balance: number;
}
